import { createPrivateKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { randomToken } from '#src/kernel/index.js';
import {
  appendToForm,
  isNamed,
  refuseGet,
  type AuthenticatingClient,
  type ClientAuthFunction,
  type ClientAuthMethod,
} from './client-auth.js';
import type { HookRequest } from './compliance-hooks.js';
import { ConfigurationError } from './oauth-error.js';

/** RFC 7523 §2.2. */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const MAX_LIFETIME_SECONDS = 60;

/** A private key: PEM text, JWK (object or JSON text), or a KeyObject. */
export type PrivateKeyInput = string | JsonWebKey | KeyObject;

/** Options of client_secret_jwt and private_key_jwt. */
export interface JwtAssertionOptions {
  /** `aud`; default the server's issuer from the metadata. */
  audience?: string;
  /** Signature algorithm; default HS256, or what fits the key. */
  alg?: string;
  /** Further claims; a `jti` given here is replaced, it must be fresh each time. */
  claims?: Record<string, unknown>;
  /** Further header members, for example `kid` or `typ: 'client-authentication+jwt'`. */
  headers?: Record<string, string>;
  /** Lifetime in seconds, at most 60. */
  lifetimeSeconds?: number;
}

const EC_ALGORITHMS: Record<string, string> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** Reads a private key in any of the usual forms; throws ConfigurationError without a word of the key. */
export function readPrivateKey(input: PrivateKeyInput): { key: KeyObject; kid?: string } {
  try {
    const jwk = typeof input === 'string' && input.trimStart().startsWith('{');
    const source: unknown = jwk ? JSON.parse(input) : input;
    if (typeof source === 'string') return { key: createPrivateKey(source) };
    if (typeof source === 'object' && source !== null && 'kty' in source) {
      const { kid } = source as { kid?: unknown };
      const key = createPrivateKey({ key: source as JsonWebKey, format: 'jwk' });
      return typeof kid === 'string' ? { key, kid } : { key };
    }
    const key = source as KeyObject;
    if (key.type !== 'private') throw new TypeError('not private');
    return { key };
  } catch {
    throw new ConfigurationError('the private key cannot be read (PEM, JWK or KeyObject expected)');
  }
}

/** The signature algorithm that fits a key. */
export function algorithmOf(key: KeyObject): string {
  const type = key.asymmetricKeyType;
  if (type === 'rsa') return 'RS256';
  if (type === 'rsa-pss') return 'PS256';
  if (type === 'ed25519') return 'EdDSA';
  const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
  const algorithm = EC_ALGORITHMS[curve];
  if (algorithm === undefined)
    throw new ConfigurationError(`no signature algorithm for ${type} keys`);
  return algorithm;
}

/** What signs an assertion: key, algorithm and header. */
interface AssertionSigner {
  key: KeyObject;
  alg: string;
  kid?: string | undefined;
}

abstract class JwtAssertion implements ClientAuthMethod {
  abstract readonly name: string;

  constructor(protected readonly options: JwtAssertionOptions = {}) {}

  protected abstract signerOf(client: AuthenticatingClient): AssertionSigner;

  /** Adds client_id, client_assertion_type and a fresh client_assertion to the form (RFC 7523 §2.2). */
  readonly prepare = async (
    ...[client, method, uri, headers, body]: Parameters<ClientAuthFunction>
  ): Promise<HookRequest> => {
    refuseGet(method);
    const clientId = client.client_id;
    if (clientId === null) throw new ConfigurationError('client_id is required');
    const assertion = await this.sign(client, clientId);
    const named = isNamed(body, clientId);
    const members = { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
    return [
      uri,
      headers,
      appendToForm(body, named ? members : { client_id: clientId, ...members }),
    ];
  };

  private async sign(client: AuthenticatingClient, clientId: string): Promise<string> {
    const { key, alg, kid } = this.signerOf(client);
    const audience = this.options.audience ?? client.metadata['issuer'];
    if (typeof audience !== 'string' || audience === '') {
      // an endpoint as audience lets one server replay the assertion at another (CVE-2025-27370)
      throw new ConfigurationError(
        `${this.name} needs the issuer of the server (issuer or audience)`,
      );
    }
    const now = Math.floor(client.clock.now() / 1000);
    const wanted = this.options.lifetimeSeconds ?? MAX_LIFETIME_SECONDS;
    const header = {
      alg,
      typ: 'JWT',
      ...(kid === undefined ? {} : { kid }),
      ...this.options.headers,
    };
    return new SignJWT({ ...this.options.claims, jti: randomToken(24) })
      .setProtectedHeader({ ...header, alg })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + Math.min(wanted, MAX_LIFETIME_SECONDS))
      .sign(key);
  }
}

/**
 * `client_secret_jwt` (OpenID Connect Core §9): an assertion signed with the client secret, HS256 by default.
 * The audience is the issuer alone, it lives at most 60 s and its `jti` is fresh each time.
 */
export class ClientSecretJWT extends JwtAssertion {
  readonly name = 'client_secret_jwt';

  /** Key and algorithm of the client's assertions; throws for a client that has none. */
  protected signerOf(client: AuthenticatingClient): AssertionSigner {
    const { client_secret: secret } = client;
    if (secret === null || secret === '') throw new ConfigurationError('client_secret is required');
    const alg = this.options.alg ?? 'HS256';
    if (!/^HS(?:256|384|512)$/.test(alg)) {
      throw new ConfigurationError('client_secret_jwt signs with HS256, HS384 or HS512');
    }
    return { key: createSecretKey(Buffer.from(secret, 'utf8')), alg };
  }
}

/** Options of private_key_jwt: the key, else the client secret holds it (PEM or JWK text). */
export interface PrivateKeyJwtOptions extends JwtAssertionOptions {
  key?: PrivateKeyInput;
}

/** `private_key_jwt` (RFC 7523 §2.2): an assertion signed with a private key, RS256 for RSA keys. */
export class PrivateKeyJWT extends JwtAssertion {
  readonly name = 'private_key_jwt';
  readonly #input: PrivateKeyInput | undefined;
  #signer: (AssertionSigner & { input: PrivateKeyInput }) | undefined;

  constructor(options: PrivateKeyJwtOptions = {}) {
    const { key, ...rest } = options;
    super(rest);
    this.#input = key;
  }

  /** Key and algorithm of the client's assertions; throws for a client that has none. */
  protected signerOf(client: AuthenticatingClient): AssertionSigner {
    const input = this.#input ?? client.client_secret;
    if (input === null || input === '') {
      throw new ConfigurationError('private_key_jwt needs a private key');
    }
    if (this.#signer?.input !== input) {
      const { key, kid } = readPrivateKey(input);
      this.#signer = { input, key, kid, alg: this.options.alg ?? algorithmOf(key) };
    }
    return this.#signer;
  }
}
