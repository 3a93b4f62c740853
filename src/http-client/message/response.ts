import { STATUS_CODES } from 'node:http';
import { parseJson, type JsonValue } from '#src/kernel/index.js';
import { CookieJar } from './cookies.js';
import { HTTPError, JSONDecodeError, RequestException, StreamConsumedError } from './errors.js';
import type { PreparedRequest } from './prepared-request.js';
import { CaseInsensitiveDict, type DictSource } from './structures.js';

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const NONE: readonly string[] = [];
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;

/** A body that arrives piece by piece. `destroy` drops the connection it comes from. */
export interface ResponseStream extends AsyncIterable<Uint8Array> {
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
