import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';

const made = new Map<string, KeyPairKeyObjectResult>();

/** One of the RSA keys that the tests of this process share: each takes long to make. */
export function rsaKey(modulusLength: 1024 | 2048 = 2048, which = 0): KeyPairKeyObjectResult {
  const name = `${modulusLength} ${which}`;
  const pair = made.get(name) ?? generateKeyPairSync('rsa', { modulusLength });
  made.set(name, pair);
  return pair;
}
