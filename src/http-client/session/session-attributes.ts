import { isCookieSource, toCookieJar, type CookieJar } from '../message/cookies.js';
import { mergeProxies } from '../message/proxies.js';
import { CaseInsensitiveDict } from '../message/structures.js';
import type {
  Auth,
  ClientCert,
  Hooks,
  HooksInput,
  Params,
  RequestCookies,
  RequestHeaders,
  SessionSettings,
  TimeoutSetting,
  Verify,
} from '../message/types.js';
import { toHooks } from './hooks.js';
import { definedHeaders } from './preparation.js';

const DEFAULT_HEADERS: readonly (readonly [string, string])[] = [
  ['User-Agent', 'gridgate'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Accept', '*/*'],
  ['Connection', 'keep-alive'],
];

/** The attributes of a session, which every request of it starts from. */
export class SessionAttributes {
  /** Authentication of requests that bring none. */
  auth: Auth | null;
  /** Client certificate: path of a PEM file, or [certificate, key] paths. */
  cert: ClientCert | null;
  /** Most redirects that one request follows; one more raises TooManyRedirects. */
  max_redirects: number;
  /** Query-string data of every request; lists repeat the name. */
  params: Params;
  /** Proxy URLs by `scheme://host`, `scheme`, `all://host` or `all`. */
  proxies: Record<string, string | null>;
  /** Whether bodies are left to be streamed. */
  stream: boolean;
  /** Whether proxies, CA bundles and .netrc of the environment count. */
  trust_env: boolean;
  /** Whether .netrc counts where `trust_env` is set. */
  use_netrc: boolean;
  /** TLS verification: true, the path of a CA file or directory, or false, which is for tests only. */
  verify: Verify;
  /** Timeout of requests that bring none: seconds, or [connect, read]; null waits for ever. */
  default_timeout: TimeoutSetting | null;
  /** Permits `verify: false` when NODE_ENV is production. */
  allow_insecure_tls: boolean;
  /** Further headers that hold secrets: they do not follow a redirect to another origin. */
  redirect_secret_headers: string[];
  #headers: CaseInsensitiveDict<string | null>;
  #cookies: CookieJar;
  #hooks: Hooks;

  constructor(settings: SessionSettings = {}) {
    this.auth = settings.auth ?? null;
    this.cert = settings.cert ?? null;
    this.max_redirects = settings.max_redirects ?? 30;
    this.params = settings.params ?? {};
    this.proxies = mergeProxies(settings.proxies);
    this.stream = settings.stream ?? false;
    this.trust_env = settings.trust_env ?? true;
    this.use_netrc = settings.use_netrc ?? true;
    this.verify = settings.verify ?? true;
    this.default_timeout = settings.default_timeout ?? null;
    this.allow_insecure_tls = settings.allow_insecure_tls ?? false;
    this.redirect_secret_headers = [...(settings.redirect_secret_headers ?? [])];
    this.#headers = new CaseInsensitiveDict<string | null>(DEFAULT_HEADERS);
    if (settings.headers) this.#headers.update(definedHeaders(settings.headers));
    this.#cookies = toCookieJar(settings.cookies);
    this.#hooks = toHooks(settings.hooks);
  }

  /** Headers of every request, case-insensitive; a null value is not sent. A plain object may be assigned. */
  get headers(): CaseInsensitiveDict<string | null> {
    return this.#headers;
  }

  set headers(source: RequestHeaders | CaseInsensitiveDict<string | null> | null) {
    this.#headers =
      source instanceof CaseInsensitiveDict
        ? source
        : new CaseInsensitiveDict<string | null>(source ? definedHeaders(source) : null);
  }

  /** The cookie jar. A tough-cookie jar (its store is shared) or a map of names and values may be assigned. */
  get cookies(): CookieJar {
    return this.#cookies;
  }

  set cookies(source: RequestCookies | null) {
    if (source !== null && !isCookieSource(source))
      throw new TypeError('cookies must be a jar or a map');
    this.#cookies = toCookieJar(source);
  }

  /** Event hooks; the only event is `response`. */
  get hooks(): Hooks {
    return this.#hooks;
  }

  set hooks(source: HooksInput | null) {
    this.#hooks = toHooks(source);
  }
}
