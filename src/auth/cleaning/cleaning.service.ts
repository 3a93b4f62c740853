import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { LoginSessionsRepository, StoredTokensRepository } from '#src/id-provider/index.js';
import type { Clock } from '#src/kernel/index.js';
import { CLOCK, Database, Scheduler, whenAlone } from '#src/platform/index.js';
import { ConsentsRepository } from '../stores/consents.repository.js';
import { DeviceAuthorizationsRepository } from '../stores/device-authorizations.repository.js';
import { BrowserSessionsRepository } from '../sign-in/sessions/browser-sessions.repository.js';
import { RefreshTokensRepository } from '../stores/refresh-tokens.repository.js';
import { RevocationsRepository } from '../stores/revocations.repository.js';

const EVERY_MS = 300_000;

/** Removes what is dead from every table of sign-in that grows, on one instance at a time. */
@Injectable()
export class CleaningService implements OnApplicationBootstrap {
  @Inject() private readonly revocations!: RevocationsRepository;
  @Inject() private readonly consents!: ConsentsRepository;
  @Inject() private readonly refreshTokens!: RefreshTokensRepository;
  @Inject() private readonly devices!: DeviceAuthorizationsRepository;
  @Inject() private readonly sessions!: BrowserSessionsRepository;
  @Inject() private readonly logins!: LoginSessionsRepository;
  @Inject() private readonly storedTokens!: StoredTokensRepository;

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.add({
      name: 'auth.cleaning',
      everyMs: EVERY_MS,
      jitter: 0.5,
      run: async () => void (await this.clean()),
    });
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
}
