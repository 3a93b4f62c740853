import { Slices, type Violation } from '#src/kernel/index.js';
import type { ConditionWord, JobCondition } from '../manifest/job-conditions.js';
import type { Jid } from '../state/job.js';

/** A job of a request that waits: for one of the same request by its number, or for one that there is. */
export interface Link {
  index: number;
  on: ConditionWord;
  to: { index: number } | { jid: Jid };
}

/** A fault and the manifest of the request in which it is. */
export type PlacedViolation = Violation & { place: string };

interface Condition {
  index: number;
  place: string;
  condition: JobCondition;
}

/** Conditions of all jobs of a request. */
const MAX_LINKS = 100_000;

/** Which jobs of one request wait for which, as they are read. */
export class RequestLinks {
  private readonly labels = new Map<string, number>();
  private readonly conditions: Condition[] = [];
  private readonly faults: PlacedViolation[] = [];

  /** Notes job `index` of the request, counted from 0. */
  note(
    index: number,
    place: string,
    { label, after = [] }: { label?: string; after?: readonly JobCondition[] },
  ): void {
    if (label !== undefined) {
      if (this.labels.has(label)) {
        this.faults.push({ place, field: 'Label', problem: 'is the label of an earlier job too' });
      } else this.labels.set(label, index);
    }
    if (this.conditions.length + after.length > MAX_LINKS) {
      const problem = `makes more than ${MAX_LINKS} conditions in one request`;
      if (this.faults.length < 100) this.faults.push({ place, field: 'After', problem });
      return;
    }
    for (const condition of after) this.conditions.push({ index, place, condition });
  }

  /** True when no job of the request waits for another. */
  get isEmpty(): boolean {
    return this.conditions.length === 0;
  }

  /** The jobs outside of the request that are waited for. */
  get targets(): Jid[] {
    const all = this.conditions.flatMap(({ condition: { jid } }) => jid ?? []);
    return [...new Map(all.map((jid) => [String(jid), jid])).values()];
  }

  /** What is wrong: labels, jobs that are none of `visible` (ids as texts), circles. */
  async faultsWith(visible: ReadonlySet<string>): Promise<PlacedViolation[]> {
    const faults = [...this.faults];
    for (const { place, condition } of this.conditions) {
      const { jid, label, field } = condition;
      if (jid !== undefined) {
        if (visible.has(String(jid))) continue;
        faults.push({ place, field: `${field}.jid`, problem: `there is no job ${jid}` });
      } else if (!this.labels.has(label)) {
        const problem = 'is the label of no job of the request';
        faults.push({ place, field: `${field}.label`, problem });
      }
    }
    return faults.length > 0 ? faults : this.circles();
  }

  /** The links, when there are no faults. */
  links(): Link[] {
    return this.conditions.map(({ index, condition }) => ({
      index,
      on: condition.on,
      to:
        condition.jid === undefined
          ? { index: this.labels.get(condition.label) as number }
          : { jid: condition.jid },
    }));
  }

  /** Takes away, again and again, what waits for nothing of the rest; what is left waits for itself. */
  private async circles(): Promise<PlacedViolation[]> {
    const slices = new Slices();
    const waiters = new Map<number, number[]>();
    const open = new Map<number, number>();
    for (const { index, condition } of this.conditions) {
      if (condition.label === undefined) continue;
      const target = this.labels.get(condition.label) as number;
      const known = waiters.get(target);
      if (known) known.push(index);
      else waiters.set(target, [index]);
      open.set(index, (open.get(index) ?? 0) + 1);
    }
    const free = [...waiters.keys()].filter((index) => !open.has(index));
    for (let target = free.pop(); target !== undefined; target = free.pop()) {
      for (const index of waiters.get(target) ?? []) {
        const left = (open.get(index) ?? 0) - 1;
        open.set(index, left);
        if (left === 0) free.push(index);
      }
      if (slices.isOver) await slices.rest();
    }
    const isStuck = (index: number): boolean => (open.get(index) ?? 0) > 0;
    const stuck = this.conditions.find(
      ({ index, condition: { label } }) =>
        label !== undefined && isStuck(index) && isStuck(this.labels.get(label) as number),
    );
    if (!stuck) return [];
    const { place, condition } = stuck;
    const problem = 'is part of a circle of jobs that wait for each other, or waits for one';
    return [{ place, field: `${condition.field}.label`, problem }];
  }
}
