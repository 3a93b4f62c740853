import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ChangeFeed, Database } from '#src/database/index.js';
import { IdTokenKeysRepository } from './id-token-keys.repository.js';
import { KeyRing } from './key-ring.js';

/**
 * The RSA keys of ID tokens for applications that are registered with RS256, which every OpenID provider must offer
 * (OpenID Connect Core §15.1, Discovery §3). They never sign an access token. A start does not wait for them: an RSA key takes a
 * processor a good while.
 */
@Injectable()
export class IdTokenKeysService extends KeyRing implements OnApplicationBootstrap {
  constructor(repository: IdTokenKeysRepository, database: Database, feed: ChangeFeed) {
    super(repository, database, feed, { task: 'auth.id-token-keys', algorithm: () => 'RS256' });
  }

  /** Begins to look after the keys. */
  onApplicationBootstrap(): void {
    this.keepUp(0);
  }
}
