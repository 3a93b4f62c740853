import {
  bindArguments,
  isPlainObject,
  REQUEST_KEYWORDS,
  type Auth,
  type CallArguments,
  type Operation,
  type Parameter,
} from '#src/http-client/index.js';
import type { RequestSignerChoice } from './client-auth.js';
import { ConfigurationError } from './oauth-error.js';
import {
  SESSION_REQUEST_PARAMS,
  type AuthorizationUrlOptions,
  type ExchangeTokenOptions,
  type FetchTokenOptions,
  type OAuth2RequestOptions,
  type RefreshTokenOptions,
  type TokenStatusOptions,
} from './session-options.js';

type Text = string | null | undefined;
type Url = string | URL | null | undefined;
type Headers = Readonly<Record<string, string>> | null | undefined;
type Signer = RequestSignerChoice | null | undefined;

/** The parameters of each operation by their places; any operation may also be given one object of all names. */
export type RequestParameters = [
  withhold_token: boolean | null | undefined,
  auth: Auth | null | undefined,
];
/** Arguments of `create_authorization_url`, by place or by name. */
export type AuthorizationUrlArguments = CallArguments<
  [url: string | URL, state: Text, code_verifier: Text],
  AuthorizationUrlOptions & Located
>;
/** Arguments of `fetch_token`, by place or by name. */
export type FetchTokenArguments = CallArguments<
  [
    url: Url,
    body: Text,
    method: Text,
    headers: Headers,
    auth: Signer,
    grant_type: Text,
    state: Text,
  ],
  FetchTokenOptions & Located
>;
/** Arguments of `refresh_token`, by place or by name. */
export type RefreshTokenArguments = CallArguments<
  [url: Url, refresh_token: Text, body: Text, auth: Signer, headers: Headers],
  RefreshTokenOptions & Located
>;
/** Arguments of `exchange_token`, by place or by name. */
export type ExchangeTokenArguments = CallArguments<
  [
    url: Url,
    subject_token: Text,
    subject_token_type: Text,
    body: Text,
    auth: Signer,
    headers: Headers,
  ],
  ExchangeTokenOptions & Located
>;
/** Arguments of `introspect_token` and `revoke_token`, by place or by name. */
export type TokenStatusArguments = CallArguments<
  [url: Url, token: Text, token_type_hint: Text, body: Text, auth: Signer, headers: Headers],
  TokenStatusOptions & Located
>;

/** The first parameter by its name. */
export interface Located {
  url?: Url;
}

/** Whether a value can stand for authentication. */
function isAuth(value: unknown): boolean {
  if (Array.isArray(value))
    return value.length === 2 && value.every((it) => typeof it === 'string');
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null) return false;
  return ['prepare', 'attach'].some(
    (name) => typeof (value as Record<string, unknown>)[name] === 'function',
  );
}

const isText = (value: unknown): boolean => typeof value === 'string';

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  url: { name: 'url', accepts: (value) => isText(value) || value instanceof URL },
  headers: { name: 'headers', accepts: isPlainObject },
  auth: { name: 'auth', accepts: isAuth },
};

/** Names that form fields of token requests have; they tell an object of keywords from one of headers. */
const FIELDS = [
  ...['grant_type', 'code', 'code_verifier', 'redirect_uri', 'authorization_response', 'scope'],
  ...['username', 'password', 'client_id', 'client_secret', 'audience', 'resource', 'assertion'],
  ...['subject_token', 'subject_token_type', 'actor_token', 'actor_token_type'],
  ...['requested_token_type', 'refresh_token', 'device_code', 'state', 'method', 'token'],
  'token_type_hint',
];

function fail(message: string): Error {
  return new ConfigurationError(message);
}

function operation(name: string, parameters: readonly string[]): Operation {
  return {
    name,
    parameters: parameters.map((it) => PARAMETERS[it] ?? { name: it, accepts: isText }),
    keywords: new Set<string>([...SESSION_REQUEST_PARAMS, 'signal', ...FIELDS]),
    open: true,
    fail,
  };
}

/** The operations of a session with their parameters in the interface's order. */
const OPERATIONS = {
  create_authorization_url: operation('create_authorization_url', [
    ...['url', 'state', 'code_verifier'],
  ]),
  fetch_token: operation('fetch_token', [
    ...['url', 'body', 'method', 'headers', 'auth', 'grant_type', 'state'],
  ]),
  refresh_token: operation('refresh_token', ['url', 'refresh_token', 'body', 'auth', 'headers']),
  exchange_token: operation('exchange_token', [
    ...['url', 'subject_token', 'subject_token_type', 'body', 'auth', 'headers'],
  ]),
  revoke_token: operation('revoke_token', [
    ...['url', 'token', 'token_type_hint', 'body', 'auth', 'headers'],
  ]),
  introspect_token: operation('introspect_token', [
    ...['url', 'token', 'token_type_hint', 'body', 'auth', 'headers'],
  ]),
};

/** The url and the keywords of a call; throws ConfigurationError for an argument that fits nowhere. */
export function callArguments<O extends object>(
  name: keyof typeof OPERATIONS,
  given: readonly unknown[],
): { url: string | null; options: O } {
  const { url, ...options } = bindArguments(OPERATIONS[name], given);
  const place = url instanceof URL ? url.href : url;
  return { url: typeof place === 'string' ? place : null, options: options as O };
}

/** The names that the options of a request with a token may have. */
export const TOKEN_REQUEST_KEYWORDS: ReadonlySet<string> = new Set([
  ...REQUEST_KEYWORDS,
  'withhold_token',
]);

const REQUEST_PARAMETERS: readonly Parameter[] = [
  { name: 'withhold_token', accepts: (value) => typeof value === 'boolean' },
  { name: 'auth', accepts: isAuth },
];

/** The options of `request`, withhold_token and auth among them; throws TypeError for what is none. */
export function tokenRequestOptions(
  given: readonly unknown[],
  keywords: ReadonlySet<string>,
): OAuth2RequestOptions {
  return bindArguments({ name: 'request', parameters: REQUEST_PARAMETERS, keywords }, given);
}
