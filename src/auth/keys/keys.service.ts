import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { ChangeFeed, Database, Readiness } from '#src/platform/index.js';
import { KeyRing } from './key-ring.js';
import { SigningKeysRepository } from './signing-keys.repository.js';

/** The keys of access tokens, and of ID tokens where an application has not chosen RS256. */
@Injectable()
export class KeysService extends KeyRing implements OnApplicationBootstrap {
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
    readiness.add('signingKey', async () =>
      (await this.isReady()) ? undefined : 'there is no signing key',
    );
  }

  /** Makes the first keys and begins to look after them. */
  async onApplicationBootstrap(): Promise<void> {
    await this.maintain().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error; // the task waits for a database that is away
    });
    this.keepUp();
  }
}
