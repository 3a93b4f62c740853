import { createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '#src/kernel/index.js';

const MAX_KEYS = 20;
const MIN_RSA_BITS = 2048;
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const CURVES = ['P-256', 'P-384', 'P-521', 'Ed25519'];

/** The members of a key set (RFC 7517 §5) that are objects. */
export function keysOf(jwks: Readonly<JsonObject> | undefined): JsonObject[] {
  const keys = jwks?.['keys'];
  return Array.isArray(keys) ? keys.filter((key) => isJsonObject(key)) : [];
}

/** The certificate of a key (first of `x5c`, RFC 7517 §4.7), undefined without one or when it cannot be read. */
export function certificateOf(key: JsonObject): X509Certificate | undefined {
  const [first] = Array.isArray(key['x5c']) ? key['x5c'] : [];
  if (typeof first !== 'string') return undefined;
  try {
    return new X509Certificate(Buffer.from(first, 'base64'));
  } catch {
    return undefined;
  }
}

/** The keys of an application that its signatures are verified with. What is not understood is left out (RFC 7517 §5). */
export function signatureKeysOf(jwks: Readonly<JsonObject> | undefined): JsonObject[] {
  return keysOf(jwks).filter((key) => keyFault(key, 'signatures') === undefined);
}

/**
 * What is wrong with the key set of an application, undefined when nothing is: it needs a public signature key (RSA of
 * 2048 bits and more, EC of P-256, P-384, P-521, Ed25519), for `self_signed_tls_client_auth` one with its certificate. Other keys
 * beside it are left out (RFC 7517 §5), but none may hold a secret.
 */
export function keySetFault(
  jwks: Readonly<JsonObject>,
  use: 'signatures' | 'certificates',
): string | undefined {
  const keys: JsonValue = jwks['keys'] ?? null;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS) {
    return `needs a list keys of 1 to ${MAX_KEYS} keys`;
  }
  const secret = firstFault(keys, (key) => (isJsonObject(key) ? secretFault(key) : undefined));
  if (secret !== undefined) return secret;
  const faultOf = (key: JsonValue) => (isJsonObject(key) ? keyFault(key, use) : 'is no map');
  return keys.some((key) => faultOf(key) === undefined) ? undefined : firstFault(keys, faultOf);
}

function firstFault(
  keys: JsonValue[],
  faultOf: (key: JsonValue) => string | undefined,
): string | undefined {
  for (const [place, key] of keys.entries()) {
    const fault = faultOf(key);
    if (fault !== undefined) return `keys[${place}] ${fault}`;
  }
  return undefined;
}

function secretFault(key: JsonObject): string | undefined {
  const secret = SECRET_MEMBERS.find((member) => key[member] !== undefined);
  return secret && `holds ${secret}: only public keys belong here`;
}

function keyFault(key: JsonObject, use: 'signatures' | 'certificates'): string | undefined {
  if (use === 'certificates') {
    return certificateOf(key) ? undefined : 'has no certificate (x5c)';
  }
  const opened = openKey(key);
  if (!opened) return 'is no key that can be read';
  if (key['use'] !== undefined && key['use'] !== 'sig') return 'is not for signatures (use)';
  const { modulusLength } = opened.asymmetricKeyDetails ?? {};
  if (key['kty'] === 'RSA') {
    return (modulusLength ?? 0) < MIN_RSA_BITS ? `has less than ${MIN_RSA_BITS} bits` : undefined;
  }
  return CURVES.some((curve) => curve === key['crv'])
    ? undefined
    : `is of none of ${CURVES.join(', ')}`;
}

function openKey(key: JsonObject): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}
