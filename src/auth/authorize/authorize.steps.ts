import type { Client } from '#src/registry/index.js';
import { isRegisteredRedirect } from '../protocol/redirect-uri.js';
import { OAuthProblem } from '#src/kernel/index.js';
import { askedAudiences, refuseOthers } from '../protocol/audience.js';
import { readScopes, scopeWords } from '../protocol/grid-scopes.js';
import { AuthorizationError } from './authorization-error.js';
import { UnprovedRequestError, type ProvedRequest } from './authorization-request.js';
import type { AuthorizationQuery, AuthorizationTarget } from './authorize.request.js';
import { isChallenge } from '../protocol/pkce.js';

/** Where the answer goes. Throws UnprovedRequestError: what fails here is never redirected (RFC 6749 §4.1.2.1). */
export function provedRedirect(
  { redirect_uri: sent }: AuthorizationTarget,
  client: Client,
): { redirectUri: string; sentRedirectUri: string | null } {
  if (sent.length > 1) throw new UnprovedRequestError('redirect_uri is given more than once.');
  const [uri] = sent;
  if (uri !== undefined) {
    if (isRegisteredRedirect(client, uri)) return { redirectUri: uri, sentRedirectUri: uri };
    throw new UnprovedRequestError('redirect_uri is not registered for this application.');
  }
  const [registered, ...more] = client.redirectUris;
  if (registered === undefined) {
    throw new UnprovedRequestError('This application has no redirect URI.');
  }
  if (more.length > 0) {
    throw new UnprovedRequestError(
      'This application has several redirect URIs; send redirect_uri.',
    );
  }
  return { redirectUri: registered, sentRedirectUri: null };
}

/** With `fapi2` a request comes by /oauth2/par only (FAPI 2.0 Security Profile 5.3.2.2). */
export function checkPushed({ client, pushed }: ProvedRequest): void {
  if (client.profile !== 'fapi2' || pushed !== undefined) return;
  throw new AuthorizationError('invalid_request', 'the request must be pushed (/oauth2/par)');
}

/** Scopes may be unknown, but not all of them. */
export function checkScope({ scope }: Pick<AuthorizationQuery, 'scope'>): void {
  const words = scopeWords(scope);
  if (words && readScopes(words).length === 0) {
    throw new AuthorizationError('invalid_scope', 'none of the scopes is known');
  }
}

/** The services that are asked for, if any; the application must be allowed to have tokens for them (RFC 8707 §2.1). */
export function checkedAudience(
  query: Pick<AuthorizationQuery, 'audience' | 'resource'>,
  possible: readonly string[],
): string[] | undefined {
  try {
    const asked = askedAudiences(query);
    if (asked) refuseOthers(asked, possible);
    return asked;
  } catch (error) {
    if (error instanceof OAuthProblem) throw new AuthorizationError(error.error, error.detail);
    throw error;
  }
}

/** PKCE is S256 or nothing; a challenge without method means plain (RFC 7636 §4.3), which is refused. */
export function checkPkce(
  query: Pick<AuthorizationQuery, 'code_challenge' | 'code_challenge_method'>,
  { isRequired }: { isRequired: boolean },
): void {
  const { code_challenge: challenge, code_challenge_method: method } = query;
  if (challenge === undefined) {
    if (method !== undefined) {
      throw new AuthorizationError('invalid_request', 'code_challenge is missing');
    }
    if (isRequired) {
      throw new AuthorizationError('invalid_request', 'code_challenge is required (S256)');
    }
    return;
  }
  if (method !== 'S256') {
    throw new AuthorizationError('invalid_request', 'code_challenge_method must be S256');
  }
  if (!isChallenge(challenge)) {
    throw new AuthorizationError('invalid_request', 'code_challenge is no S256 challenge');
  }
}
