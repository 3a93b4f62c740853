import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CLOCK, type Clock } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { LOGGER, Scheduler, type Logger } from '#src/runtime/index.js';
import { IdTokenKeysRepository } from './id-token-keys.repository.js';
import { KeyRing, type KeyRingOptions } from './key-ring.js';

const OPTIONS: KeyRingOptions = { task: 'auth.id-token-keys', algorithm: () => 'RS256' };

/**
 * The RSA keys of ID tokens for applications that are registered with RS256, which every OpenID provider must offer
 * (OpenID Connect Core §15.1, Discovery §3). They never sign an access token. A start does not wait for them: an RSA key takes a
 * processor a good while.
 */
@Injectable()
export class IdTokenKeysService extends KeyRing implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
    repository: IdTokenKeysRepository,
    audit: Audit,
    scheduler: Scheduler,
    feed: ChangeFeed,
  ) {
    super(OPTIONS, config, clock, logger, repository, audit, scheduler, feed);
  }

  /** Begins to look after the keys. */
  onApplicationBootstrap(): void {
    this.keepUp(0);
  }
}
