import type { CookieJar as ToughCookieJar } from 'tough-cookie';
import type { CallArguments } from './arguments.js';
import type { CookieJar } from './cookies.js';
import type { PreparedRequest } from './prepared-request.js';
import type { Response } from './response.js';
import type { CaseInsensitiveDict } from './structures.js';

/** A single value of a query or form field; null and undefined leave the field out. */
export type FieldValue = string | number | bigint | boolean | null | undefined;

/** Names and values of a query or form; a list repeats the name. */
export type FieldMap = Readonly<Record<string, FieldValue | readonly FieldValue[]>>;

/** The same as pairs, which keeps order and repetition. */
export type FieldPairs = ReadonlyArray<readonly [string, FieldValue | readonly FieldValue[]]>;

/** Query-string data: a map merges with the session's, anything else replaces it. */
export type Params = FieldMap | FieldPairs | URLSearchParams | string;

/** What a streamed body is made of. */
export type BodyChunk = Uint8Array | string;

/** A body that is produced piece by piece; it goes out chunked. */
export type BodyStream = AsyncIterable<BodyChunk> | Iterable<BodyChunk>;

/** Request bodies: maps, pairs and URLSearchParams become a form, text and bytes go as they are, iterables are streamed. */
export type Data =
  | FieldMap
  | FieldPairs
  | URLSearchParams
  | FormData
  | string
  | ArrayBufferView
  | ArrayBuffer
  | Blob
  | BodyStream;

/** A prepared body as it goes on the wire. */
export type PreparedBody = string | Uint8Array | Blob | BodyStream | null;

/** Content of one file of a multipart body. */
export type FileContent = string | Uint8Array | Blob | BodyStream;

/** Content, or [filename, content, content type, further headers of the part]; a null filename makes a plain field. */
export type FilePart =
  | FileContent
  | readonly [
      filename: string | null,
      content: FileContent,
      contentType?: string | null,
      headers?: Readonly<Record<string, string>>,
    ];

/** Files of a multipart body by field name; pairs allow a field to repeat. */
export type Files = Readonly<Record<string, FilePart>> | ReadonlyArray<readonly [string, FilePart]>;

/** Headers of one request; null removes the session's header of that name. */
export type RequestHeaders =
  | CaseInsensitiveDict
  | Readonly<Record<string, string | null | undefined>>
  | Iterable<readonly [string, string | null | undefined]>;

/** User name and password for HTTP Basic (RFC 7617). */
export type AuthTuple = readonly [username: string, password: string];

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

/** Proxy URLs by `scheme://host`, `scheme`, `all://host` or `all`; null removes the entry of a lower layer. */
export type Proxies = Readonly<Record<string, string | null | undefined>>;

/** Proxy URLs after merging. */
export type ProxyMap = Record<string, string>;

/** TLS verification: true, false (tests only), or the path of a CA file or directory. */
export type Verify = boolean | string;

/** Client certificate: path of a PEM file with certificate and key, or the paths of both. */
export type ClientCert = string | readonly [cert: string, key: string];

/** Seconds for connecting and for silence while reading, or [connect, read]; null waits for ever. */
export type TimeoutSetting = number | readonly [connect: number | null, read: number | null];

/** What a response hook is told beside the response. */
export interface HookSettings {
  timeout: TimeoutSetting | null;
  verify: Verify;
  proxies: Proxies;
  stream: boolean;
  cert: ClientCert | null;
}

/** Called with every response, also those of redirects; may answer a replacement. */
export type ResponseHook = (
  response: Response,
  settings: HookSettings,
) => Response | void | Promise<Response | void>;

/** Hooks of a session or request. */
export interface Hooks {
  response: ResponseHook[];
}

/** Hooks as they may be given: one function or a list. */
export interface HooksInput {
  response?: ResponseHook | readonly ResponseHook[] | null;
}

/** Cookies of one request: a map of names and values, or a jar. */
export type RequestCookies = Readonly<Record<string, string>> | CookieJar | ToughCookieJar;

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
