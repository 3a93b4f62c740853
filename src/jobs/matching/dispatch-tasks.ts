import { Injectable } from '@nestjs/common';
import { Scheduler, type RunningTask, type TaskOutcome } from '#src/runtime/index.js';

const POLL_MS = 2_000;
/** After a round that failed. */
const RETRY_MS = 1_000;

/** The repeated work of dispatching on this instance. */
@Injectable()
export class DispatchTasks {
  private readonly tasks = new Set<RunningTask>();
  /** Of these: what looks for work, and is woken when there may be some. */
  private readonly seekers = new Set<RunningTask>();

  constructor(private readonly scheduler: Scheduler) {}

  repeat(name: string, run: () => Promise<TaskOutcome | void>, everyMs = POLL_MS): RunningTask {
    const task = { name: `jobs.${name}`, firstMs: 0, everyMs, retryMs: RETRY_MS, run };
    const running = this.scheduler.add(task);
    this.tasks.add(running);
    return running;
  }

  /** Repeats what is woken when there may be work; it answers whether there is more. */
  seek(name: string, work: () => Promise<boolean>): RunningTask {
    const seeker = this.repeat(name, async () => ((await work()) ? 'more' : undefined));
    this.seekers.add(seeker);
    return seeker;
  }

  /** There may be work. */
  wake(): void {
    for (const seeker of this.seekers) seeker.wake();
  }

  async end(task: RunningTask): Promise<void> {
    this.tasks.delete(task);
    this.seekers.delete(task);
    await task.stop();
  }

  /** Nothing is woken any more; resolves when all have ended. */
  async endAll(): Promise<void> {
    this.seekers.clear();
    await Promise.all([...this.tasks].map((task) => this.end(task)));
  }
}
