import { CaseInsensitiveDict, itemsOf, type DictSource } from './structures.js';
import type { Hooks, PreparedBody } from './types.js';

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
export function bodyLength(body: PreparedBody): number | undefined {
  if (body === null) return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.byteLength;
  if (body instanceof Blob) return body.size;
  return undefined;
}
