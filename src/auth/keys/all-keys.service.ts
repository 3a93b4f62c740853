import { Injectable } from '@nestjs/common';
import type { AuditOrigin } from '#src/audit/index.js';
import { IdTokenKeysService } from './id-token-keys.service.js';
import type { KeyReport } from './key-ring.js';
import { KeysService } from './keys.service.js';

/** A signing key, and which tokens it signs. */
export interface NamedKeyReport extends KeyReport {
  tokens: 'access' | 'id';
}

/** The keys of both rings, as administrators look after them: those of access tokens, and the RSA keys of ID tokens. */
@Injectable()
export class AllKeysService {
  constructor(
    private readonly access: KeysService,
    private readonly id: IdTokenKeysService,
  ) {}

  /** All keys, those of each ring oldest first. */
  async report(): Promise<NamedKeyReport[]> {
    return named(await this.access.report(), await this.id.report());
  }

  /** Lets the next keys of both take over, which are published already, or with `now` new ones in place of all; answers all keys. */
  async rotate(now: boolean, origin?: AuditOrigin): Promise<NamedKeyReport[]> {
    return named(await this.access.rotate(now, origin), await this.id.rotate(now, origin));
  }
}

function named(access: readonly KeyReport[], id: readonly KeyReport[]): NamedKeyReport[] {
  return [
    ...access.map((key) => ({ ...key, tokens: 'access' as const })),
    ...id.map((key) => ({ ...key, tokens: 'id' as const })),
  ];
}
