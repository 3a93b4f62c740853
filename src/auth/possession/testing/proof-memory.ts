import type { Clock } from '#src/kernel/index.js';
import type { UsedProofsRepository } from '../used-proofs.repository.js';

/** Used proofs, each until it has expired: what the table holds when it is cleaned all the time. */
export function proofMemory(clock: Clock): UsedProofsRepository {
  const ends = new Map<string, number>();
  const use: UsedProofsRepository['use'] = ({ owner, jti, expiresAt }) => {
    const id = `${owner} ${jti}`;
    const isFirst = (ends.get(id) ?? -Infinity) < clock.now();
    if (isFirst) ends.set(id, expiresAt.getTime());
    return Promise.resolve(isFirst);
  };
  return { use } as unknown as UsedProofsRepository;
}
