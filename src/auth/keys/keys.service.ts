import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { ChangeFeed, Database } from '#src/database/index.js';
import { Readiness } from '#src/runtime/index.js';
import { KeyRing } from './key-ring.js';
import { SigningKeysRepository } from './signing-keys.repository.js';

/** The keys of access tokens, and of ID tokens where an application has not chosen RS256. */
@Injectable()
export class KeysService extends KeyRing implements OnModuleInit {
  constructor(
    repository: SigningKeysRepository,
    database: Database,
    feed: ChangeFeed,
    readiness: Readiness,
  ) {
    super(repository, database, feed, {
      task: 'auth.signing-keys',
      algorithm: ({ signingAlgorithm }) => signingAlgorithm,
    });
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
