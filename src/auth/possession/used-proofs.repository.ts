import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { sha256 } from '#src/kernel/index.js';
import { Database, ExpiredRows } from '#src/platform/index.js';
import { UsedProofEntity } from './used-proof.entity.js';

/** Whose proof it is, and what its maker calls it. */
export interface ProofKey {
  owner: string;
  jti: string;
}

/** Which signed proofs have been shown, on any instance: assertions of applications, DPoP proofs below /oauth2. */
@Injectable()
export class UsedProofsRepository implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(UsedProofEntity);
  }

  /**
   * Uses a proof up; false when it has been shown before. Of parallel calls exactly one answers true. `expiresAt`: from
   * when on it is refused for its age.
   */
  async use(proof: ProofKey & { expiresAt: Date }): Promise<boolean> {
    const added = await this.database.query<{ id: string }>({
      name: 'auth-use-proof',
      text: `insert into used_proof (id, expires_at) values ($1, $2)
        on conflict do nothing returning id`,
      values: [idOf(proof), proof.expiresAt],
    });
    return added.length === 1;
  }

  /** Takes back that a proof was used. */
  async forget(proof: ProofKey): Promise<void> {
    await this.database.query({
      name: 'auth-forget-proof',
      text: 'delete from used_proof where id = $1',
      values: [idOf(proof)],
    });
  }
}

function idOf({ owner, jti }: ProofKey): ReturnType<typeof sha256> {
  return sha256(JSON.stringify([owner, jti]));
}
