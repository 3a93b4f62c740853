import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { STOP_CHANNEL, WORK_CHANNEL } from '../state/admission.js';
import { RunReports } from '../run/run-reports.js';
import { Admissions } from './admissions.js';
import { DispatchTasks } from './dispatch-tasks.js';
import { OpenExecutors } from './open-executors.js';
import { OutputReads } from './output-reads.js';

/**
 * Admits new jobs and gives waiting ones to the executors of this instance; woken by the change feed, by free
 * places, and by a slow poll when both were missed. Any number of instances run it on one database.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopListening: (() => void)[] = [];

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly admissions: Admissions,
    private readonly executors: OpenExecutors,
    private readonly tasks: DispatchTasks,
    private readonly feed: ChangeFeed,
    private readonly reports: RunReports,
    private readonly outputs: OutputReads,
  ) {}

  /** Starts the tasks, unless this instance is to run no jobs. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.config.role === 'api') return;
    await this.executors.open();
    this.admissions.start();
    this.executors.start();
    this.stopListening.push(
      this.feed.listen(WORK_CHANNEL, () => this.tasks.wake()),
      this.feed.listen(STOP_CHANNEL, (jid) => this.onStop(jid)),
      this.outputs.serve(this.executors.list),
    );
  }

  /** Stops claiming and hands back what was claimed but not started; running programs go on. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.stopListening.splice(0)) stop();
    this.executors.stop();
    await this.tasks.endAll();
    await this.executors.close();
    await this.reports.close();
  }

  private onStop(jid: string | undefined): void {
    if (jid === undefined) return; // missed ones are found by the next look at what is held
    for (const executor of this.executors.list) executor.cancel(jid);
  }
}
