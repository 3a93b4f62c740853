import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { LOGGER, Scheduler, type Logger, type RunningTask } from '#src/runtime/index.js';
import { JWKS_REFRESH_RATE, METADATA_REFRESH_RATE } from '../verify/constants.js';
import { IdProvidersService, type NamedIdProvider } from './id-providers.service.js';

const FIRST_PAUSE_MS = 2_000;
const RETRY_MS = 60_000;
const EVERY_MS = Math.min(METADATA_REFRESH_RATE, JWKS_REFRESH_RATE) * 800;

/**
 * Keeps metadata and keys of every provider fresh. The copies live in each instance, so each instance looks after its
 * own; jitter spreads the instances, and every provider has a task of its own, so that one that is away delays
 * nobody.
 */
@Injectable()
export class RefreshSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private tasks: RunningTask[] = [];

  constructor(
    private readonly providers: IdProvidersService,
    private readonly scheduler: Scheduler,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.tasks = this.providers.all().map((named) =>
      this.scheduler.add({
        name: `id-provider.refresh ${named.name}`,
        firstMs: FIRST_PAUSE_MS,
        everyMs: EVERY_MS,
        retryMs: RETRY_MS,
        jitter: 0.25,
        run: async ({ signal }) => {
          const isFresh = await Promise.race([this.refresh(named), aborted(signal)]);
          return isFresh ? undefined : 'retry';
        },
      }),
    );
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.tasks.map((task) => task.stop()));
    await Promise.all(this.providers.all().map(({ provider }) => provider.close()));
  }

  /** Fetches metadata and keys of one provider; false, with a line in the log, when it is away. */
  async refresh({ name, provider }: NamedIdProvider): Promise<boolean> {
    for (const step of [() => provider.fetch_metadata(), () => provider.fetchJWKs()]) {
      const result = await step();
      if (!result.OK) {
        this.logger.warn({ provider: name, reason: result.Message }, 'identity provider is away');
        return false;
      }
    }
    return true;
  }
}

function aborted(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
}
