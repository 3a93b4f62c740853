import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CLOCK, Problem, type Clock } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { LOGGER, Readiness, Scheduler, type Logger } from '#src/runtime/index.js';
import { KeyRing, type KeyRingOptions } from './key-ring.js';
import { SigningKeysRepository } from './signing-keys.repository.js';

const OPTIONS: KeyRingOptions = {
  task: 'auth.signing-keys',
  algorithm: ({ signingAlgorithm }) => signingAlgorithm,
};

/** The keys of access tokens, and of ID tokens where an application has not chosen RS256. */
@Injectable()
export class KeysService extends KeyRing implements OnModuleInit {
  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
    repository: SigningKeysRepository,
    audit: Audit,
    scheduler: Scheduler,
    feed: ChangeFeed,
    readiness: Readiness,
  ) {
    super(OPTIONS, config, clock, logger, repository, audit, scheduler, feed);
    readiness.add('signingKey', () => this.whyNotReady());
  }

  /**
   * Makes the first keys and begins to look after them: before any other work begins, so that a start with another encryption
   * key ends with that sentence alone.
   */
  async onModuleInit(): Promise<void> {
    await this.maintain().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error; // the task waits for a database that is away
    });
    this.keepUp();
  }
}
