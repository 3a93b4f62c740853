import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { sleep } from '#src/kernel/index.js';
import { LOGGER, type Logger } from '#src/platform/index.js';
import { JWKS_REFRESH_RATE, METADATA_REFRESH_RATE } from '../constants.js';
import { IdProvidersService, type NamedIdProvider } from './id-providers.service.js';

const FIRST_PAUSE_SECONDS = 2;
const RETRY_SECONDS = 60;

/**
 * Keeps metadata and keys of every provider fresh. The copies live in each instance, so each instance looks after its
 * own; jitter spreads the instances, and every provider has a loop of its own, so that one that is away delays
 * nobody (decision 0035).
 */
@Injectable()
export class RefreshSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopSignal = new AbortController();
  private loops: Promise<void>[] = [];

  constructor(
    private readonly providers: IdProvidersService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loops = this.providers.all().map((named) => this.keepFresh(named));
  }

  async onModuleDestroy(): Promise<void> {
    this.stopSignal.abort(new Error('stopped'));
    await Promise.all(this.loops);
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

  private async keepFresh(named: NamedIdProvider): Promise<void> {
    const { signal } = this.stopSignal;
    const rate = Math.min(METADATA_REFRESH_RATE, JWKS_REFRESH_RATE) * 0.8;
    const stopped = aborted(signal);
    let pause = FIRST_PAUSE_SECONDS;
    while (!signal.aborted) {
      const jittered = pause * (0.75 + Math.random() / 2) * 1000;
      await sleep(jittered, { signal, unref: true }).catch(() => undefined);
      if (signal.aborted) return;
      const isFresh = await Promise.race([this.refresh(named), stopped]);
      pause = isFresh ? rate : RETRY_SECONDS;
    }
  }
}

function aborted(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
}
