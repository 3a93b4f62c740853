import { createHash } from 'node:crypto';
import { constantTimeEqual } from '#src/kernel/index.js';
import { InvalidTokenError } from '#src/oauth2-client/index.js';
import {
  tokenHeader,
  verifySignedToken,
  type KeySource,
  type TokenClaims,
  type VerifyRules,
} from './token-verifier.js';

/** What an ID token must fit beside its signature. */
export interface IdTokenExpectation {
  client_id: string;
  nonce: string | undefined;
  access_token: string | undefined;
  /** Seconds since the user proved who he is, when the login asked for a limit. */
  maxAge?: number | undefined;
}

const HASHES: Record<string, string> = { '256': 'sha256', '384': 'sha384', '512': 'sha512' };

function refuse(error: string, description: string): InvalidTokenError {
  return new InvalidTokenError(description, { error });
}

/** OpenID Connect Core §3.1.3.6: the left half of the hash of the access token. */
function accessTokenHash(accessToken: string, alg: string): string {
  const digest = createHash(HASHES[alg.slice(-3)] ?? 'sha512')
    .update(accessToken, 'ascii')
    .digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

function checkParties(claims: TokenClaims, clientId: string): void {
  const { azp } = claims;
  const isShared = Array.isArray(claims.aud) && claims.aud.length > 1;
  if ((isShared || azp !== undefined) && azp !== clientId) {
    throw refuse('audience', 'the ID token was made for another client (azp)');
  }
}

/**
 * Validates an ID token (OpenID Connect Core §3.1.3.7): signature, iss, aud and azp, exp, iat, nonce, at_hash,
 * auth_time. Throws InvalidTokenError whose `error` names the failed check.
 */
export async function verifyIdToken(
  idToken: string,
  expected: IdTokenExpectation,
  rules: VerifyRules,
  keys: KeySource,
): Promise<TokenClaims> {
  const claims = await verifySignedToken(idToken, rules, keys);
  checkParties(claims, expected.client_id);
  if (typeof claims.sub !== 'string' || claims.sub === '')
    throw refuse('sub', 'the ID token has no sub');
  if (typeof claims.iat !== 'number') throw refuse('malformed', 'the ID token has no iat');
  const { nonce, at_hash: hash, auth_time: authTime } = claims;
  if (expected.nonce !== undefined) {
    if (typeof nonce !== 'string' || !constantTimeEqual(nonce, expected.nonce)) {
      throw refuse('nonce', 'the nonce of the ID token is not the nonce of the login');
    }
  }
  if (hash !== undefined && expected.access_token !== undefined) {
    const alg = String(tokenHeader(idToken)?.['alg']);
    if (hash !== accessTokenHash(expected.access_token, alg)) {
      throw refuse('at_hash', 'the ID token belongs to another access token');
    }
  }
  if (expected.maxAge !== undefined) {
    const now = rules.clock.now() / 1000;
    if (typeof authTime !== 'number' || authTime + expected.maxAge + rules.tolerance < now) {
      throw refuse('auth_time', 'the login is older than was asked for');
    }
  }
  return claims;
}
