import type { CallArguments } from './arguments.js';
import type { RequestCookies } from './cookies.js';
import type { PreparedRequest, Response, ResponseHook } from './messages.js';
import type {
  Params,
  Data,
  Files,
  RequestHeaders,
  AuthTuple,
  Proxies,
  Verify,
  ClientCert,
  TimeoutSetting,
  HookSettings,
} from './values.js';

export type { RequestCookies } from './cookies.js';
export type { Hooks, ResponseHook } from './messages.js';
export type * from './values.js';

/** Hooks as they may be given: one function or a list. */
export interface HooksInput {
  response?: ResponseHook | readonly ResponseHook[] | null;
}

/** Edits the prepared request (or answers another one) after everything else is prepared; may be async. */
export type AuthCallable = (
  prepared: PreparedRequest,
) => PreparedRequest | void | Promise<PreparedRequest | void>;

/** An object that does what an AuthCallable does. */
export interface AuthHandler {
  attach: AuthCallable;
}

/** Authentication of a request. */
export type Auth = AuthTuple | AuthCallable | AuthHandler;

/** Limits and manners of one exchange, after all defaults are filled in: what an adapter gets. */
export interface AdapterOptions extends HookSettings {
  /** Aborts the exchange; its reason is what the caller's promise rejects with. */
  signal: AbortSignal | null;
  /** Largest body in bytes after decompression, or null. */
  max_response_bytes: number | null;
  /** Seconds until the whole exchange, body included, must be over, or null. */
  deadline: number | null;
}

/** Carries out one exchange. Mount your own with `Session.mount`. */
export interface Adapter {
  /** Sends the request as it is; never follows redirects. Throws a RequestException when there is no answer. */
  send(prepared: PreparedRequest, options: AdapterOptions): Promise<Response>;
  /** Releases connections; the adapter may be used again afterwards. */
  close(): void | Promise<void>;
}

/** Keywords of `send`; what is left out comes from the session. */
export interface SendOptions {
  timeout?: TimeoutSetting | null;
  allow_redirects?: boolean;
  proxies?: Proxies | null;
  stream?: boolean | null;
  verify?: Verify | null;
  cert?: ClientCert | null;
  signal?: AbortSignal | null;
  max_response_bytes?: number | null;
  /** Seconds for everything: redirects, body, waiting. */
  deadline?: number | null;
  /** Proxies named in the call itself; they survive no_proxy on redirects (filled in by `request`). */
  call_proxies?: Proxies | null;
}

/** What makes up a request, apart from method and URL. */
export interface RequestContent {
  headers?: RequestHeaders | null;
  params?: Params | null;
  data?: Data | null;
  /** Any JSON value (bigint allowed); used when `data` is empty. */
  json?: unknown;
  files?: Files | null;
  auth?: Auth | null;
  cookies?: RequestCookies | null;
  hooks?: HooksInput | null;
}

/** Keywords of `request` and the verbs. */
export interface RequestOptions extends RequestContent, Omit<SendOptions, 'call_proxies'> {
  /** False keeps .netrc out of this call even when trust_env is set. */
  use_netrc?: boolean;
}

/** A request as a plain object, for `prepare_request`. */
export interface RequestLike extends RequestContent {
  method: string;
  url: string | URL;
}

/** The body of `put` and `patch` by its place. */
export type DataContent = [data: Data | null | undefined];
/** The bodies of `post` by their places: `json` is sent where there is no `data`. */
export type PostContent = [data: Data | null | undefined, json: unknown];

/** What `merge_environment_settings` merges with the session and the environment. */
export interface MergeOptions {
  proxies?: Proxies | null;
  stream?: boolean | null;
  verify?: Verify | null;
  cert?: ClientCert | null;
}

/** Parameters of `merge_environment_settings` after the URL, in the order that HTTP clients know, or by name. */
export type MergeArguments = CallArguments<
  [
    proxies: Proxies | null | undefined,
    stream: boolean | null | undefined,
    verify: Verify | null | undefined,
    cert: ClientCert | null | undefined,
  ],
  MergeOptions
>;

/** Result of `merge_environment_settings`. */
export interface MergedSettings {
  proxies: Proxies;
  stream: boolean;
  verify: Verify;
  cert: ClientCert | null;
}

/** Keywords of `resolve_redirects`. */
export interface RedirectOptions extends SendOptions {
  /** Yield the prepared requests instead of sending them. */
  yield_requests?: boolean;
}

/** Settings that the constructor of a session accepts; each is also an attribute. */
export interface SessionSettings {
  auth?: Auth | null;
  cert?: ClientCert | null;
  cookies?: RequestCookies | null;
  headers?: RequestHeaders | null;
  hooks?: HooksInput | null;
  max_redirects?: number;
  params?: Params | null;
  proxies?: Proxies | null;
  stream?: boolean;
  trust_env?: boolean;
  use_netrc?: boolean;
  verify?: Verify;
  default_timeout?: TimeoutSetting | null;
  allow_insecure_tls?: boolean;
  redirect_secret_headers?: readonly string[];
}
