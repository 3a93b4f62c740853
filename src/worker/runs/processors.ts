import { availableParallelism } from 'node:os';
import { statusOf } from '../watch/process-table.js';

/** Numbers of a list as the kernel writes it: `0-3,8`. */
export function parseProcessorList(text: string): number[] {
  return text
    .trim()
    .split(',')
    .flatMap((part) => {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (!match) return [];
      const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])];
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}

/** The processors that this service may use, by their numbers. */
export function ownProcessors(): number[] {
  const own = processorsOfProcess('self');
  if (own.length > 0) return own;
  return Array.from({ length: availableParallelism() }, (_, index) => index);
}

/** The processors that a process may use; none when it is gone, or on a system without /proc. */
export function processorsOfProcess(pid: number | 'self'): number[] {
  return parseProcessorList(/^Cpus_allowed_list:\t(.*)$/m.exec(statusOf(pid))?.[1] ?? '');
}

/** Hands processors to runs: to each as many as it asks for, always those that the fewest others have. */
export class ProcessorPool {
  private readonly users: Map<number, number>;

  constructor(processors: readonly number[]) {
    this.users = new Map(processors.map((processor) => [processor, 0]));
  }

  /** Takes some; all of the machine when it has no more than that. */
  take(count: number): number[] {
    const taken = [...this.users]
      .sort(([a, usersOfA], [b, usersOfB]) => usersOfA - usersOfB || a - b)
      .slice(0, count)
      .map(([processor]) => processor);
    return this.takeThese(taken.sort((a, b) => a - b));
  }

  /** Takes certain ones, which a run of before has; those that it may use. */
  takeThese(processors: readonly number[]): number[] {
    const taken = processors.filter((processor) => this.users.has(processor));
    for (const processor of taken) this.users.set(processor, (this.users.get(processor) ?? 0) + 1);
    return taken;
  }

  release(processors: readonly number[]): void {
    for (const processor of processors) {
      this.users.set(processor, Math.max(0, (this.users.get(processor) ?? 0) - 1));
    }
  }
}
