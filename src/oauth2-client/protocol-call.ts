import {
  ResponseTooLarge,
  type Auth,
  type RequestOptions,
  type Response,
  type TimeoutSetting,
} from '#src/http-client/index.js';
import type { Clock } from '#src/kernel/index.js';
import type {
  ComplianceHooks,
  HookHeaders,
  HookRequest,
  RequestHookType,
  ResponseHookType,
} from './compliance-hooks.js';
import type { DpopProver } from './dpop.js';
import { requireSecureUrl } from './endpoint.js';
import { InvalidResponseError, type OAuthError } from './oauth-error.js';
import type { ProtocolAnswer } from './token-response.js';

/** Keywords of a protocol call that concern the HTTP exchange. */
export type HttpCallOptions = Pick<
  RequestOptions,
  'timeout' | 'cookies' | 'proxies' | 'hooks' | 'verify' | 'cert' | 'signal'
>;

/** Puts the client's credentials into a request. */
export interface RequestSigner {
  prepare(
    method: string,
    uri: string,
    headers: HookHeaders,
    body: string,
  ): HookRequest | Promise<HookRequest>;
}

/** One call to an endpoint of the authorization server. */
export interface ProtocolCall {
  /** Name of the endpoint for messages: "token endpoint". */
  endpoint: string;
  method?: string;
  url: string;
  headers: HookHeaders;
  body?: string;
  requestHook?: RequestHookType;
  responseHook?: ResponseHookType;
  /** Client authentication; none for calls without. */
  signer?: RequestSigner | undefined;
  /** HTTP authentication in place of client authentication. */
  auth?: Auth | undefined;
  http?: HttpCallOptions;
  /** False for calls that carry no proof of possession (metadata, keys). */
  dpop?: boolean;
  /** Token of a call to a protected endpoint (userinfo); it goes into the header. */
  accessToken?: string;
  maxBytes?: number;
}

/** What a call needs of its session. */
export interface ProtocolSession {
  hooks: ComplianceHooks;
  clock: Clock;
  errorClass: typeof OAuthError;
  allowInsecureLoopback: boolean;
  clientSecret: string | null;
  dpop: DpopProver | undefined;
  /** The session's own timeout, in place of PROTOCOL_SECONDS. */
  defaultTimeout: TimeoutSetting | null;
  send(method: string, url: string, options: RequestOptions): Promise<Response>;
}

/** Seconds for connecting to an endpoint of the protocol. */
const CONNECT_SECONDS = 5;
/** Seconds for a protocol call as a whole. */
const PROTOCOL_SECONDS = 10;
/** Largest answer of a protocol endpoint in bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Members of a form that are no secrets; every other value is kept out of messages. */
const PUBLIC_MEMBERS = new Set([
  'grant_type',
  'scope',
  'client_id',
  'redirect_uri',
  'audience',
  'resource',
  'token_type_hint',
  'subject_token_type',
  'actor_token_type',
  'requested_token_type',
  'client_assertion_type',
  'response_type',
  'response_mode',
  'code_challenge_method',
  'username',
  'prompt',
]);

/** The session's own authentication must not reach an endpoint of the protocol. */
const noAuth = (): void => undefined;

function secretsOf(session: ProtocolSession, request: HookRequest): string[] {
  const [url, headers, body] = request;
  const secrets = session.clientSecret === null ? [] : [session.clientSecret];
  for (const part of [body, url.split('?')[1] ?? '']) {
    for (const [name, value] of new URLSearchParams(part)) {
      if (!PUBLIC_MEMBERS.has(name)) secrets.push(value);
    }
  }
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === 'authorization') secrets.push(value, value.split(' ')[1] ?? '');
  }
  return secrets;
}

/** The seconds of the call: a timeout of the caller's or the session's counts for the whole of it. */
function limitsOf(
  session: ProtocolSession,
  http: HttpCallOptions,
): Pick<RequestOptions, 'timeout' | 'deadline'> {
  const timeout = http.timeout ?? session.defaultTimeout;
  if (timeout === undefined || timeout === null) {
    return { timeout: [CONNECT_SECONDS, PROTOCOL_SECONDS], deadline: PROTOCOL_SECONDS };
  }
  if (typeof timeout === 'number') return { timeout, deadline: timeout };
  return { timeout, deadline: (timeout[0] ?? CONNECT_SECONDS) + (timeout[1] ?? PROTOCOL_SECONDS) };
}

/** The proof of possession, and the token where the call carries one. */
function addedHeaders(
  session: ProtocolSession,
  call: ProtocolCall,
  method: string,
  url: string,
): HookHeaders {
  const { accessToken } = call;
  const dpop = call.dpop === false ? undefined : session.dpop;
  const added: HookHeaders = {};
  if (accessToken !== undefined) {
    added['Authorization'] = `${dpop === undefined ? 'Bearer' : 'DPoP'} ${accessToken}`;
  }
  if (dpop !== undefined) {
    added['DPoP'] = dpop.proof({
      method,
      url,
      ...(accessToken === undefined ? {} : { accessToken }),
    });
  }
  return added;
}

async function exchange(
  session: ProtocolSession,
  call: ProtocolCall,
  request: HookRequest,
): Promise<ProtocolAnswer> {
  const { http = {}, maxBytes = MAX_ANSWER_BYTES, endpoint } = call;
  const method = call.method ?? 'POST';
  const signed = (await call.signer?.prepare(method, ...request)) ?? request;
  const [url, headers, body] = signed;
  requireSecureUrl(url, session.allowInsecureLoopback);
  const added = addedHeaders(session, call, method, url);
  const sentAt = session.clock.now();
  try {
    const response = await session.send(method, url, {
      ...http,
      ...limitsOf(session, http),
      headers: { ...headers, ...added },
      ...(body === '' ? {} : { data: body }),
      auth: call.auth ?? noAuth,
      allow_redirects: false,
      stream: false,
      use_netrc: false,
      max_response_bytes: maxBytes,
    });
    const { clock, errorClass } = session;
    const secrets = [
      ...secretsOf(session, signed),
      ...(call.accessToken ? [call.accessToken] : []),
    ];
    return { response, context: { endpoint, errorClass, secrets, clock, sentAt } };
  } catch (cause) {
    if (!(cause instanceof ResponseTooLarge)) throw cause;
    throw new InvalidResponseError(`the ${endpoint} answers more than ${maxBytes} bytes`, {
      cause,
    });
  }
}

/** RFC 9449 §8: the server wants its nonce in the proof. */
function asksForNonce(response: Response): boolean {
  if (response.status_code !== 400 && response.status_code !== 401) return false;
  const challenge = response.headers.get('WWW-Authenticate') ?? '';
  return `${challenge} ${response.text}`.includes('"use_dpop_nonce"');
}

/**
 * Carries out one protocol call: request hooks, client authentication, https check (again, since both may have
 * changed the URL), proof of possession with one more attempt when the server wants its nonce, response hooks.
 * Never follows redirects, never uses .netrc, has a deadline and a largest answer.
 */
export async function callEndpoint(
  session: ProtocolSession,
  call: ProtocolCall,
): Promise<ProtocolAnswer> {
  requireSecureUrl(call.url, session.allowInsecureLoopback);
  let request: HookRequest = [call.url, call.headers, call.body ?? ''];
  if (call.requestHook !== undefined) {
    request = await session.hooks.request(call.requestHook, request);
    requireSecureUrl(request[0], session.allowInsecureLoopback);
  }
  let answer = await exchange(session, call, request);
  if (call.dpop !== false && session.dpop !== undefined) {
    const isNew = session.dpop.learnNonce(answer.response);
    if (isNew && asksForNonce(answer.response)) answer = await exchange(session, call, request);
  }
  if (call.responseHook !== undefined) {
    const response = await session.hooks.response(call.responseHook, answer.response);
    answer = { ...answer, response };
  }
  return answer;
}
