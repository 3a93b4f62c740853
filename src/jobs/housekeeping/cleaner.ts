import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Scheduler, type TaskOutcome } from '#src/runtime/index.js';
import { SandboxRepository } from '../sandbox/sandbox.repository.js';
import { SandboxSpool } from '../sandbox/sandbox-spool.js';
import { SANDBOX_STORE, type SandboxStore } from '../sandbox/sandbox.store.js';
import { SubmitRepository } from '../submit/submit.repository.js';

const KEY_LIFE_MS = 24 * 3600_000;
const EVERY_MS = 10 * 60_000;
const BATCH = 100;
/** After a round that failed. */
const RETRY_MS = 1_000;

/** Removes what is not needed any more: sandboxes without a job, old idempotency keys, remains in the spool. */
@Injectable()
export class Cleaner implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(SANDBOX_STORE) private readonly store: SandboxStore,
    private readonly scheduler: Scheduler,
    private readonly sandboxes: SandboxRepository,
    private readonly spool: SandboxSpool,
    private readonly submits: SubmitRepository,
  ) {}

  onApplicationBootstrap(): void {
    const times = { firstMs: 0, everyMs: EVERY_MS, retryMs: RETRY_MS };
    this.scheduler.add({
      ...{ name: 'jobs.spool', ...times },
      run: () => this.spool.clean(this.clock.now()),
    });
    if (this.config.role === 'api') return;
    this.scheduler.add({ name: 'jobs.cleaning', ...times, run: () => this.clean() });
  }

  private async clean(): Promise<TaskOutcome> {
    const now = this.clock.now();
    await this.submits.forgetKeys(new Date(now - KEY_LIFE_MS));
    const before = new Date(now - this.config.jobRetention * 1000);
    const removed = await this.sandboxes.removeUnused(before, BATCH, (hash) =>
      this.store.remove(hash),
    );
    return removed === BATCH ? 'more' : undefined;
  }
}
