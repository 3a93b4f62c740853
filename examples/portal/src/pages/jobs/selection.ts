import { stringifyJson, type JobResponse } from 'gridgate/client';
import type { JobsView } from './view.js';

/** Jobs that somebody has chosen among those of a view. */
export class Selection {
  private readonly chosen = new Map<number, JobResponse>();
  /** More of them are on their way: nothing is done with the others alone. */
  isAwaited = false;
  private onChange: () => void = () => undefined;

  get jobs(): JobResponse[] {
    return [...this.chosen.values()];
  }

  get size(): number {
    return this.chosen.size;
  }

  /** The page that shows it; there is one at a time. */
  shownBy(onChange: () => void): void {
    this.onChange = onChange;
  }

  has(jid: number): boolean {
    return this.chosen.has(jid);
  }

  choose(jobs: readonly JobResponse[], isChosen: boolean): void {
    for (const job of jobs) {
      if (isChosen) this.chosen.set(job.jid, job);
      else this.chosen.delete(job.jid);
    }
    this.onChange();
  }

  /** Chooses what comes. */
  async await(load: () => Promise<readonly JobResponse[]>): Promise<void> {
    this.isAwaited = true;
    this.onChange();
    try {
      this.choose(await load(), true);
    } finally {
      this.isAwaited = false;
      this.onChange();
    }
  }

  /** Takes over what is known anew of chosen jobs. */
  renew(jobs: readonly JobResponse[]): void {
    const known = jobs.filter(({ jid }) => this.chosen.has(jid));
    for (const job of known) this.chosen.set(job.jid, job);
    if (known.length > 0) this.onChange();
  }

  clear(): void {
    this.chosen.clear();
    this.onChange();
  }
}

let kept: { user: string; view: string; selection: Selection } | undefined;

/** What this user has chosen in this view, which is another one with every filter: what is chosen is not wider than what is looked at. */
export function selectionOf(user: string, view: JobsView): Selection {
  const wanted = stringifyJson(view.query());
  if (kept?.user !== user || kept.view !== wanted)
    kept = { user, view: wanted, selection: new Selection() };
  return kept.selection;
}
