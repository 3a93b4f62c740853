import { STATUS_CODES } from 'node:http';
import { parseJson, type JsonValue } from '#src/kernel/index.js';
import { CookieJar } from './cookies.js';
import { CaseInsensitiveDict, itemsOf, type DictSource } from './structures.js';
import type { HookSettings, PreparedBody } from './values.js';

// A request knows the hooks that get its response, a response knows its request and throws errors that hold both: three
// classes that name each other, and so one file.

/** Called with every response, also those of redirects; may answer a replacement. */
export type ResponseHook = (
  response: Response,
  settings: HookSettings,
) => Response | void | Promise<Response | void>;

/** Hooks of a session or request. */
export interface Hooks {
  response: ResponseHook[];
}

/** What an error may carry beside its message. */
export interface RequestErrorDetails {
  request?: PreparedRequest | undefined;
  response?: Response | undefined;
  cause?: unknown;
}

/**
 * Everything that can go wrong with a request; all other errors of this room derive from it. `request` and
 * `response` are set where they are known. They are not enumerable, so that a logged or serialised error never
 * drags headers, tokens or bodies along.
 */
export class RequestException extends Error {
  declare readonly request: PreparedRequest | undefined;
  declare readonly response: Response | undefined;

  constructor(message: string, details: RequestErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    Object.defineProperty(this, 'request', { value: details.request, configurable: true });
    Object.defineProperty(this, 'response', { value: details.response, configurable: true });
  }
}

/** `raise_for_status()` met a status from 400 to 599; `response` is that response. */
export class HTTPError extends RequestException {}

/** A value of `json` that JSON cannot express, or an answer that is no JSON. */
export class InvalidJSONError extends RequestException {}

/** The answer is no JSON. The message never contains the body. */
export class JSONDecodeError extends InvalidJSONError {}

/** A streamed body is asked for again after it was consumed or closed. */
export class StreamConsumedError extends RequestException {}

/** Members of a prepared request. A dictionary given as `headers` is taken over, not copied. */
export interface PreparedRequestInit {
  method: string;
  url: string;
  headers?: DictSource<string> | null;
  body?: PreparedBody;
  hooks?: Hooks;
}

/** Cookies given with the request itself: they stay with its origin and are never stored. */
export type OwnCookies = ReadonlyMap<string, string>;

const BODILESS_METHODS = new Set(['GET', 'HEAD']);

/** A request ready for the wire: absolute URL, final headers, encoded body. */
export class PreparedRequest {
  method: string;
  url: string;
  headers: CaseInsensitiveDict;
  body: PreparedBody;
  hooks: Hooks;
  // Bookkeeping for redirects, not part of what goes on the wire: private, so that nobody lists it.
  #firstUrl: string;
  #ownCookies: OwnCookies | null = null;
  #usesNetrc = true;

  constructor(init: PreparedRequestInit) {
    this.method = init.method;
    this.url = init.url;
    this.#firstUrl = init.url;
    this.headers =
      init.headers instanceof CaseInsensitiveDict
        ? init.headers
        : new CaseInsensitiveDict(init.headers);
    this.body = init.body ?? null;
    this.hooks = init.hooks ?? { response: [] };
  }

  /** The URL with which a chain of redirects began. */
  get first_url(): string {
    return this.#firstUrl;
  }

  /** The request's own cookies. */
  get own_cookies(): OwnCookies | null {
    return this.#ownCookies;
  }

  set own_cookies(cookies: OwnCookies | null) {
    this.#ownCookies = cookies;
  }

  /** Whether .netrc may name credentials for it. */
  get uses_netrc(): boolean {
    return this.#usesNetrc;
  }

  set uses_netrc(uses: boolean) {
    this.#usesNetrc = uses;
  }

  /** Path and query as they stand in the request line. */
  get path_url(): string {
    const { pathname, search } = new URL(this.url);
    return pathname + search;
  }

  /** An independent copy; a streamed body is shared, as it can be read only once. */
  copy(): PreparedRequest {
    const copy = new PreparedRequest({ ...this, headers: this.headers.copy() });
    copy.hooks = { response: [...this.hooks.response] };
    copy.#firstUrl = this.#firstUrl;
    copy.own_cookies = this.own_cookies;
    copy.uses_netrc = this.uses_netrc;
    return copy;
  }

  /** Takes over everything from another prepared request. */
  assign(other: PreparedRequest): void {
    this.method = other.method;
    this.url = other.url;
    this.headers = other.headers;
    this.body = other.body;
    this.hooks = other.hooks;
    this.#firstUrl = other.#firstUrl;
    this.own_cookies = other.own_cookies;
    this.uses_netrc = other.uses_netrc;
  }

  /**
   * Sets Content-Length from the body, or Transfer-Encoding for a stream of unknown length. Without a body it
   * is 0 for every method but GET and HEAD. Auth callables need not call this, it happens after them.
   */
  prepare_content_length(): void {
    const { body } = this;
    const items = itemsOf(this.headers);
    const length = bodyLength(body);
    if (length === undefined) {
      if (!items.has('content-length')) {
        items.set('transfer-encoding', ['Transfer-Encoding', 'chunked']);
      }
      return;
    }
    if (body !== null && length > 0) setLength(items, length);
    else if (BODILESS_METHODS.has(this.method)) items.delete('content-length');
    else setLength(items, 0);
  }
}

function setLength(items: Map<string, [string, string]>, length: number): void {
  items.set('content-length', ['Content-Length', String(length)]);
}

/** Bytes of a prepared body, 0 for none, undefined for a stream. */
function bodyLength(body: PreparedBody): number | undefined {
  if (body === null) return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.byteLength;
  if (body instanceof Blob) return body.size;
  return undefined;
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const NONE: readonly string[] = [];
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;

/** A body that arrives piece by piece. `destroy` drops the connection it comes from. */
export interface ResponseStream extends AsyncIterable<Uint8Array> {
  /** Drops the connection. */
  destroy?(): void;
}

/** Members of a response. An adapter gives either `content` or `body`. */
export interface ResponseInit {
  status_code: number;
  reason?: string;
  url: string;
  headers?: DictSource<string> | null;
  /** The Set-Cookie lines, one each. */
  set_cookies?: readonly string[];
  content?: Buffer | string;
  body?: ResponseStream;
  request: PreparedRequest;
}

/** The answer to a request. */
export class Response {
  readonly status_code: number;
  readonly reason: string;
  readonly url: string;
  /** The responses that led here by redirects, oldest first. */
  history: Response[] = [];
  /** What the response answers. */
  readonly request: PreparedRequest;
  /** With `allow_redirects: false`: the request that would follow the redirect, or null. */
  next: PreparedRequest | null = null;
  /** Character set for `text`; null takes it from Content-Type, then UTF-8. */
  encoding: string | null = null;
  #headerSource: DictSource<string> | null | undefined;
  #headers: CaseInsensitiveDict | undefined;
  #setCookies: readonly string[];
  #content: Buffer | undefined;
  #stream: ResponseStream | undefined;
  #taken = false;
  #cookies: CookieJar | undefined;

  constructor(init: ResponseInit) {
    this.status_code = init.status_code;
    this.reason = init.reason ?? STATUS_CODES[init.status_code] ?? '';
    this.url = init.url;
    this.#headerSource = init.headers;
    this.request = init.request;
    this.#setCookies = init.set_cookies ?? NONE;
    this.#stream = init.body;
    if (!init.body) {
      this.#content =
        typeof init.content === 'string'
          ? Buffer.from(init.content)
          : (init.content ?? Buffer.alloc(0));
    }
  }

  /** The headers, case-insensitive; several values of a name are joined by commas. */
  get headers(): CaseInsensitiveDict {
    this.#headers ??= new CaseInsensitiveDict(this.#headerSource);
    return this.#headers;
  }

  /** The Set-Cookie lines, one each. */
  get set_cookies(): readonly string[] {
    return this.#setCookies;
  }

  /** True below 400. */
  get ok(): boolean {
    return this.status_code < 400;
  }

  /** True when a Location says where to go on: 301, 302, 303, 307, 308. */
  get is_redirect(): boolean {
    return REDIRECT_STATUSES.has(this.status_code) && this.headers.has('Location');
  }

  /** True when `content` is at hand. */
  get is_read(): boolean {
    return this.#content !== undefined;
  }

  /** The cookies that this response sets. */
  get cookies(): CookieJar {
    if (!this.#cookies) {
      this.#cookies = new CookieJar();
      for (const line of this.set_cookies) {
        this.#cookies.setCookieSync(line, this.url, { ignoreError: true });
      }
    }
    return this.#cookies;
  }

  /** The whole body. With `stream: true` only after `read()`. */
  get content(): Buffer {
    if (this.#content === undefined) {
      throw new StreamConsumedError(
        'the body is streamed: await read() first, or iterate over body',
        {
          response: this,
        },
      );
    }
    return this.#content;
  }

  /** Reads a streamed body to its end and keeps it as `content`. */
  async read(): Promise<Buffer> {
    if (this.#content === undefined) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of this.body) chunks.push(chunk);
      this.#content = Buffer.concat(chunks);
    }
    return this.#content;
  }

  /** The body piece by piece, decompressed; with `stream: true` as it arrives, once. */
  get body(): AsyncIterable<Uint8Array> {
    return this.#iterate();
  }

  /** The body as text in its character set, UTF-8 when none is known. */
  get text(): string {
    const label = this.encoding ?? CHARSET.exec(this.headers.get('Content-Type') ?? '')?.[1];
    return decoded(this.content, label);
  }

  /**
   * The body as JSON; integers beyond 2^53 are bigint. Throws JSONDecodeError, whose message never shows the body.
   */
  json(): JsonValue {
    let value: JsonValue;
    try {
      value = parseJson(this.text);
    } catch (error) {
      if (error instanceof RequestException) throw error;
      throw new JSONDecodeError(
        `the body (${this.content.length} bytes, ${this.headers.get('Content-Type') ?? 'no type'}) is no JSON`,
        { request: this.request, response: this },
      );
    }
    return value;
  }

  /** Throws HTTPError for a status from 400 to 599. */
  raise_for_status(): void {
    if (this.status_code < 400 || this.status_code >= 600) return;
    const side = this.status_code < 500 ? 'client' : 'server';
    throw new HTTPError(`${this.status_code} ${side} error: ${this.reason}`, {
      request: this.request,
      response: this,
    });
  }

  /** Drops what has not been read yet and releases the connection. */
  close(): void {
    this.#taken = true;
    this.#stream?.destroy?.();
    this.#stream = undefined;
  }

  async *#iterate(): AsyncGenerator<Uint8Array> {
    if (this.#content !== undefined) {
      if (this.#content.length > 0) yield this.#content;
      return;
    }
    if (this.#taken || !this.#stream) {
      throw new StreamConsumedError('the body was read or closed before', { response: this });
    }
    this.#taken = true;
    yield* this.#stream;
  }
}

const BYTE_ORDER_MARK = '\uFEFF';

function decoded(bytes: Buffer, label: string | null | undefined): string {
  if (label && !/^utf-?8$/i.test(label)) {
    try {
      return new TextDecoder(label).decode(bytes);
    } catch {
      // An unknown name says nothing: UTF-8.
    }
  }
  const text = bytes.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}
