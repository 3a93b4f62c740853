import type { KeyObject } from 'node:crypto';
import { errors } from 'jose';
import type { KeyRing } from './key-ring.js';

/** The key that the header of a token of ours names. Throws JWKSNoMatchingKey for another one or another algorithm. */
export async function verificationKey(
  keys: Pick<KeyRing, 'publicKey'>,
  { kid, alg }: { kid?: string; alg: string },
): Promise<KeyObject> {
  const key = kid === undefined ? undefined : await keys.publicKey(kid);
  if (!key || key.algorithm !== alg) throw new errors.JWKSNoMatchingKey();
  return key.publicKey;
}
