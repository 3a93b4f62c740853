import { isDictionary, type RequestOptions, type SessionSettings } from '#src/http-client/index.js';
import type { Clock } from '#src/kernel/index.js';
import type { ClientAuthChoice, RequestSignerChoice } from './client-auth.js';
import type { DpopChoice } from './dpop.js';
import { ConfigurationError } from './oauth-error.js';
import type { OAuth2Token, TokenFields } from './oauth2-token.js';
import type { ParameterValue } from './parameters.js';
import type { HttpCallOptions } from './protocol-call.js';
import { requireFitting } from './required.js';
import type { TokenPlacement } from './token-auth.js';

/** Optional members of an authorization request that are taken from the metadata when the call has none. */
export const EXTRA_AUTHORIZE_PARAMS = Object.freeze([
  'response_mode',
  'nonce',
  'prompt',
  'login_hint',
] as const);

/** Keywords of the token operations that concern the HTTP request; all others are form fields. */
export const SESSION_REQUEST_PARAMS = Object.freeze([
  'allow_redirects',
  'timeout',
  'cookies',
  'files',
  'proxies',
  'hooks',
  'stream',
  'verify',
  'cert',
  'json',
] as const);

/** Which token a new one replaces: the refresh token that was sent, or the access token that ran out. */
export interface PreviousToken {
  refresh_token?: string;
  access_token?: string;
}

/** Called (and awaited) after every renewal; the place to store the new token. */
export type UpdateToken = (token: OAuth2Token, previous: PreviousToken) => void | Promise<void>;

/** Keywords of the session constructor; unknown ones become `metadata` (token_endpoint, grant_type …). */
export interface OAuth2ClientOptions extends SessionSettings {
  client_id?: string | null;
  client_secret?: string | null;
  /** A method's name, a function or an object that prepares requests; default by whether there is a secret. */
  token_endpoint_auth_method?: ClientAuthChoice | null;
  /** The same for revocation, independent of the one before. */
  revocation_endpoint_auth_method?: ClientAuthChoice | null;
  scope?: string | readonly string[] | null;
  /** State expected by fetch_token. */
  state?: string | null;
  redirect_uri?: string | null;
  token?: TokenFields | null;
  /** Default `header`. */
  token_placement?: TokenPlacement | null;
  update_token?: UpdateToken | null;
  /** Seconds before its expiry at which a token counts as expired; default 60. */
  leeway?: number | null;
  code_challenge_method?: string | null;
  clock?: Clock;
  /** Permits the password grant, and says that a token in the query is meant (RFC 9700 advises against both). */
  legacyFlows?: boolean;
  /** Permits plain http to this machine. */
  allowInsecureLoopback?: boolean;
  /** Basic credentials without form-encoding. */
  rawBasic?: boolean;
  /** Use pushed authorization requests (RFC 9126) where they are offered; where required they always are. */
  pushed?: boolean;
  /** Bind tokens to a key (RFC 9449): true for a fresh one, or a private key. */
  dpop?: DpopChoice | false | null;
  [keyword: string]: unknown;
}

/** Keywords of `request` and the verbs. */
export interface OAuth2RequestOptions extends RequestOptions {
  /** Send the request without the token; default false. */
  withhold_token?: boolean;
}

/** Keywords that every token operation takes; unknown ones become form fields. */
export interface TokenCallOptions extends HttpCallOptions {
  /** A form to which the fields are added. */
  body?: string | null;
  headers?: Readonly<Record<string, string>> | null;
  /** Replaces client authentication: a Basic pair, an HTTP auth, or what client_auth answers. */
  auth?: RequestSignerChoice | null;
  scope?: string | readonly string[] | null;
  [field: string]: unknown;
}

/** Keywords of refresh_token. */
export interface RefreshTokenOptions extends TokenCallOptions {
  /** Default the session's own; null is a local error. */
  refresh_token?: string | null;
}

/** Keywords of fetch_token. */
export interface FetchTokenOptions extends TokenCallOptions {
  /** POST (default) or GET. */
  method?: string | null;
  grant_type?: string | null;
  state?: string | null;
  /** The URL to which the browser was sent back. */
  authorization_response?: string | null;
  code?: string | null;
  code_verifier?: string | null;
}

/** Keywords of exchange_token (RFC 8693 §2.1). */
export interface ExchangeTokenOptions extends TokenCallOptions {
  subject_token?: string | null;
  subject_token_type?: string | null;
  actor_token?: string | null;
  actor_token_type?: string | null;
  audience?: string | readonly string[] | null;
  resource?: string | readonly string[] | null;
  requested_token_type?: string | null;
}

/** Keywords of revoke_token and introspect_token. */
export interface TokenStatusOptions extends TokenCallOptions {
  token?: string | null;
  token_type_hint?: string | null;
}

/** Keywords of create_authorization_url; unknown ones become query members. */
export interface AuthorizationUrlOptions {
  state?: string | null;
  code_verifier?: string | null;
  [parameter: string]: ParameterValue;
}

/** The parts of a token operation's keywords. */
export interface SplitCall {
  http: HttpCallOptions;
  fields: Record<string, ParameterValue>;
}

const HTTP_KEYWORDS = new Set<string>([...SESSION_REQUEST_PARAMS, 'signal']);
const IGNORED = new Set<string>(['body', 'headers', 'auth', 'method', 'state']);

function isFieldValue(value: unknown): value is ParameterValue {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value))
    return value.every((item) => item !== null && isFieldValue(item) && !Array.isArray(item));
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * Divides the keywords of a token operation into settings of the HTTP request and form fields; empty texts,
 * null and undefined are no fields. Throws ConfigurationError for a field that no form can hold.
 */
export function splitCall(
  options: Readonly<Record<string, unknown>>,
  // Stryker disable next-line ArrayDeclaration: no keyword is called as Stryker's word
  consumed: readonly string[] = [],
): SplitCall {
  const http: Record<string, unknown> = {};
  const fields: Record<string, ParameterValue> = {};
  for (const [name, value] of Object.entries(options)) {
    if (HTTP_KEYWORDS.has(name)) http[name] = value;
    else if (!IGNORED.has(name) && !consumed.includes(name) && value !== '') {
      if (!isFieldValue(value)) throw new ConfigurationError(`"${name}" is no form value`);
      fields[name] = value;
    }
  }
  for (const fixed of ['allow_redirects', 'files', 'stream', 'json']) delete http[fixed];
  return { http: http, fields };
}

const SETTINGS = [
  'auth',
  'cert',
  'cookies',
  'headers',
  'hooks',
  'max_redirects',
  'params',
  'proxies',
  'stream',
  'trust_env',
  'use_netrc',
  'verify',
  'default_timeout',
  'allow_insecure_tls',
  'redirect_secret_headers',
] as const;

const OWN = new Set<string>([
  ...SETTINGS,
  'client_id',
  'client_secret',
  'token_endpoint_auth_method',
  'revocation_endpoint_auth_method',
  'scope',
  'state',
  'redirect_uri',
  'token',
  'token_placement',
  'update_token',
  'leeway',
  'code_challenge_method',
  'clock',
  'legacyFlows',
  'allowInsecureLoopback',
  'rawBasic',
  'pushed',
  'dpop',
]);

/** The keywords that are settings of the HTTP session. OAuth sessions leave .netrc alone unless told otherwise. */
export function sessionSettings(options: OAuth2ClientOptions): SessionSettings {
  requireFitting('constructor', 'options', options, isDictionary(options));
  if (options['token_updater'] !== undefined) {
    throw new ConfigurationError('token_updater is no longer known, use update_token');
  }
  const settings: Record<string, unknown> = { use_netrc: false };
  for (const name of SETTINGS) {
    if (options[name] !== undefined) settings[name] = options[name];
  }
  return settings;
}

/** Every keyword that is not known otherwise: metadata of the server. */
export function metadataOf(options: OAuth2ClientOptions): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => !OWN.has(name) && value !== undefined),
  );
}
