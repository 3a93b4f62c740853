import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  type KeyPairKeyObjectResult,
} from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';
import type { KeyVault } from '#src/config/index.js';
import type { SigningAlgorithm, StoredKey } from './stored-key.js';

const generate = promisify(generateKeyPair);
const RSA_BITS = 2048;

/** A signing key ready for use in this process. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly publicJwk: JWK;
  readonly createdAt: Date;
  /** Undefined: published, but not yet in use. */
  readonly activeFrom: Date | undefined;
  readonly longestTtlSeconds: number;
}

/** What a new key is made from. */
export interface NewKey {
  algorithm: SigningAlgorithm;
  now: Date;
  activeFrom: Date | null;
  ttlSeconds: number;
}

/** Makes a key; its id is the RFC 7638 thumbprint of its public part. */
export async function makeSigningKey(input: NewKey, vault: KeyVault): Promise<StoredKey> {
  const { privateKey, publicKey } = await keyPair(input.algorithm);
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return {
    kid,
    algorithm: input.algorithm,
    publicJwk: { ...jwk, kid, alg: input.algorithm, use: 'sig' },
    privateKey: vault.seal(kid, privateKey.export({ type: 'pkcs8', format: 'der' })),
    createdAt: input.now,
    activeFrom: input.activeFrom,
    longestTtlSeconds: input.ttlSeconds,
  };
}

/** Opens a stored key. Throws KeyVaultError when it cannot be decrypted. */
export function openSigningKey(stored: StoredKey, vault: KeyVault): SigningKey {
  const der = vault.open(stored.kid, stored.privateKey);
  const privateKey = createPrivateKey({ key: der, type: 'pkcs8', format: 'der' });
  return {
    kid: stored.kid,
    algorithm: stored.algorithm,
    privateKey,
    publicKey: createPublicKey(privateKey),
    publicJwk: stored.publicJwk,
    createdAt: stored.createdAt,
    activeFrom: stored.activeFrom ?? undefined,
    longestTtlSeconds: stored.longestTtlSeconds,
  };
}

async function keyPair(algorithm: SigningAlgorithm): Promise<KeyPairKeyObjectResult> {
  if (algorithm === 'ES256') return generate('ec', { namedCurve: 'P-256' });
  if (algorithm === 'RS256') return generate('rsa', { modulusLength: RSA_BITS });
  return generate('ed25519', {});
}
