import { inspect } from 'node:util';
import {
  Session,
  UnrewindableBodyError,
  type CallArguments,
  type PreparedRequest,
  type Response,
} from '#src/http-client/index.js';
import { systemClock, type Clock } from '#src/kernel/index.js';
import { ClientAuthMethods } from './client-auth-methods.js';
import {
  ClientAuth,
  type ClientAuthChoice,
  type ClientAuthFunction,
  type ClientAuthMethod,
  type RequestSignerChoice,
} from './client-auth.js';
import {
  ComplianceHooks,
  type HookType,
  type ComplianceRequestHook,
  type RequestHookType,
  type ComplianceResponseHook,
  type ResponseHookType,
} from './compliance-hooks.js';
import {
  tokenRequestOptions,
  TOKEN_REQUEST_KEYWORDS,
  type RequestParameters,
} from './call-arguments.js';
import { DpopProver } from './dpop.js';
import { ConfigurationError, MissingTokenError, OAuthError } from './oauth-error.js';
import { DEFAULT_LEEWAY, OAuth2Token, type TokenFields } from './oauth2-token.js';
import { callEndpoint, type ProtocolCall, type ProtocolSession } from './protocol-call.js';
import {
  EXTRA_AUTHORIZE_PARAMS,
  metadataOf,
  SESSION_REQUEST_PARAMS,
  sessionSettings,
  type OAuth2ClientOptions,
  type OAuth2RequestOptions,
  type UpdateToken,
} from './session-options.js';
import { isInQuery, requirePlacement, TokenAuth, type TokenPlacement } from './token-auth.js';
import type { ProtocolAnswer } from './token-response.js';

const NONCE_WANTED = /\bDPoP\b.*error="use_dpop_nonce"/is;

/**
 * What every OAuth2 session is made of: its attributes, its token, client authentication, compliance hooks, and
 * requests that carry the token. The operations of the protocol stand in OAuth2Client.
 */
export abstract class OAuth2SessionBase extends Session<OAuth2RequestOptions> {
  static readonly EXTRA_AUTHORIZE_PARAMS = EXTRA_AUTHORIZE_PARAMS;
  static readonly SESSION_REQUEST_PARAMS = SESSION_REQUEST_PARAMS;
  static client_auth_class: typeof ClientAuth = ClientAuth;
  static token_auth_class: typeof TokenAuth = TokenAuth;
  static oauth_error_class: typeof OAuthError = OAuthError;

  readonly EXTRA_AUTHORIZE_PARAMS = EXTRA_AUTHORIZE_PARAMS;
  readonly SESSION_REQUEST_PARAMS = SESSION_REQUEST_PARAMS;
  /** Class that authenticates the client; replaceable here or in a subclass. */
  client_auth_class: typeof ClientAuth;
  /** Class that attaches the token. */
  token_auth_class: typeof TokenAuth;
  /** Class of errors that the server reports. */
  oauth_error_class: typeof OAuthError;
  client_id: string | null;
  client_secret: string | null;
  token_endpoint_auth_method: ClientAuthChoice;
  revocation_endpoint_auth_method: ClientAuthChoice;
  scope: string | readonly string[] | null;
  /** State expected by fetch_token. */
  state: string | null;
  redirect_uri: string | null;
  /** S256: the only one that is sent, with every code_verifier. */
  code_challenge_method: 'S256';
  update_token: UpdateToken | null;
  /** Seconds before its expiry at which a token counts as expired. */
  leeway: number;
  /** What is known about the server: endpoints, issuer, grant_type, and every keyword not known otherwise. */
  metadata: Record<string, unknown>;
  rawBasic: boolean;
  legacyFlows: boolean;
  allowInsecureLoopback: boolean;
  pushed: boolean;
  readonly clock: Clock;
  /** The registered hooks. */
  readonly complianceHooks = new ComplianceHooks();
  /** Makes the proofs of possession when the session was made with `dpop`. */
  readonly dpopProver: DpopProver | undefined;
  readonly #authMethods = new ClientAuthMethods();
  #placement: TokenPlacement = 'header';
  #token: OAuth2Token | null = null;
  #tokenAuth: TokenAuth | undefined;

  /** Throws ConfigurationError for a token_placement that does not exist and for the legacy token_updater. */
  constructor(options: OAuth2ClientOptions = {}) {
    super(sessionSettings(options));
    const classes = new.target;
    this.client_auth_class = classes.client_auth_class;
    this.token_auth_class = classes.token_auth_class;
    this.oauth_error_class = classes.oauth_error_class;
    this.clock = options.clock ?? systemClock;
    this.client_id = options.client_id ?? null;
    this.client_secret = options.client_secret ?? null;
    const method = defaultAuthMethod(this.client_secret);
    this.token_endpoint_auth_method = options.token_endpoint_auth_method ?? method;
    this.revocation_endpoint_auth_method = options.revocation_endpoint_auth_method ?? method;
    this.scope = options.scope ?? null;
    this.state = options.state ?? null;
    this.redirect_uri = options.redirect_uri ?? null;
    this.code_challenge_method = requireS256(options.code_challenge_method);
    this.update_token = options.update_token ?? null;
    this.leeway = options.leeway ?? DEFAULT_LEEWAY;
    this.rawBasic = options.rawBasic ?? false;
    this.legacyFlows = options.legacyFlows ?? false;
    this.allowInsecureLoopback = options.allowInsecureLoopback ?? false;
    this.pushed = options.pushed ?? false;
    this.dpopProver = options.dpop ? new DpopProver(options.dpop, this.clock) : undefined;
    this.metadata = metadataOf(options);
    this.token_placement = options.token_placement ?? 'header';
    this.token = options.token ?? null;
  }

  /** The current token; a dictionary handed in becomes a token object, null clears it. */
  get token(): OAuth2Token | null {
    return this.#token;
  }

  set token(token: TokenFields | OAuth2Token | null | undefined) {
    if (token === null || token === undefined || Object.keys(token).length === 0)
      this.#token = null;
    else if (token instanceof OAuth2Token) this.#token = token;
    else this.#token = new OAuth2Token(token, { clock: this.clock });
  }

  /** Where the token goes: header (default), uri or body. For `uri` a warning is emitted unless `legacyFlows` is set. */
  get token_placement(): TokenPlacement {
    return this.#placement;
  }

  set token_placement(placement: TokenPlacement) {
    requirePlacement(placement);
    if (isInQuery(placement) && !this.legacyFlows) {
      process.emitWarning('token_placement: tokens in URLs leak (RFC 9700 §4.3.2)', 'OAuthWarning');
    }
    this.#placement = placement;
  }

  /** Attaches this session's token; usable as `auth` of any other Session. */
  get token_auth(): TokenAuth {
    if (this.#tokenAuth === undefined || !(this.#tokenAuth instanceof this.token_auth_class)) {
      this.#tokenAuth = new this.token_auth_class(this);
    }
    return this.#tokenAuth;
  }

  /**
   * Renews an expired token if that is possible: true when there is a usable token, null when not. Rejects when the
   * renewal itself fails.
   */
  abstract ensure_active_token(token?: OAuth2Token | TokenFields | null): Promise<true | null>;

  /**
   * The client's authentication by a method's name, function or object (default client_secret_basic). Throws
   * ConfigurationError for an unknown name.
   */
  client_auth(auth_method?: ClientAuthChoice | null): ClientAuth {
    const method = this.#authMethods.find(auth_method ?? 'client_secret_basic');
    return new this.client_auth_class(this, method);
  }

  /** Registers a method of client authentication: [name, function] or an object with `name` and `prepare`. */
  register_client_auth_method(
    auth: readonly [string, ClientAuthFunction] | ClientAuthMethod,
  ): void {
    this.#authMethods.register(auth);
  }

  /** Registers a hook; hooks run in the order of registration. Throws ConfigurationError for an unknown type. */
  register_compliance_hook(hook_type: RequestHookType, hook: ComplianceRequestHook): void;
  register_compliance_hook(hook_type: ResponseHookType, hook: ComplianceResponseHook): void;
  register_compliance_hook(
    hook_type: HookType,
    hook: ComplianceRequestHook | ComplianceResponseHook,
  ): void {
    this.complianceHooks.register(hook_type, hook);
  }

  /**
   * Sends a request with the token, which is renewed first when it is expired: `request(method, url, withhold_token,
   * auth, {…})`. `withhold_token` or an explicit `auth` leave the token out. A 401 is answered as it is. Throws MissingTokenError before any I/O,
   * InvalidTokenError when the token is expired and cannot be renewed, RequestException for the network's faults.
   */
  override async request(
    method: string,
    url: string | URL,
    ...given: CallArguments<RequestParameters, OAuth2RequestOptions>
  ): Promise<Response> {
    const { withhold_token, ...options } = tokenRequestOptions(given, this.keywords);
    const auth = options.auth ?? null;
    if (withhold_token === true || auth !== null) return this.perform(method, url, options, auth);
    if (this.#token === null) throw new MissingTokenError();
    if (this.dpopProver === undefined) return this.perform(method, url, options, this.token_auth);
    return this.requestWithProof(method, url, options);
  }

  protected override get keywords(): ReadonlySet<string> {
    return TOKEN_REQUEST_KEYWORDS;
  }

  /** As in a Session; a proof of possession is made anew, since it holds for one method and URL only. */
  override rebuild_auth(prepared: PreparedRequest, response: Response): void {
    super.rebuild_auth(prepared, response);
    const accessToken = /^DPoP (.+)$/.exec(prepared.headers.get('Authorization') ?? '')?.[1];
    if (this.dpopProver === undefined || accessToken === undefined) return;
    const { method, url } = prepared;
    prepared.headers.set('DPoP', this.dpopProver.proof({ method, url, accessToken }));
  }

  /** What a log may see: never the secret or the token. */
  toJSON(): { client_id: string | null } {
    return { client_id: this.client_id };
  }

  /** For consoles and logs: nothing secret is shown. */
  [inspect.custom](): string {
    return `${this.constructor.name} { client_id: ${String(this.client_id)} }`;
  }

  /** Carries out a protocol call in this session: its proxies, CA bundles, client certificate and hooks. */
  protected callProtocol(call: ProtocolCall): Promise<ProtocolAnswer> {
    const session: ProtocolSession = {
      hooks: this.complianceHooks,
      clock: this.clock,
      errorClass: this.oauth_error_class,
      allowInsecureLoopback: this.allowInsecureLoopback,
      clientSecret: this.client_secret,
      dpop: this.dpopProver,
      defaultTimeout: this.default_timeout,
      send: (method, url, options) => this.perform(method, url, options, options.auth ?? null),
    };
    return callEndpoint(session, call);
  }

  /** How a call authenticates: by what the caller gave, else by the method. */
  protected authenticationOf(
    given: RequestSignerChoice | null | undefined,
    method: ClientAuthChoice,
  ): Pick<ProtocolCall, 'auth' | 'signer'> {
    if (given === null || given === undefined) return { signer: this.client_auth(method) };
    if (typeof given === 'object' && 'prepare' in given) return { signer: given };
    return { auth: given };
  }

  private async requestWithProof(
    method: string,
    url: string | URL,
    options: OAuth2RequestOptions,
  ): Promise<Response> {
    const send = (): Promise<Response> => this.perform(method, url, options, this.token_auth);
    const response = await send();
    const isNew = this.dpopProver?.learnNonce(response) === true;
    const wanted = NONCE_WANTED.test(response.headers.get('WWW-Authenticate') ?? '');
    if (response.status_code !== 401 || !isNew || !wanted) return response;
    try {
      const repeated = await send();
      response.close();
      return repeated;
    } catch (error) {
      if (error instanceof UnrewindableBodyError) return response;
      response.close();
      throw error;
    }
  }
}

/** Throws ConfigurationError for another method than S256, which a code_verifier always gets (RFC 9700 §2.1.1). */
function requireS256(method: string | null | undefined): 'S256' {
  if (method === undefined || method === null || method === 'S256') return 'S256';
  throw new ConfigurationError('code_challenge_method may be S256');
}

/** How a client authenticates that says nothing about it. */
export function defaultAuthMethod(client_secret: string | null): string {
  return client_secret ? 'client_secret_basic' : 'none';
}

/** Throws ConfigurationError unless the method is one for token requests. */
export function requireTokenMethod(method: string): 'GET' | 'POST' {
  const name = method.toUpperCase();
  if (name === 'POST' || name === 'GET') return name;
  throw new ConfigurationError('a token request is POST or GET');
}
