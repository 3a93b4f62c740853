import { ConfigurationError } from './oauth-error.js';
import { addToQuery, authorizationQuery, type ParameterValue } from './parameters.js';
import { codeChallengeS256, randomAlphanumeric } from './pkce.js';
import { EXTRA_AUTHORIZE_PARAMS, type AuthorizationUrlOptions } from './session-options.js';

/** What an authorization request reads of its session. */
export interface AuthorizationDefaults {
  client_id: string | null;
  scope: string | readonly string[] | null;
  redirect_uri: string | null;
  metadata: Readonly<Record<string, unknown>>;
}

/** An authorization request: its members and its state. */
export interface AuthorizationRequest {
  query: URLSearchParams;
  state: string;
}

const STATE_LENGTH = 30;

function metadataValue(value: unknown): ParameterValue {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

/**
 * The members of an authorization request (RFC 6749 §4.1.1, PKCE RFC 7636 §4.3). A missing state becomes 30 random
 * letters and digits, an empty one is left out. A code_verifier sends its S256 challenge.
 */
export function authorizationRequest(
  options: AuthorizationUrlOptions,
  defaults: AuthorizationDefaults,
): AuthorizationRequest {
  const { state: given, code_verifier, response_type, redirect_uri, scope, ...rest } = options;
  const state = given ?? randomAlphanumeric(STATE_LENGTH);
  const extra: Record<string, ParameterValue> = { ...rest };
  for (const name of EXTRA_AUTHORIZE_PARAMS) {
    if (!(name in extra)) extra[name] = metadataValue(defaults.metadata[name]);
  }
  const type = response_type ?? metadataValue(defaults.metadata['response_type']) ?? 'code';
  if (code_verifier) {
    extra['code_challenge'] = codeChallengeS256(code_verifier);
    extra['code_challenge_method'] = 'S256';
  }
  const query = authorizationQuery({
    response_type: Array.isArray(type) ? type.join(' ') : String(type),
    client_id: defaults.client_id,
    redirect_uri: redirect_uri === undefined ? defaults.redirect_uri : redirect_uri,
    scope: scope === undefined ? defaults.scope : scope,
    state,
    extra,
  });
  return { query, state };
}

/** Whether a request is to be pushed (RFC 9126): always when the server requires it, else when asked for and offered. */
export function pushEndpoint(
  metadata: Readonly<Record<string, unknown>>,
  asked: boolean,
): string | undefined {
  const endpoint = metadata['pushed_authorization_request_endpoint'];
  const required = metadata['require_pushed_authorization_requests'] === true;
  if (typeof endpoint === 'string') return required || asked ? endpoint : undefined;
  if (required) {
    throw new ConfigurationError(
      'the server requires pushed requests but names no endpoint for them',
    );
  }
  return undefined;
}

/** The URL of the browser for a pushed request. */
export function pushedUrl(url: string, client_id: string, request_uri: string): string {
  return addToQuery(url, new URLSearchParams({ client_id, request_uri }).toString());
}
