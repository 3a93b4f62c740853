import type { QueryValues } from '#src/platform/index.js';
import type { Client } from '#src/registry/index.js';
import { isRegisteredRedirect } from '../protocol/redirect-uri.js';
import { knownScopes } from '../protocol/scopes.js';
import { AuthorizationError, only, UnprovedRequestError } from './authorization-request.js';
import { isChallenge } from '../protocol/pkce.js';

/** Where the answer goes. Throws UnprovedRequestError: what fails here is never redirected (RFC 6749 §4.1.2.1). */
export function provedRedirect(
  query: QueryValues,
  client: Client,
): { redirectUri: string; sentRedirectUri: string | null } {
  const sent = query.all('redirect_uri').filter((value) => value !== '');
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

interface Step {
  name: string;
  check(query: QueryValues, settings: { requirePkce: boolean }): void;
}

const SINGLE = [
  'response_type',
  'client_id',
  'state',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'group',
  'setup',
];

/** Checks after client and redirect URI have proved right, in this order; each failure goes back by redirect. */
export const STEPS: readonly Step[] = [
  {
    name: 'every parameter at most once',
    check(query) {
      const repeated = SINGLE.find((name) => query.all(name).length > 1);
      if (repeated !== undefined) {
        throw new AuthorizationError('invalid_request', `${repeated} is given more than once`);
      }
    },
  },
  {
    name: 'response type',
    check(query) {
      const type = only(query, 'response_type');
      if (type === undefined) {
        throw new AuthorizationError('invalid_request', 'response_type is missing');
      }
      if (type !== 'code') {
        throw new AuthorizationError('unsupported_response_type', 'response_type must be code');
      }
    },
  },
  {
    name: 'response mode',
    check(query) {
      const mode = only(query, 'response_mode');
      if (mode !== undefined && mode !== 'query') {
        throw new AuthorizationError('invalid_request', 'response_mode must be query');
      }
    },
  },
  { name: 'PKCE', check: checkPkce },
  {
    name: 'scope',
    check(query) {
      if (knownScopes(only(query, 'scope'))?.length === 0) {
        throw new AuthorizationError('invalid_scope', 'none of the scopes is known');
      }
    },
  },
];

/** PKCE is S256 or nothing; a challenge without method means plain (RFC 7636 §4.3), which is refused. */
function checkPkce(query: QueryValues, settings: { requirePkce: boolean }): void {
  const challenge = only(query, 'code_challenge');
  const method = only(query, 'code_challenge_method');
  if (challenge === undefined) {
    if (method !== undefined) {
      throw new AuthorizationError('invalid_request', 'code_challenge is missing');
    }
    if (settings.requirePkce) {
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
