import { constants, createPublicKey, verify, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';

/** A JSON Web Key Set as it is published (RFC 7517 §5). */
export interface JsonWebKeySet {
  keys: JWK[];
  [member: string]: unknown;
}

/** The protected header of a signed token, as far as it chooses a key. */
export interface TokenHeader {
  alg: string;
  kid?: string | undefined;
}

const MAX_HEADERS = 64;
/** Keys of one key id that are tried for a token: more would let anybody spend our time. */
const MAX_TRIED = 4;

const KEY_TYPES: Record<string, { kty: string; crv?: string }> = {
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  RS512: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  PS512: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
};

/** The signature algorithms a provider may use unless it says otherwise: never `none`, never a shared secret. */
export const DEFAULT_ALGORITHMS: readonly string[] = Object.keys(KEY_TYPES);

/** A key that fits a header. */
export interface ChosenKey {
  alg: string;
  key: KeyObject;
}

const SHORTEST_RSA_BITS = 2048;

/**
 * Verifies a signature (RFC 7518 §3, RFC 8037 §3.1). In this thread on purpose: at 30 to 100 µs the work costs less than
 * handing it to another one.
 */
export function verifySignatureBy(chosen: ChosenKey, data: Buffer, signature: Buffer): boolean {
  const { alg, key } = chosen;
  if (alg === 'EdDSA') return verify(null, data, key, signature);
  const digest = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES'))
    return verify(digest, data, { key, dsaEncoding: 'ieee-p1363' }, signature);
  if (alg.startsWith('RS')) return verify(digest, data, key, signature);
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return verify(digest, data, { key, padding, saltLength: Number(alg.slice(2)) / 8 }, signature);
}

/** Whether an entry of a set is a key of a kind that is known here; others are skipped (RFC 7517 §5). */
function isUsable(entry: unknown): entry is JWK {
  const { kty } = (entry ?? {}) as { kty?: unknown };
  return kty === 'RSA' || kty === 'EC' || kty === 'OKP';
}

function fits(jwk: JWK, header: TokenHeader): boolean {
  const type = KEY_TYPES[header.alg];
  if (type === undefined || jwk.kty !== type.kty) return false;
  if (type.crv !== undefined && jwk.crv !== type.crv) return false;
  if (header.kid !== undefined && jwk.kid !== header.kid) return false;
  // some providers write null for a member that they do not set
  const { alg = null, use = null, key_ops: operations = null } = jwk as Record<string, unknown>;
  if (alg !== null && alg !== header.alg) return false;
  if (use !== null && use !== 'sig') return false;
  return operations === null || (Array.isArray(operations) && operations.includes('verify'));
}

/** Only the public members: a set that publishes private ones must not make us hold them. */
function publicPart(jwk: JWK): JWK {
  const { kty, n, e, crv, x, y } = jwk;
  const members = kty === 'RSA' ? { n, e } : kty === 'EC' ? { crv, x, y } : { crv, x };
  return { kty, ...members };
}

/**
 * The keys of a provider. A key is chosen by algorithm, key type, `kid`, `use` and `alg` together (RFC 8725 §3.1),
 * imported once, and remembered per token header. Entries that are no keys, or of a kind that is not known, are
 * skipped; the size of the document bounds their number.
 */
export class KeySet {
  readonly #keys: readonly JWK[];
  readonly #imported = new Map<JWK, KeyObject>();
  readonly #byHeader = new Map<string, readonly ChosenKey[]>();

  private constructor(readonly jwks: JsonWebKeySet) {
    this.#keys = (jwks.keys as unknown[]).filter(isUsable);
  }

  /** Makes a key set from a document; undefined when it has no list of keys. */
  static from(document: unknown): KeySet | undefined {
    const { keys } = (document ?? {}) as { keys?: unknown };
    return Array.isArray(keys) ? new KeySet(document as JsonWebKeySet) : undefined;
  }

  /** The keys remembered for an encoded header. */
  remembered(encodedHeader: string): readonly ChosenKey[] | undefined {
    return this.#byHeader.get(encodedHeader);
  }

  /**
   * The keys that fit a header: several only where they have the same `kid`; none when nothing fits or (without `kid`)
   * more than one does. Keys that cannot be imported or are too short are left out; throws when no other fits.
   */
  choose(encodedHeader: string, header: TokenHeader): readonly ChosenKey[] {
    const candidates = this.#keys.filter((jwk) => fits(jwk, header));
    if (candidates.length > 1 && header.kid === undefined) return [];
    const chosen: ChosenKey[] = [];
    let fault: unknown;
    for (const jwk of candidates.slice(0, MAX_TRIED)) {
      try {
        chosen.push({ alg: header.alg, key: this.#import(jwk) });
      } catch (cause) {
        fault = cause;
      }
    }
    if (chosen.length === 0) {
      if (fault === undefined) return [];
      throw new TypeError('no key that fits can be used', { cause: fault });
    }
    if (this.#byHeader.size >= MAX_HEADERS) this.#byHeader.clear();
    this.#byHeader.set(encodedHeader, chosen);
    return chosen;
  }

  #import(jwk: JWK): KeyObject {
    const known = this.#imported.get(jwk);
    if (known !== undefined) return known;
    const key = createPublicKey({ key: publicPart(jwk) as JsonWebKey, format: 'jwk' });
    const { modulusLength } = key.asymmetricKeyDetails ?? {};
    if (modulusLength !== undefined && modulusLength < SHORTEST_RSA_BITS) {
      throw new RangeError('the RSA key is too short');
    }
    this.#imported.set(jwk, key);
    return key;
  }
}
