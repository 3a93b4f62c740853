import { availableParallelism, totalmem } from 'node:os';
import { gpusOf, memoryOf, processorsOf, type RunOrder } from '#src/jobs/run/index.js';
import { findGpus, GpuPool, type Gpu } from './gpus.js';
import { processorsOfProcess, ProcessorPool } from './processors.js';

const MIB = 2 ** 20;

/** Processors, and memory in MB of 2^20 bytes. */
interface Size {
  processors: number;
  ramMB: number;
}

/** What a run takes of its machine, or what is free there. */
export interface Share extends Size {
  gpus: number;
}

/** What jobs may have of a machine. */
export interface Machine extends Size {
  gpus: readonly Gpu[];
}

/** What this machine has. */
export async function thisMachine(): Promise<Machine> {
  const gpus = await findGpus();
  return { processors: availableParallelism(), ramMB: Math.floor(totalmem() / MIB), gpus };
}

/** A run as far as its place on the machine goes. */
interface PlacedRun {
  readonly order: Pick<RunOrder, 'manifest' | 'declared'>;
  share: Share | undefined;
  isOver?: boolean;
  /** It was started by an earlier process, and what it has stands in its directory. */
  isAttached?: boolean;
  processors: readonly number[];
  gpus: readonly Gpu[];
}

/**
 * How much of this machine its runs take together. It has what it has, and as many processors as jobs may run at once; to runs of a site
 * that declares more it has that.
 */
export class MachineLoad {
  /** Runs that have their place. */
  running = 0;
  private readonly pool: ProcessorPool;
  private readonly gpus: GpuPool;
  private readonly taken: Size = { processors: 0, ramMB: 0 };
  private readonly whole: Size;

  /** `notedGpus` are those that stand in directories of runs. */
  constructor(
    { gpus, ...own }: Machine,
    private readonly slots: number,
    processors: readonly number[],
    notedGpus: () => Iterable<string>,
  ) {
    this.pool = new ProcessorPool(processors);
    this.gpus = new GpuPool(gpus, notedGpus);
    this.whole = { ...own, processors: Math.max(own.processors, slots) };
  }

  /** What is free when all of these have their places. */
  freeBeside(runs: Iterable<PlacedRun>): Share {
    const free = { ...this.freeOf(this.whole), gpus: this.gpus.free.length };
    for (const run of runs) {
      if (run.share || run.isOver === true) continue;
      const share = this.shareOf(run);
      free.processors -= share.processors;
      free.ramMB -= share.ramMB;
      free.gpus -= share.gpus;
    }
    return free;
  }

  /** True when it can start beside the others; alone it always can, but for GPUs that are not there. */
  hasPlaceFor(run: PlacedRun): boolean {
    const share = this.shareOf(run);
    if (share.gpus > 0 && share.gpus > this.gpus.free.length) return false;
    if (this.running === 0) return true;
    const free = this.freeOf(this.wholeFor(run));
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
    run.gpus = run.isAttached === true ? [] : this.gpus.take(run.share.gpus);
    this.running += 1;
    this.taken.processors += run.share.processors;
    this.taken.ramMB += run.share.ramMB;
  }

  leave(run: PlacedRun): void {
    this.running -= 1;
    this.pool.release(run.processors);
    this.gpus.release(run.gpus);
    this.taken.processors -= run.share?.processors ?? 0;
    this.taken.ramMB -= run.share?.ramMB ?? 0;
  }

  /** What a job takes: never more memory than the machine has. */
  private shareOf(run: PlacedRun): Share {
    return {
      processors: processorsOf(run.order),
      ramMB: Math.min(memoryOf(run.order), this.wholeFor(run).ramMB),
      gpus: gpusOf(run.order),
    };
  }

  private freeOf(whole: Size): Size {
    const { taken } = this;
    return { processors: whole.processors - taken.processors, ramMB: whole.ramMB - taken.ramMB };
  }

  /** What its site declares is believed. */
  private wholeFor({ order }: PlacedRun): Size {
    const { whole } = this;
    return {
      processors: Math.max(whole.processors, order.declared?.processors ?? 0),
      ramMB: Math.max(whole.ramMB, order.declared?.ramMB ?? 0),
    };
  }
}
