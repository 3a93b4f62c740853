import { AdapterRegistry } from './adapters.js';
import {
  isDictionary,
  requireArgument,
  requireText,
  type CallArguments,
} from '../message/arguments.js';
import { basicAuthorization } from '../message/auth.js';
import { environmentCaBundle, environmentProxies } from '../message/environment.js';
import { runResponseHooks } from './hooks.js';
import { InsecureTls } from './insecure-tls.js';
import { HttpAdapter } from '../transport/http-adapter.js';
import { netrcAuth } from './netrc.js';
import { prepareRequest } from './preparation.js';
import { PreparedRequest, Response } from '../message/messages.js';
import {
  mergeProxies,
  rebuildProxies,
  select_proxy,
  should_bypass_proxies,
} from '../message/proxies.js';
import { followRedirects, redirected } from './redirect-chain.js';
import { rebuildMethod, redirectTarget, shouldStripAuth, stripCredentials } from './redirects.js';
import { Request } from './request.js';
import { checkedTimeout, remainingSeconds } from '../message/time-limits.js';
import {
  mergeOptions,
  requestOptions,
  REQUEST_KEYWORDS,
  verbOptions,
  type Verb,
} from './request-arguments.js';
import { SessionAttributes } from './session-attributes.js';
import type {
  Adapter,
  AdapterOptions,
  Auth,
  DataContent,
  MergeArguments,
  MergedSettings,
  PostContent,
  Proxies,
  ProxyMap,
  RedirectOptions,
  RequestLike,
  RequestOptions,
  SendOptions,
  SessionSettings,
} from '../message/types.js';

/**
 * An HTTP session: settings, cookies and connections shared by its requests. The attributes and operations are those
 * of the interface's client component; settings of a call win over the environment's (where `trust_env` allows
 * it), these over the session's. All faults of a request are RequestExceptions; an aborted `signal` rejects with
 * the signal's reason. Close a session that is no longer needed.
 */
export class Session<O extends RequestOptions = RequestOptions> extends SessionAttributes {
  #adapters = new AdapterRegistry();
  readonly #insecure = new InsecureTls();

  constructor(settings: SessionSettings = {}) {
    super(settings);
    const adapter = new HttpAdapter();
    this.mount('https://', adapter);
    this.mount('http://', adapter);
  }

  /**
   * Prepares and sends a request, follows redirects (unless `allow_redirects` is false) and reads the body (unless
   * `stream` is true).
   */
  async request(
    method: string,
    url: string | URL,
    ...given: CallArguments<[], O>
  ): Promise<Response> {
    const options = requestOptions(given, this.keywords);
    return this.perform(method, url, options, options.auth ?? null);
  }

  /** The names that the options of a request may have. */
  protected get keywords(): ReadonlySet<string> {
    return REQUEST_KEYWORDS;
  }

  /** `request` with the authentication beside its options: a copy of the options would cost more than the rest. */
  protected async perform(
    method: string,
    url: string | URL,
    options: RequestOptions,
    auth: Auth | null,
  ): Promise<Response> {
    const startedAt = options.deadline === undefined ? 0 : performance.now();
    const request = new Request(method, url, options);
    request.auth = auth;
    const prepared = await this.prepare_request(request, { use_netrc: options.use_netrc });
    const { proxies, stream, verify, cert } = this.merge_environment_settings(
      prepared.url,
      options.proxies,
      options.stream,
      options.verify,
      options.cert,
    );
    return this.send(prepared, {
      timeout: options.timeout === undefined ? this.default_timeout : options.timeout,
      allow_redirects: options.allow_redirects ?? true,
      signal: options.signal ?? null,
      max_response_bytes: options.max_response_bytes ?? null,
      deadline: remainingSeconds(options.deadline, startedAt),
      proxies,
      stream,
      verify,
      cert,
      call_proxies: options.proxies ?? null,
    });
  }

  /** GET. */
  get(url: string | URL, ...options: CallArguments<[], O>): Promise<Response> {
    return this.#verb('GET', url, options);
  }

  /** HEAD; does not follow redirects unless `allow_redirects` is true. */
  head(url: string | URL, ...options: CallArguments<[], O>): Promise<Response> {
    return this.#verb('HEAD', url, options);
  }

  /** OPTIONS. */
  options(url: string | URL, ...options: CallArguments<[], O>): Promise<Response> {
    return this.#verb('OPTIONS', url, options);
  }

  /**
   * POST with `data`, else with `json`: `post(url, data, json, {…})`. In the last place an object whose members are all
   * names of options is the options, anything else is the data (the json).
   */
  post(url: string | URL, ...content: CallArguments<PostContent, O>): Promise<Response> {
    return this.#verb('POST', url, content);
  }

  /** PUT with `data`: `put(url, data, {…})`; what is data and what the options as in `post`. */
  put(url: string | URL, ...content: CallArguments<DataContent, O>): Promise<Response> {
    return this.#verb('PUT', url, content);
  }

  /** PATCH with `data`, like PUT. */
  patch(url: string | URL, ...content: CallArguments<DataContent, O>): Promise<Response> {
    return this.#verb('PATCH', url, content);
  }

  /** DELETE. */
  delete(url: string | URL, ...options: CallArguments<[], O>): Promise<Response> {
    return this.#verb('DELETE', url, options);
  }

  async #verb(method: Verb, url: string | URL, given: readonly unknown[]): Promise<Response> {
    return this.request(method, url, verbOptions(method, given, this.keywords) as O);
  }

  /**
   * Merges the request with the session's cookies, headers, query, hooks and authentication and encodes it. Auth
   * callables run last. `use_netrc: false` keeps .netrc out of this request.
   */
  async prepare_request(
    request: Request | RequestLike,
    options: { use_netrc?: boolean | undefined } = {},
  ): Promise<PreparedRequest> {
    return prepareRequest(request, {
      headers: this.headers,
      params: this.params,
      cookies: this.cookies,
      auth: this.auth,
      hooks: this.hooks,
      netrc: this.trust_env && (options.use_netrc ?? this.use_netrc),
    });
  }

  /**
   * Sends a prepared request. Throws TypeError for anything else: a plain object has not been merged and checked.
   */
  async send(prepared: PreparedRequest, options: SendOptions = {}): Promise<Response> {
    requirePrepared('send', prepared);
    const startedAt = options.deadline === undefined ? 0 : performance.now();
    const settings = this.#adapterOptions(prepared, options);
    const adapter = this.get_adapter(prepared.url);
    const answer = await adapter.send(prepared, settings);
    if (answer.set_cookies.length > 0) {
      await this.cookies.store_cookies(answer.set_cookies, prepared.url);
    }
    const hooks = prepared.hooks.response;
    const response = hooks.length > 0 ? await runResponseHooks(hooks, answer, settings) : answer;
    if (!settings.stream && !response.is_read) await response.read();
    if (!response.is_redirect) return response;
    const deadline = remainingSeconds(options.deadline, startedAt);
    return redirected(this, response, prepared, { ...options, deadline });
  }

  /** The adapter for a URL: the longest mounted prefix wins. Throws InvalidSchema when there is none. */
  get_adapter(url: string): Adapter {
    requireText('get_adapter', 'url', url);
    return this.#adapters.find(url);
  }

  /**
   * Mounts an adapter for all URLs that start with the prefix, in any case. Mind that `https://h.test` also covers
   * `https://h.test.evil.test`: end a host with a slash.
   */
  mount(prefix: string, adapter: Adapter): void {
    requireText('mount', 'prefix', prefix);
    const fits = isDictionary(adapter) && typeof adapter.send === 'function';
    requireArgument(adapter, { operation: 'mount', name: 'adapter', fits });
    this.#adapters.mount(prefix, adapter);
  }

  /** Closes all adapters; what is under way ends with a ConnectionError. The session may be used again. */
  async close(): Promise<void> {
    await this.#adapters.close();
  }

  /**
   * The settings of a call after merging: proxies are those of the call, then of the environment, then of the
   * session (none of the latter two when no_proxy covers the URL); verify, stream and cert are the call's, then the
   * session's. Where verify is merely true, a CA bundle of the environment is used: a path or false wins over it.
   */
  merge_environment_settings(url: string, ...given: MergeArguments): MergedSettings {
    requireText('merge_environment_settings', 'url', url);
    const { proxies, stream, verify, cert } = mergeOptions(given);
    const chosen = verify ?? this.verify;
    const bundle = this.trust_env && chosen === true ? environmentCaBundle() : undefined;
    return {
      proxies: this.#mergeProxies(url, proxies),
      stream: stream ?? this.stream,
      verify: bundle ?? chosen,
      cert: cert ?? this.cert,
    };
  }

  /** The Location of a redirect, or null. */
  get_redirect_target(response: Response): string | null {
    requireResponse('get_redirect_target', response);
    return redirectTarget(response);
  }

  /**
   * Follows a redirect: yields the response of each hop, or with `yield_requests` each request instead of sending
   * it. Throws TooManyRedirects when `max_redirects` hops were followed and the last response redirects again.
   */
  resolve_redirects(
    response: Response,
    prepared: PreparedRequest,
    options: RedirectOptions & { yield_requests: true },
  ): AsyncGenerator<PreparedRequest, void, undefined>;
  resolve_redirects(
    response: Response,
    prepared: PreparedRequest,
    options?: RedirectOptions & { yield_requests?: false },
  ): AsyncGenerator<Response, void, undefined>;
  resolve_redirects(
    response: Response,
    prepared: PreparedRequest,
    options: RedirectOptions = {},
  ): AsyncGenerator<Response | PreparedRequest, void, undefined> {
    requireResponse('resolve_redirects', response);
    requirePrepared('resolve_redirects', prepared);
    return followRedirects(this, response, prepared, options);
  }

  /** Removes credentials that the new URL must not see; .netrc may give new ones, but never replaces any. */
  rebuild_auth(prepared: PreparedRequest, response: Response): void {
    requirePrepared('rebuild_auth', prepared);
    requireResponse('rebuild_auth', response);
    if (this.should_strip_auth(response.request.url, prepared.url)) {
      stripCredentials(prepared, this.redirect_secret_headers);
    }
    if (!this.trust_env || !prepared.uses_netrc || prepared.headers.has('Authorization')) return;
    const found = netrcAuth(prepared.url);
    if (found) prepared.headers.set('Authorization', basicAuthorization(found[0], found[1]));
  }

  /** Sets the method that the redirect asks for. */
  rebuild_method(prepared: PreparedRequest, response: Response): void {
    requirePrepared('rebuild_method', prepared);
    requireResponse('rebuild_method', response);
    rebuildMethod(prepared, response);
  }

  /**
   * The proxies for a redirected request: none (beside `call_proxies`) when no_proxy covers its URL, else the given
   * ones completed from the environment. Replaces the Proxy-Authorization header.
   */
  rebuild_proxies(
    prepared: PreparedRequest,
    proxies?: Proxies | null,
    call_proxies?: Proxies | null,
  ): ProxyMap {
    requirePrepared('rebuild_proxies', prepared);
    return rebuildProxies(prepared, proxies, {
      trust_env: this.trust_env,
      pinned: call_proxies,
      no_proxy: this.proxies['no_proxy'],
    });
  }

  /** True when Authorization must be dropped on the way from the old to the new URL. */
  should_strip_auth(old_url: string, new_url: string): boolean {
    requireText('should_strip_auth', 'old_url', old_url);
    requireText('should_strip_auth', 'new_url', new_url);
    return shouldStripAuth(old_url, new_url);
  }

  #mergeProxies(url: string, proxies: Proxies | null | undefined): ProxyMap {
    if (!this.trust_env) return mergeProxies(proxies, this.proxies);
    const all = mergeProxies(proxies, environmentProxies(), this.proxies);
    if (select_proxy(url, all) === undefined) return all;
    const isBypassed = should_bypass_proxies(url, all['no_proxy']);
    return isBypassed ? mergeProxies(proxies) : all;
  }

  #adapterOptions(prepared: PreparedRequest, options: SendOptions): AdapterOptions {
    const verify = options.verify ?? this.verify;
    if (verify === false) this.#insecure.check(prepared, this.allow_insecure_tls);
    return {
      timeout: checkedTimeout(options.timeout),
      proxies:
        options.call_proxies === undefined
          ? this.#mergeProxies(prepared.url, options.proxies)
          : (options.proxies ?? {}),
      stream: options.stream ?? this.stream,
      verify,
      cert: options.cert ?? this.cert,
      signal: options.signal ?? null,
      max_response_bytes: options.max_response_bytes ?? null,
      deadline: options.deadline ?? null,
    };
  }
}

function requirePrepared(operation: string, prepared: unknown): void {
  const fits = prepared instanceof PreparedRequest;
  requireArgument(prepared, { operation, name: 'prepared', fits });
}

function requireResponse(operation: string, response: unknown): void {
  requireArgument(response, { operation, name: 'response', fits: response instanceof Response });
}
