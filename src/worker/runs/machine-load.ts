import { availableParallelism, totalmem } from 'node:os';
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
  readonly order: Pick<RunOrder, 'manifest' | 'declared'>;
  share: Share | undefined;
  isOver?: boolean;
  processors: readonly number[];
}

/**
 * How much of this machine its runs take together. It has what it has, and as many processors as jobs may run at once; to runs of a site
 * that declares more it has that.
 */
export class MachineLoad {
  /** Runs that have their place. */
  running = 0;
  private readonly pool: ProcessorPool;
  private readonly taken: Share = { processors: 0, ramMB: 0 };
  private readonly whole: Share;

  constructor(
    own: Share,
    private readonly slots: number,
    processors: readonly number[],
  ) {
    this.pool = new ProcessorPool(processors);
    this.whole = { ...own, processors: Math.max(own.processors, slots) };
  }

  /** What is free when all of these have their places. */
  freeBeside(runs: Iterable<PlacedRun>): Share {
    const free = this.freeOf(this.whole);
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
    const [free, share] = [this.freeOf(this.wholeFor(run)), this.shareOf(run)];
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
  private shareOf(run: PlacedRun): Share {
    return {
      processors: processorsOf(run.order),
      ramMB: Math.min(memoryOf(run.order), this.wholeFor(run).ramMB),
    };
  }

  private freeOf(whole: Share): Share {
    const { taken } = this;
    return { processors: whole.processors - taken.processors, ramMB: whole.ramMB - taken.ramMB };
  }

  /** What its site declares is believed. */
  private wholeFor({ order }: PlacedRun): Share {
    const { whole } = this;
    return {
      processors: Math.max(whole.processors, order.declared?.processors ?? 0),
      ramMB: Math.max(whole.ramMB, order.declared?.ramMB ?? 0),
    };
  }
}
