import { Cookie, CookieJar as ToughCookieJar, MemoryCookieStore, type Store } from 'tough-cookie';
import { isIterable } from './structures.js';

/** Cookies of one request: a map of names and values, or a jar. */
export type RequestCookies = Readonly<Record<string, string>> | CookieJar | ToughCookieJar;

/** Where a cookie set by hand belongs; without a URL it goes to every host. */
export interface CookieScope {
  url?: string | URL;
}

/**
 * The cookie jar of a session: tough-cookie's RFC 6265 jar, plus `get`, `set` and iteration by name as one would
 * use a dictionary. Any tough-cookie store (for example one in a database) can be handed in.
 */
export class CookieJar extends ToughCookieJar implements Iterable<[string, string]> {
  readonly #everywhere = new Map<string, string>();
  readonly #memory: MemoryCookieStore | undefined;

  constructor(store: Store = new MemoryCookieStore()) {
    super(store);
    this.#memory = store instanceof MemoryCookieStore ? store : undefined;
  }

  /** True when there is surely nothing to send; a store that is not in memory is never known to be empty. */
  get isEmpty(): boolean {
    if (this.#everywhere.size > 0 || !this.#memory) return false;
    for (const _domain in this.#memory.idx) return false;
    return true;
  }

  /** The value of the first cookie with that name, for the URL when one is given. Needs a synchronous store. */
  get(name: string, scope: CookieScope = {}): string | undefined {
    const everywhere = this.#everywhere.get(name);
    if (everywhere !== undefined) return everywhere;
    if (scope.url) return this.getCookiesSync(scope.url).find((c) => c.key === name)?.value;
    return this.#stored().find((cookie) => cookie.key === name)?.value;
  }

  /** Sets a cookie for the URL's host, or for every host. */
  set(name: string, value: string, scope: CookieScope = {}): this {
    if (scope.url) this.setCookieSync(`${name}=${value}; Path=/`, scope.url);
    else this.#everywhere.set(name, value);
    return this;
  }

  /** Removes everything. */
  clear(): void {
    this.#everywhere.clear();
    this.removeAllCookiesSync();
  }

  /** Names and values of all cookies. Needs a synchronous store. */
  *[Symbol.iterator](): IterableIterator<[string, string]> {
    yield* this.#everywhere;
    for (const cookie of this.#stored()) yield [cookie.key, cookie.value];
  }

  /**
   * The `Cookie` header for a URL; the cookies in `own` win over stored ones of the same name. 'stored alone' leaves out
   * the cookies that were set for every host.
   */
  async cookie_header(
    url: string,
    cookies?: ReadonlyMap<string, string> | null | 'stored alone',
  ): Promise<string | undefined> {
    const own = cookies === 'stored alone' ? null : cookies;
    if (this.isEmpty && !own?.size) return undefined;
    const pairs = new Map(cookies === 'stored alone' ? [] : this.#everywhere);
    const parts: string[] = [];
    for (const cookie of this.isEmpty ? [] : await this.getCookies(url)) {
      pairs.delete(cookie.key);
      if (!own?.has(cookie.key)) parts.push(cookie.cookieString());
    }
    for (const [name, value] of pairs) if (!own?.has(name)) parts.push(`${name}=${value}`);
    for (const [name, value] of own ?? []) parts.push(`${name}=${value}`);
    return parts.length > 0 ? parts.join('; ') : undefined;
  }

  /** Stores what a response sets; cookies that the rules of RFC 6265 refuse are ignored. */
  async store_cookies(setCookies: readonly string[], url: string): Promise<void> {
    for (const cookie of setCookies) await this.setCookie(cookie, url, { ignoreError: true });
  }

  /** Expired cookies stay in a store until somebody asks for their URL; they do not count. */
  #stored(): Cookie[] {
    const cookies: Cookie[] = [];
    for (const plain of this.serializeSync()?.cookies ?? []) {
      const cookie = Cookie.fromJSON(plain);
      if (cookie && cookie.TTL() > 0) cookies.push(cookie);
    }
    return cookies;
  }
}

/** A jar from whatever may be assigned to a session: a jar is shared, a map goes to every host. */
export function toCookieJar(source: RequestCookies | null | undefined): CookieJar {
  if (source instanceof CookieJar) return source;
  if (source instanceof ToughCookieJar) return new CookieJar(source.store);
  const jar = new CookieJar();
  for (const [name, value] of Object.entries(source ?? {})) jar.set(name, value);
  return jar;
}

/** Names and values of a request's own cookies that are meant for the URL. */
export async function ownCookies(
  source: RequestCookies | null | undefined,
  url: string,
): Promise<Map<string, string> | null> {
  if (!source) return null;
  if (!(source instanceof ToughCookieJar)) return new Map(Object.entries(source));
  const own = new Map<string, string>();
  const header = await toCookieJar(source).cookie_header(url);
  for (const pair of header?.split('; ') ?? []) {
    const split = pair.indexOf('=');
    own.set(pair.slice(0, Math.max(split, 0)), pair.slice(split + 1));
  }
  return own;
}

/** True for what can be assigned as cookies. */
export function isCookieSource(value: unknown): value is RequestCookies {
  if (value instanceof ToughCookieJar) return true;
  return typeof value === 'object' && value !== null && !isIterable(value);
}
