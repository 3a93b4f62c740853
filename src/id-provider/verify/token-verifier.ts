import { X509Certificate } from 'node:crypto';
import { constantTimeEqual, type Clock } from '#src/kernel/index.js';
import { ConfigurationError, InvalidTokenError } from '#src/oauth2-client/index.js';
import { verifySignatureBy, type ChosenKey, type KeySet, type TokenHeader } from './key-set.js';

/** The claims of a token. */
export interface TokenClaims {
  [claim: string]: unknown;
  iss?: string | undefined;
  sub?: string | undefined;
  aud?: string | string[] | undefined;
  exp?: number | undefined;
  iat?: number | undefined;
  nbf?: number | undefined;
  scope?: string | undefined;
  client_id?: string | undefined;
}

/** To which key or certificate a token must be bound (`cnf`, RFC 8705 §3.1 and RFC 9449 §6). */
export interface TokenBinding {
  /** Client certificate (PEM or DER) or its `x5t#S256` thumbprint. */
  certificate?: string | Uint8Array | undefined;
  /** Thumbprint of the DPoP key. */
  jkt?: string | undefined;
}

/** What says that a provider has changed its keys: a key that is not there, or a key that did not sign. */
export type RotationSign = 'unknown key' | 'wrong signature';

/** Where keys come from: the set at hand, and one that is newer than the set tried (null = no newer one). */
export interface KeySource {
  current(): Promise<KeySet | null> | KeySet | null;
  newer(tried: KeySet | null, sign: RotationSign): Promise<KeySet | null> | KeySet | null;
}

/** What a token is held against. */
export interface VerifyRules {
  /** Kind of token: headers are remembered per kind, as the accepted types differ. */
  kind: 'access' | 'id' | 'userinfo';
  issuer: string;
  algorithms: ReadonlySet<string>;
  /** Any of them must be in `aud`; empty = not checked. */
  audiences: readonly string[];
  /** Seconds by which clocks may differ, 0 to 120. */
  tolerance: number;
  clock: Clock;
  /** Accepted `typ` values in lower case; undefined when `typ` may be absent is among them. */
  types: ReadonlySet<string | undefined>;
}

/** Longer tokens are refused unread. */
const MAX_TOKEN_LENGTH = 16 * 1024;
/** The audience that every service of the WLCG accepts. */
const ANY_AUDIENCE = 'https://wlcg.cern.ch/jwt/v1/any';

/** `typ` of access tokens: RFC 9068, the plain one, or none. */
export const ACCESS_TOKEN_TYPES: ReadonlySet<string | undefined> = new Set([
  undefined,
  'at+jwt',
  'application/at+jwt',
  'jwt',
]);
/** `typ` of ID tokens. */
export const ID_TOKEN_TYPES: ReadonlySet<string | undefined> = new Set([undefined, 'jwt']);

function refuse(error: string, description: string, cause?: unknown): InvalidTokenError {
  return new InvalidTokenError(description, { error, cause });
}

function decodePart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;
const SIGNED = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Whether a text looks like a signed token (three base64url parts whose first is a JSON object with `alg`). */
export function looksLikeJwt(token: string): boolean {
  const parts = token.split('.');
  if (parts.length !== 3 || token.length > MAX_TOKEN_LENGTH) return false;
  return (
    parts.slice(0, 2).every((part) => BASE64URL.test(part)) && !!decodePart(parts[0] ?? '')?.['alg']
  );
}

/** The header of a signed token, unverified; undefined when it is none. */
export function tokenHeader(token: string): Record<string, unknown> | undefined {
  return decodePart(token.split('.', 1)[0] ?? '');
}

/** Reads claims without any verification: for routing a token, never for a decision. */
export function unverifiedClaims(token: string): TokenClaims | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const parts = token.split('.');
  return parts.length === 3 ? decodePart(parts[1] ?? '') : undefined;
}

function headerOf(encoded: string, rules: VerifyRules): TokenHeader {
  const header = BASE64URL.test(encoded) ? decodePart(encoded) : undefined;
  if (header === undefined) throw refuse('malformed', 'the token has no readable header');
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string' || !rules.algorithms.has(alg)) {
    throw refuse('alg', 'the signature algorithm of the token is not allowed');
  }
  // jku, x5u, jwk and x5c are not looked at: a token never says where its key comes from (RFC 8725 §3.10)
  if ('crit' in header || 'b64' in header) {
    throw refuse('crit', 'the token asks for an extension that is not supported');
  }
  if (typ !== undefined && typeof typ !== 'string')
    throw refuse('typ', 'typ of the token is no text');
  if (!rules.types.has(typ?.toLowerCase())) {
    throw refuse('typ', 'the token is of another kind (typ)');
  }
  if (kid !== undefined && typeof kid !== 'string') throw refuse('malformed', 'kid is no text');
  return { alg, kid };
}

/** The keys of a set that fit the header of a token; empty when none does. */
function keysFor(set: KeySet | null, encoded: string, rules: VerifyRules): readonly ChosenKey[] {
  const memory = `${rules.kind}.${encoded}`;
  const known = set?.remembered(memory);
  if (known !== undefined) return known;
  const header = headerOf(encoded, rules);
  try {
    return set?.choose(memory, header) ?? [];
  } catch (cause) {
    throw refuse('unknown_key', 'the key of the token cannot be used', cause);
  }
}

/** Whether one of the keys made the signature of a token; `second` is where its second dot stands. */
function isSignedBy(keys: readonly ChosenKey[], token: string, second: number): boolean {
  if (!SIGNED.test(token)) throw refuse('malformed', 'the token is no signed token');
  const data = Buffer.from(token.slice(0, second), 'latin1');
  const signature = Buffer.from(token.slice(second + 1), 'base64url');
  return keys.some((key) => verifySignatureBy(key, data, signature));
}

/**
 * A date of a token (NumericDate, RFC 7519 §2). Programs that write each member they know write null where there is no date;
 * for `nbf` and `iat`, which may be absent, that says no more than their absence.
 */
function secondsClaim(claims: TokenClaims, name: 'exp' | 'nbf' | 'iat'): number | undefined {
  const value: unknown = claims[name];
  if (value === undefined || (value === null && name !== 'exp')) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw refuse('malformed', `${name} of the token is no number`);
  }
  return value;
}

/** iss, exp (required), nbf, iat in the future, aud. */
export function checkClaims(claims: TokenClaims, rules: VerifyRules): void {
  if (typeof claims.iss !== 'string' || claims.iss !== rules.issuer) {
    throw refuse('issuer', 'the token is from another issuer');
  }
  const now = rules.clock.now() / 1000;
  const expiresAt = secondsClaim(claims, 'exp');
  if (expiresAt === undefined) throw refuse('expired', 'the token has no expiry');
  if (expiresAt + rules.tolerance <= now) throw refuse('expired', 'the token is expired');
  const notBefore = secondsClaim(claims, 'nbf');
  if (notBefore !== undefined && notBefore - rules.tolerance > now) {
    throw refuse('not_yet', 'the token is not valid yet');
  }
  const issuedAt = secondsClaim(claims, 'iat');
  if (issuedAt !== undefined && issuedAt - rules.tolerance > now) {
    throw refuse('not_yet', 'the token was issued in the future');
  }
  if (rules.audiences.length > 0) checkAudience(claims.aud, rules.audiences);
}

function checkAudience(aud: unknown, audiences: readonly string[]): void {
  const present: unknown[] = Array.isArray(aud) ? aud : [aud];
  const matches = present.some(
    (one) => typeof one === 'string' && (one === ANY_AUDIENCE || audiences.includes(one)),
  );
  if (!matches) throw refuse('audience', 'the token is for another audience');
}

/** The `x5t#S256` thumbprint of a certificate (RFC 8705 §3.1); a thumbprint is answered as it is. */
function certificateThumbprint(certificate: string | Uint8Array): string {
  if (typeof certificate === 'string' && /^[A-Za-z0-9_-]{43}$/.test(certificate))
    return certificate;
  try {
    const hex = new X509Certificate(certificate).fingerprint256.replaceAll(':', '');
    return Buffer.from(hex, 'hex').toString('base64url');
  } catch {
    throw new ConfigurationError(
      'the certificate of the binding cannot be read (PEM, DER, thumbprint)',
    );
  }
}

/** Holds `cnf` of a token against the certificate or key of its bearer; throws InvalidTokenError `cnf`. */
export function checkBinding(claims: TokenClaims, binding: TokenBinding): void {
  const cnf = (claims['cnf'] ?? {}) as Record<string, unknown>;
  const wanted: [member: string, value: string | undefined][] = [
    ['x5t#S256', binding.certificate && certificateThumbprint(binding.certificate)],
    ['jkt', binding.jkt],
  ];
  for (const [member, value] of wanted) {
    if (value === undefined) continue;
    const actual = cnf[member];
    if (typeof actual !== 'string' || !constantTimeEqual(actual, value)) {
      throw refuse('cnf', 'the token is bound to another key or certificate');
    }
  }
}

/**
 * Verifies the signature alone: length, header (algorithm, crit, typ), key, signature. For signed answers that are
 * no tokens (userinfo). A provider may replace a key under the same key id, so a wrong signature is looked at again
 * with newer keys, as an unknown key is.
 */
export async function verifySignature(
  token: string,
  rules: VerifyRules,
  keys: KeySource,
): Promise<TokenClaims> {
  if (typeof token !== 'string' || token === '') throw refuse('missing_token', 'there is no token');
  if (token.length > MAX_TOKEN_LENGTH) throw refuse('too_large', 'the token is too long');
  const first = token.indexOf('.');
  const second = token.indexOf('.', first + 1);
  if (first < 0 || second < 0) throw refuse('opaque', 'the token is opaque, it holds no claims');
  if (token.includes('.', second + 1)) {
    throw refuse('malformed', 'the token is not a signed token in three parts');
  }
  const header = token.slice(0, first);
  const set = await keys.current();
  let fitting = keysFor(set, header, rules);
  const isKnown = fitting.length > 0;
  if (!isKnown || !isSignedBy(fitting, token, second)) {
    const newer = await keys.newer(set, isKnown ? 'wrong signature' : 'unknown key');
    if (newer === null && set === null)
      throw refuse('no_keys', 'the keys of the provider are not available');
    fitting = newer === null ? [] : keysFor(newer, header, rules);
    if (fitting.length === 0 && !isKnown)
      throw refuse('unknown_key', 'the provider has no key that fits the token');
    if (!isSignedBy(fitting, token, second))
      throw refuse('signature', 'the signature of the token is wrong');
  }
  const claims = decodePart(token.slice(first + 1, second));
  if (claims === undefined) throw refuse('malformed', 'the claims of the token are no object');
  return claims;
}

/**
 * Verifies a signed token and answers its claims; throws InvalidTokenError whose `error` names the failed check.
 * Order: length, header (algorithm, crit, typ), key, signature, issuer, times, audience.
 */
export async function verifySignedToken(
  token: string,
  rules: VerifyRules,
  keys: KeySource,
): Promise<TokenClaims> {
  const claims = await verifySignature(token, rules, keys);
  checkClaims(claims, rules);
  return claims;
}
