import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { LoginSessionsRepository, StoredTokensRepository } from '#src/id-provider/index.js';
import { Problem, sleep, type Clock } from '#src/kernel/index.js';
import { CLOCK, Database, LOGGER, whenAlone, type Logger } from '#src/platform/index.js';
import { ConsentsRepository } from '../stores/consents.repository.js';
import { DeviceAuthorizationsRepository } from '../stores/device-authorizations.repository.js';
import { BrowserSessionsRepository } from '../sign-in/sessions/browser-sessions.repository.js';
import { RefreshTokensRepository } from '../stores/refresh-tokens.repository.js';
import { RevocationsRepository } from '../stores/revocations.repository.js';

const INTERVAL_MS = 300_000;

/** Removes what is dead from every table of sign-in that grows, on one instance at a time. */
@Injectable()
export class CleaningService implements OnApplicationBootstrap, OnModuleDestroy {
  @Inject() private readonly revocations!: RevocationsRepository;
  @Inject() private readonly consents!: ConsentsRepository;
  @Inject() private readonly refreshTokens!: RefreshTokensRepository;
  @Inject() private readonly devices!: DeviceAuthorizationsRepository;
  @Inject() private readonly sessions!: BrowserSessionsRepository;
  @Inject() private readonly logins!: LoginSessionsRepository;
  @Inject() private readonly storedTokens!: StoredTokensRepository;
  private readonly stopSignal = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loop = this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopSignal.abort(new Error('stopped'));
    await this.loop;
  }

  /** One round; undefined when another instance is at it. */
  async clean(): Promise<number | undefined> {
    const now = new Date(this.clock.now());
    return whenAlone(this.database, 'cleaning', async () => {
      const tables = [
        this.revocations,
        this.refreshTokens,
        this.devices,
        this.consents,
        this.sessions,
        this.logins,
        this.storedTokens,
      ];
      let removed = 0;
      for (const table of tables) removed += await table.clean(now);
      return removed;
    });
  }

  private async run(): Promise<void> {
    const { signal } = this.stopSignal;
    while (!signal.aborted) {
      const pause = INTERVAL_MS * (0.5 + Math.random());
      await sleep(pause, { signal, unref: true }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.clean();
      } catch (error) {
        if (!(error instanceof Problem)) this.logger.error({ err: error }, 'cleaning');
      }
    }
  }
}
