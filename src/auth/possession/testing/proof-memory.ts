import type { Clock } from '#src/kernel/index.js';
import type { UsedProofsRepository } from '../used-proofs.repository.js';

/** Used proofs, each until it has expired: what the table holds when it is cleaned all the time. */
export function proofMemory(clock: Clock): UsedProofsRepository {
  return { use: useIn(clock), useForRequest: useIn(clock) } as unknown as UsedProofsRepository;
}

function useIn(clock: Clock): UsedProofsRepository['use'] {
  const ends = new Map<string, number>();
  return ({ owner, jti, expiresAt }) => {
    const id = `${owner} ${jti}`;
    const isFirst = (ends.get(id) ?? -Infinity) < clock.now();
    if (isFirst) ends.set(id, expiresAt.getTime());
    return Promise.resolve(isFirst);
  };
}
