import type { Auth } from '#src/http-client/index.js';
import type { Clock } from '#src/kernel/index.js';
import type { HookHeaders, HookRequest } from './compliance-hooks.js';
import { ConfigurationError } from './oauth-error.js';
import { addToQuery } from './parameters.js';

/** What client authentication reads of a session. */
export interface AuthenticatingClient {
  client_id: string | null;
  client_secret: string | null;
  metadata: Record<string, unknown>;
  clock: Clock;
  /** Basic credentials without form-encoding, for servers that never learnt it. */
  rawBasic: boolean;
}

/** Signs a request: gets it and answers it with the client's credentials in place. */
export type ClientAuthFunction = (
  ...request: [
    client: AuthenticatingClient,
    method: string,
    uri: string,
    headers: HookHeaders,
    body: string,
  ]
) => HookRequest | Promise<HookRequest>;

/** A named method of client authentication, as register_client_auth_method takes it. */
export interface ClientAuthMethod {
  name: string;
  prepare: ClientAuthFunction;
}

/** Everything that may stand where a method of client authentication is asked for. */
export type ClientAuthChoice = string | ClientAuthFunction | { prepare: ClientAuthFunction };

/** What may stand for client authentication in one call: an HTTP auth, or something that signs requests. */
export type RequestSignerChoice =
  | Auth
  | {
      /** Signs one request. */
      prepare(
        method: string,
        uri: string,
        headers: HookHeaders,
        body: string,
      ): HookRequest | Promise<HookRequest>;
    };

/** Form-encodes one part of Basic credentials (RFC 6749 §2.3.1 and appendix B). */
function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** Appends members to a form that is text. */
export function appendToForm(body: string, members: Record<string, string>): string {
  const added = new URLSearchParams(members).toString();
  return body === '' ? added : `${body}&${added}`;
}

/** Whether a form names the client already: a member must not be there twice (RFC 6749 §3.2). */
export function isNamed(body: string, clientId: string): boolean {
  return new URLSearchParams(body).get('client_id') === clientId;
}

function requireId(client: AuthenticatingClient): string {
  if (client.client_id === null || client.client_id === '') {
    throw new ConfigurationError('client_id is required');
  }
  return client.client_id;
}

function requireSecret(client: AuthenticatingClient): string {
  if (client.client_secret === null || client.client_secret === '') {
    throw new ConfigurationError('client_secret is required by this client authentication');
  }
  return client.client_secret;
}

/** RFC 6749 §2.3.1: credentials must not be part of the request URI. */
export function refuseGet(method: string): void {
  if (method.toUpperCase() === 'GET') {
    throw new ConfigurationError('this client authentication needs a form body, not GET');
  }
}

const basic: ClientAuthFunction = (...[client, , uri, headers, body]) => {
  const encode = client.rawBasic ? (text: string): string => text : formEncode;
  const pair = `${encode(requireId(client))}:${encode(requireSecret(client))}`;
  const value = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
  return [uri, { ...headers, Authorization: value }, body];
};

const post: ClientAuthFunction = (...[client, method, uri, headers, body]) => {
  refuseGet(method);
  const client_id = requireId(client);
  const secret = { client_secret: requireSecret(client) };
  return [
    uri,
    headers,
    appendToForm(body, isNamed(body, client_id) ? secret : { client_id, ...secret }),
  ];
};

/** `none` and the two mutual-TLS methods: the client only names itself (RFC 6749 §3.2.1, RFC 8705 §2). */
const named: ClientAuthFunction = (...[client, method, uri, headers, body]) => {
  const name = { client_id: requireId(client) };
  if (method.toUpperCase() === 'GET') {
    return [addToQuery(uri, appendToForm('', name)), headers, body];
  }
  return [uri, headers, isNamed(body, name.client_id) ? body : appendToForm(body, name)];
};

/** The methods without a signature, by their registered name (RFC 7591 §2, RFC 8705 §2). */
export const PLAIN_AUTH_METHODS: Readonly<Record<string, ClientAuthFunction>> = {
  client_secret_basic: basic,
  client_secret_post: post,
  none: named,
  tls_client_auth: named,
  self_signed_tls_client_auth: named,
};

/** Whether a method authenticates by the TLS client certificate (RFC 8705). */
export function isMutualTls(method: unknown): boolean {
  return method === 'tls_client_auth' || method === 'self_signed_tls_client_auth';
}

/**
 * The default `client_auth_class`: one method of client authentication bound to one client. `prepare` answers
 * the request with the credentials in place. Throws ConfigurationError when id or secret is missing.
 */
export class ClientAuth {
  constructor(
    readonly client: AuthenticatingClient,
    readonly auth_method: ClientAuthFunction,
  ) {}

  /** The request with the client's authentication added to its URL, headers or body. */
  async prepare(
    method: string,
    uri: string,
    headers: HookHeaders,
    body: string,
  ): Promise<HookRequest> {
    return this.auth_method(this.client, method, uri, headers, body);
  }
}
