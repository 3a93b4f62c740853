import { createHash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, decodeJwt, jwtVerify, type JWTPayload } from 'jose';
import { allow, exchange, PORTAL, type TokenAnswer } from './portal.js';
import type { Answer, Grid, GridClient, Identity } from './testbed.js';

/** A token answer with an ID token. */
export type OpenidAnswer = TokenAnswer & { id_token: string };

/** Tokens of the demo portal with these scopes, and what the authorization request says besides. */
export async function openidTokens(
  grid: Grid,
  name: Identity,
  parameters: Record<string, string>,
): Promise<Answer<OpenidAnswer>> {
  const { code } = await allow(grid, name, { parameters });
  return (await exchange(grid, code)) as Answer<OpenidAnswer>;
}

/** The claims of an ID token of the demo portal, checked with the published keys as a client does it (Core §3.1.3.7). */
export async function verifiedIdToken(
  client: GridClient,
  token: string,
  audience = PORTAL,
): Promise<JWTPayload> {
  const { body } = await client.get('/.well-known/openid-configuration');
  const keys = await client.get('/.well-known/jwks.json');
  const answer = (): Promise<Response> => Promise.resolve(Response.json(keys.body));
  const set = createRemoteJWKSet(new URL(body.jwks_uri), { [customFetch]: answer });
  const { payload } = await jwtVerify(token, set, {
    issuer: body.issuer,
    audience,
    algorithms: body.id_token_signing_alg_values_supported,
    requiredClaims: ['sub', 'iat', 'exp'],
  });
  return payload;
}

/** `at_hash` of an access token for an ID token of ES256 or RS256. */
export function accessTokenHash(token: string): string {
  return createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url');
}

/** The claims, unchecked. */
export const claimsOf = (token: string): JWTPayload => decodeJwt(token);
