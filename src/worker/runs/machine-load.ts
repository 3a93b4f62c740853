import { availableParallelism, totalmem } from 'node:os';
import type { Site } from '#src/registry/index.js';
import { memoryOf, processorsOf, type RunOrder } from '#src/jobs/run/index.js';
import { processorsOfProcess, ProcessorPool } from './processors.js';

const MIB = 2 ** 20;

/** What a run takes of its machine, or what the machine has; memory in MB of 2^20 bytes. */
export interface Share {
  processors: number;
  ramMB: number;
}

/** What this machine has. */
export function thisMachine(): Share {
  return { processors: availableParallelism(), ramMB: Math.floor(totalmem() / MIB) };
}

/** A run as far as its place on the machine goes. */
interface PlacedRun {
  readonly order: Pick<RunOrder, 'manifest'>;
  share: Share | undefined;
  isOver?: boolean;
  processors: readonly number[];
}

/**
 * How much of this machine its runs take together. It has what it has, or what its sites declare when that is more, and
 * as many processors as jobs may run at once.
 */
export class MachineLoad {
  /** Runs that have their place. */
  running = 0;
  private readonly pool: ProcessorPool;
  private readonly taken: Share = { processors: 0, ramMB: 0 };
  private whole: Share;

  constructor(
    private readonly own: Share,
    private readonly slots: number,
    processors: readonly number[],
  ) {
    this.pool = new ProcessorPool(processors);
    this.whole = this.wholeOf([]);
  }

  /** What is free when all of these have their places; `sites` are all that it serves. */
  freeBeside(runs: Iterable<PlacedRun>, sites: readonly Site[]): Share {
    this.whole = this.wholeOf(sites);
    const free = this.free();
    for (const run of runs) {
      if (run.share || run.isOver === true) continue;
      const share = this.shareOf(run);
      free.processors -= share.processors;
      free.ramMB -= share.ramMB;
    }
    return free;
  }

  /** True when it can start beside the others; alone it always can. */
  hasPlaceFor(run: PlacedRun): boolean {
    if (this.running === 0) return true;
    const [free, share] = [this.free(), this.shareOf(run)];
    return (
      this.running < this.slots && share.processors <= free.processors && share.ramMB <= free.ramMB
    );
  }

  /** Gives a run its place. One of before, with its process `pid`, keeps the processors that it has. */
  enter(run: PlacedRun, pid?: number): void {
    run.share = this.shareOf(run);
    run.processors =
      pid === undefined
        ? this.pool.take(run.share.processors)
        : this.pool.takeThese(processorsOfProcess(pid));
    this.running += 1;
    this.taken.processors += run.share.processors;
    this.taken.ramMB += run.share.ramMB;
  }

  leave(run: PlacedRun): void {
    this.running -= 1;
    this.pool.release(run.processors);
    this.taken.processors -= run.share?.processors ?? 0;
    this.taken.ramMB -= run.share?.ramMB ?? 0;
  }

  /** What a job takes: never more memory than the machine has. */
  private shareOf({ order }: PlacedRun): Share {
    return {
      processors: processorsOf(order),
      ramMB: Math.min(memoryOf(order), this.whole.ramMB),
    };
  }

  private free(): Share {
    const { whole, taken } = this;
    return { processors: whole.processors - taken.processors, ramMB: whole.ramMB - taken.ramMB };
  }

  private wholeOf(sites: readonly Site[]): Share {
    const { own, slots } = this;
    return {
      processors: Math.max(own.processors, slots, ...sites.map((site) => site.processors ?? 0)),
      ramMB: Math.max(own.ramMB, ...sites.map((site) => site.ramMB ?? 0)),
    };
  }
}
