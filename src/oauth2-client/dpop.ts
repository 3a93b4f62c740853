import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { Response } from '#src/http-client/index.js';
import { randomToken, sha256, type Clock } from '#src/kernel/index.js';
import { algorithmOf, readPrivateKey, type PrivateKeyInput } from './jwt-assertion.js';

/** The `dpop` keyword: true for a fresh key of this session, or a private key. */
export type DpopChoice = true | PrivateKeyInput;

/** The request a proof is made for. */
export interface DpopRequest {
  method: string;
  url: string;
  /** Present on resource requests: its hash becomes `ath`. */
  accessToken?: string;
}

const MAX_NONCES = 100;

/** The server's origin and the URL without query and fragment (`htu`, RFC 9449 §4.2). */
function partsOf(url: string): { origin: string; htu: string } {
  const parsed = new URL(url);
  return { origin: parsed.origin, htu: `${parsed.origin}${parsed.pathname}` };
}

function signatureOf(alg: string, input: string, key: KeyObject): Buffer {
  const data = Buffer.from(input, 'ascii');
  if (alg === 'EdDSA') return sign(null, data, key);
  const digest = `sha${alg.slice(2)}`;
  return sign(digest, data, { key, dsaEncoding: 'ieee-p1363' });
}

/** The nonce in a proof; undefined when it has none, or is no proof. */
function nonceOf(proof: string | undefined): unknown {
  const claims = Buffer.from(proof?.split('.')[1] ?? '', 'base64url').toString();
  try {
    return (JSON.parse(claims) as { nonce?: unknown }).nonce;
  } catch {
    return undefined;
  }
}

/**
 * Makes proofs of possession (RFC 9449): one key per session, a proof per request, the nonces of the servers
 * remembered by origin.
 */
export class DpopProver {
  readonly #key: KeyObject;
  readonly #alg: string;
  readonly #jwk: JWK;
  readonly #clock: Clock;
  readonly #nonces = new Map<string, string>();

  constructor(choice: DpopChoice, clock: Clock) {
    this.#key =
      choice === true
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
        : readPrivateKey(choice).key;
    this.#alg = algorithmOf(this.#key);
    this.#jwk = createPublicKey(this.#key).export({ format: 'jwk' });
    this.#clock = clock;
  }

  /** A proof for one request: fresh `jti`, method, URL without query, `ath` and `nonce` when there are any. */
  proof(request: DpopRequest): string {
    const { origin, htu } = partsOf(request.url);
    const nonce = this.#nonces.get(origin);
    const header = { typ: 'dpop+jwt', alg: this.#alg, jwk: this.#jwk };
    const claims = {
      jti: randomToken(18),
      htm: request.method.toUpperCase(),
      htu,
      iat: Math.floor(this.#clock.now() / 1000),
      ...(request.accessToken === undefined ? {} : { ath: sha256(request.accessToken) }),
      ...(nonce === undefined ? {} : { nonce }),
    };
    const encode = (part: object): string =>
      Buffer.from(JSON.stringify(part)).toString('base64url');
    const input = `${encode(header)}.${encode(claims)}`;
    return `${input}.${signatureOf(this.#alg, input, this.#key).toString('base64url')}`;
  }

  /**
   * Remembers the nonce that a response brings; true when the request was made with another one or none, so that making
   * it again may help. What is remembered does not decide that: a parallel request may have learnt the nonce before.
   */
  learnNonce(response: Response): boolean {
    const nonce = response.headers.get('DPoP-Nonce');
    if (nonce === undefined || nonce === '') return false;
    const { origin } = partsOf(response.url);
    this.#nonces.delete(origin);
    const oldest = this.#nonces.keys().next().value;
    if (this.#nonces.size >= MAX_NONCES && oldest !== undefined) this.#nonces.delete(oldest);
    this.#nonces.set(origin, nonce);
    return nonceOf(response.request.headers.get('DPoP')) !== nonce;
  }

  /** The thumbprint of the key (RFC 7638), what `cnf.jkt` of a bound token holds. */
  thumbprint(): Promise<string> {
    return calculateJwkThumbprint(this.#jwk, 'sha256');
  }
}
