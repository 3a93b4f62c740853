import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import { Scheduler } from '#src/runtime/index.js';
import { INPUT_DATA_CATALOGUE, type InputDataCatalogue } from './executor.js';
import { LeftOutputsRepository } from './left-outputs.repository.js';

const EVERY_MS = 5_000;

/** Files of runs that have not come to their end, killed or lost between the bytes and the registration: their bytes are removed. */
@Injectable()
export class LeftOutputs implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'role'>,
    @Inject(INPUT_DATA_CATALOGUE) private readonly catalogue: InputDataCatalogue,
    private readonly repository: LeftOutputsRepository,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.scheduler.add({ name: 'jobs.outputs', everyMs: EVERY_MS, run: () => this.abandon() });
  }

  private async abandon(): Promise<void> {
    const { outputs } = this.catalogue;
    for (let runs = await outputs.openRuns(); runs.length > 0;) {
      const over = await this.repository.over(runs);
      if (over.length > 0) await outputs.abandon(over);
      runs = await outputs.openRuns(runs.at(-1));
    }
  }
}
