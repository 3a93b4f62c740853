import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { sha256 } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { ExpiredRows } from '#src/runtime/index.js';
import { RequestProofEntity } from './request-proof.entity.js';
import { UsedProofEntity } from './used-proof.entity.js';

/** Whose proof it is, and what its maker calls it. */
export interface ProofKey {
  owner: string;
  jti: string;
}

/** A proof that is shown, and from when on it is refused for its age. */
interface ShownProof {
  id: string;
  expiresAt: Date;
}

/** Which signed proofs have been shown, on any instance: assertions of applications and DPoP proofs. */
@Injectable()
export class UsedProofsRepository implements OnApplicationBootstrap {
  private readonly show: (proof: ShownProof) => Promise<boolean>;

  constructor(
    private readonly database: Database,
    private readonly expiredRows: ExpiredRows,
  ) {
    this.show = database.batchedWrites((proofs: ShownProof[]) => this.showAll(proofs));
  }

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(UsedProofEntity);
    this.expiredRows.removeFrom(RequestProofEntity);
  }

  /**
   * As `use`, of a proof that comes with an access token, one with each request: those that come together are one statement,
   * and a crash of the database may forget them. Throws Problem 503 while it is away.
   */
  async useForRequest({ expiresAt, ...proof }: ProofKey & { expiresAt: Date }): Promise<boolean> {
    return this.show({ id: idOf(proof), expiresAt });
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

  private async showAll(proofs: readonly ShownProof[]): Promise<Map<ShownProof, boolean>> {
    // In one order, so that statements with the same proofs do not wait for each other in a circle.
    const sorted = proofs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const added = await this.database.write<{ id: string }>({
      name: 'auth-use-request-proofs',
      text: `insert into request_proof (id, expires_at)
        select * from unnest($1::text[], $2::timestamptz[]) on conflict do nothing returning id`,
      values: [sorted.map(({ id }) => id), sorted.map(({ expiresAt }) => expiresAt)],
    });
    const fresh = new Set(added.map(({ id }) => id));
    return new Map(proofs.map((proof) => [proof, fresh.delete(proof.id)]));
  }
}

function idOf({ owner, jti }: ProofKey): ReturnType<typeof sha256> {
  return sha256(JSON.stringify([owner, jti]));
}
