import { isDictionary, type ClientCert, type Response } from '#src/http-client/index.js';
import { authorizationRequest, pushEndpoint, pushedUrl } from './authorization-request.js';
import {
  callArguments,
  type AuthorizationUrlArguments,
  type FetchTokenArguments,
  type RefreshTokenArguments,
  type TokenStatusArguments,
} from './call-arguments.js';
import { isMutualTls } from './client-auth.js';
import type { HookHeaders, RequestHookType, ResponseHookType } from './compliance-hooks.js';
import { requireAuthorizationUrl } from './endpoint.js';
import { ConfigurationError, InvalidResponseError, MissingTokenError } from './oauth-error.js';
import { OAuth2Token, type TokenFields } from './oauth2-token.js';
import {
  addParameters,
  addToQuery,
  fragmentOf,
  parseForm,
  queryOf,
  tokenFromFragment,
} from './parameters.js';
import { requireFitting } from './required.js';
import { requireTokenMethod, OAuth2SessionBase } from './session-base.js';
import {
  splitCall,
  type AuthorizationUrlOptions,
  type FetchTokenOptions,
  type RefreshTokenOptions,
  type TokenCallOptions,
  type TokenStatusOptions,
} from './session-options.js';
import { SingleFlight } from './single-flight.js';
import { buildGrant, expectedAnswer, type GrantDefaults } from './token-grants.js';
import {
  parseIntrospection,
  parseObject,
  parseToken,
  requireSuccess,
  type ProtocolAnswer,
} from './token-response.js';

/** Endpoints by their metadata name (RFC 8414 §2, RFC 8628 §4, RFC 9126 §5). */
export type EndpointName =
  | 'token_endpoint'
  | 'revocation_endpoint'
  | 'introspection_endpoint'
  | 'device_authorization_endpoint'
  | 'userinfo_endpoint'
  | 'pushed_authorization_request_endpoint';

/** A form to post to an endpoint. */
export interface FormCall {
  endpoint: EndpointName;
  url?: string | null | undefined;
  form: URLSearchParams;
  options: TokenCallOptions;
  method?: 'GET' | 'POST';
  requestHook?: RequestHookType;
  responseHook?: ResponseHookType;
  /** Client authentication method; default that of the token endpoint. */
  isRevocation?: boolean;
}

/** The introspection answer (RFC 7662 §2.2). */
export type Introspection = Record<string, unknown> & { active: boolean };

const FORM_HEADERS: HookHeaders = {
  Accept: 'application/json',
  'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8',
};
const CLIENT_CREDENTIALS = 'client_credentials';

/** The caller's headers over the defaults, whatever their case. */
function headersOver(
  defaults: HookHeaders,
  given: Readonly<Record<string, string>> | null | undefined,
): HookHeaders {
  const names = new Set(Object.keys(given ?? {}).map((name) => name.toLowerCase()));
  const kept = Object.entries(defaults).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...given };
}

/**
 * The general OAuth2 HTTP client session (interface "What the service does" 5): a Session that holds a token,
 * obtains, renews, revokes and introspects tokens and sends requests with them. Keywords are the interface's
 * constructor parameters and Session settings; unknown ones become `metadata`, where `token_endpoint`,
 * `revocation_endpoint`, `introspection_endpoint` stand in for a missing url and `grant_type` for a missing grant.
 * All endpoints must be https (InsecureTransportError). Protocol calls follow no redirect and take at most 10 s.
 */
export class OAuth2Client extends OAuth2SessionBase {
  readonly #renewals = new SingleFlight<OAuth2Token>();
  /** How the current token was obtained, when the same request can obtain the next one. */
  #repeatable: { token: OAuth2Token; options: FetchTokenOptions } | undefined;

  /**
   * Makes the URL for the user's browser (RFC 6749 §4.1.1) and answers it with its state, which is generated when
   * absent. Further keywords become query members; null drops one, lists repeat it. A pushed request (RFC 9126) is
   * made where the server requires it or `pushed` is set and it is offered.
   */
  async create_authorization_url(
    ...given: AuthorizationUrlArguments
  ): Promise<[authorization_url: string, state: string]> {
    const { url: place, options } = callArguments<AuthorizationUrlOptions>(
      'create_authorization_url',
      given,
    );
    const url = place ?? '';
    requireAuthorizationUrl(url, this.allowInsecureLoopback);
    const { query, state } = authorizationRequest(options, this);
    const endpoint = pushEndpoint(this.metadata, this.pushed);
    if (endpoint === undefined) return [addToQuery(url, query.toString()), state];
    const answer = await this.postForm({
      endpoint: 'pushed_authorization_request_endpoint',
      form: query,
      options: {},
    });
    const { request_uri: requestUri } = parseObject(answer);
    if (typeof requestUri !== 'string' || requestUri === '') {
      throw new InvalidResponseError('the server answers no request_uri');
    }
    return [pushedUrl(url, this.client_id ?? '', requestUri), state];
  }

  /**
   * Obtains a token (RFC 6749 §4) and keeps it as the session's. The grant is said by grant_type, by the metadata or
   * by a code; it is never guessed. With `authorization_response` the code is taken from that URL after error,
   * state and iss were checked. Throws the server's OAuth error, HttpError, InvalidResponseError, MissingCodeError,
   * MismatchingStateError, ConfigurationError.
   */
  async fetch_token(...given: FetchTokenArguments): Promise<OAuth2Token> {
    const { url, options } = callArguments<FetchTokenOptions>('fetch_token', given);
    const { authorization_response: response, state } = options;
    if (response && fragmentOf(response) !== undefined && !queryOf(response).has('code')) {
      return this.token_from_fragment(response, state);
    }
    const { token, grantType } = await this.obtainToken(url, options);
    this.token = token;
    if (grantType === CLIENT_CREDENTIALS) this.#repeatable = { token, options };
    return token;
  }

  /** The same as fetch_token. */
  fetch_access_token(...given: FetchTokenArguments): Promise<OAuth2Token> {
    return this.fetch_token(...given);
  }

  /**
   * Takes a token from the fragment of an authorization answer (RFC 6749 §4.2.2) and keeps it. Tokens in URLs leak
   * (RFC 9700 §2.1.2): better ask for a code.
   */
  token_from_fragment(authorization_response: string, state?: string | null): OAuth2Token {
    const answer = authorization_response;
    const [operation, expected] = ['token_from_fragment', state ?? ''];
    requireFitting(operation, 'authorization_response', answer, typeof answer === 'string');
    requireFitting(operation, 'state', state, typeof expected === 'string');
    const fragment = fragmentOf(answer) ?? '';
    const fields = tokenFromFragment(fragment, expectedAnswer(this.grantDefaults(), state));
    const token = new OAuth2Token(fields, { clock: this.clock });
    this.token = token;
    return token;
  }

  /**
   * Renews the token (RFC 6749 §6) and keeps it; the sent refresh token stays when the answer has none. Sends a
   * scope only when asked to. Then awaits update_token(token, {refresh_token: sent}). Throws MissingTokenError when
   * there is no refresh token; when the server refuses, the old token stays.
   */
  async refresh_token(...given: RefreshTokenArguments): Promise<OAuth2Token> {
    const { url, options } = callArguments<RefreshTokenOptions>('refresh_token', given);
    const { refresh_token: own = this.token?.refresh_token } = options;
    const refreshToken: unknown = own;
    if (typeof refreshToken !== 'string' || refreshToken === '') {
      throw new MissingTokenError('there is no refresh token');
    }
    const renew = async (): Promise<OAuth2Token> => {
      const token = await this.renewToken(url, refreshToken, options);
      this.token = token;
      await this.update_token?.(token, { refresh_token: refreshToken });
      return token;
    };
    const isPlain = Object.keys(options).every((name) => name === 'refresh_token');
    return isPlain ? this.#renewals.run(`refresh:${refreshToken}`, renew) : renew();
  }

  /**
   * Revokes a token (RFC 7009), by default the session's refresh token, else its access token; the session forgets
   * its token when that was it. Throws UnsupportedTokenTypeError, HttpError (503 with retryAfter), the server's
   * error.
   */
  async revoke_token(...given: TokenStatusArguments): Promise<Response> {
    const { url, options } = callArguments<TokenStatusOptions>('revoke_token', given);
    const { form, token } = this.statusForm(options);
    const answer = await this.postForm({
      endpoint: 'revocation_endpoint',
      url,
      form,
      options,
      requestHook: 'revoke_token_request',
      responseHook: 'revoke_token_response',
      isRevocation: true,
    });
    requireSuccess(answer);
    const { access_token, refresh_token } = this.token ?? {};
    if (token === access_token || token === refresh_token) this.token = null;
    return answer.response;
  }

  /** Asks the server about a token (RFC 7662); `active` says whether it counts. Anything but 200 is an error. */
  async introspect_token(...given: TokenStatusArguments): Promise<Introspection> {
    const { url, options } = callArguments<TokenStatusOptions>('introspect_token', given);
    const answer = await this.postForm({
      endpoint: 'introspection_endpoint',
      url,
      form: this.statusForm(options).form,
      options,
      requestHook: 'introspect_token_request',
      responseHook: 'introspect_token_response',
    });
    return parseIntrospection(answer);
  }

  /**
   * Renews an expired token: by its refresh token, or by client credentials where those made it. At most one renewal
   * of a token runs at a time, all callers share it. A token that nothing can renew is used until it really
   * expires. Answers true when there is a usable token, null when not; rejects when the renewal fails.
   */
  async ensure_active_token(
    token: OAuth2Token | TokenFields | null | undefined = this.token,
  ): Promise<true | null> {
    if (token === null || token === undefined) return null;
    requireFitting('ensure_active_token', 'token', token, isDictionary(token));
    const current =
      token instanceof OAuth2Token ? token : new OAuth2Token(token, { clock: this.clock });
    if (current.is_expired(this.leeway) !== true) return true;
    const renewed = await this.renew(current);
    return (renewed ?? current).is_expired(0) === true ? null : true;
  }

  /** The endpoint: what was given, else what the metadata say, where a client certificate is used their mTLS alias. */
  protected endpointUrl(
    name: EndpointName,
    given?: string | null,
    cert: ClientCert | null = this.cert,
  ): Promise<string> {
    const url = given ?? this.aliasOf(name, cert) ?? this.metadata[name];
    if (typeof url !== 'string' || url === '') {
      return Promise.reject(new ConfigurationError(`the ${name} is not known`));
    }
    return Promise.resolve(url);
  }

  /** Posts a form with client authentication. */
  protected async postForm(call: FormCall): Promise<ProtocolAnswer> {
    const { endpoint, form, options, method = 'POST', isRevocation = false } = call;
    const { http } = splitCall(options);
    const cert = http.cert ?? this.cert;
    const url = await this.endpointUrl(endpoint, call.url, cert);
    const chosen = isRevocation
      ? this.revocation_endpoint_auth_method
      : this.token_endpoint_auth_method;
    if (isMutualTls(chosen) && !options.auth && !cert) {
      throw new ConfigurationError('this client authentication needs a client certificate (cert)');
    }
    const isGet = method === 'GET';
    return this.callProtocol({
      endpoint: endpoint.replaceAll('_', ' '),
      method,
      url: isGet ? addToQuery(url, form.toString()) : url,
      headers: headersOver(isGet ? { Accept: 'application/json' } : FORM_HEADERS, options.headers),
      body: isGet ? '' : form.toString(),
      http,
      ...(call.requestHook === undefined ? {} : { requestHook: call.requestHook }),
      ...(call.responseHook === undefined ? {} : { responseHook: call.responseHook }),
      ...this.authenticationOf(options.auth, chosen),
    });
  }

  /** A token by a grant, without keeping it. */
  protected async obtainToken(
    url: string | null | undefined,
    options: FetchTokenOptions,
  ): Promise<{ token: OAuth2Token; grantType: string }> {
    const method = requireTokenMethod(options.method ?? 'POST');
    const { form, grantType } = buildGrant(options, this.grantDefaults());
    const answer = await this.postForm({
      endpoint: 'token_endpoint',
      url,
      form,
      options,
      method,
      requestHook: 'access_token_request',
      responseHook: 'access_token_response',
    });
    return { token: parseToken(answer), grantType };
  }

  /** A token by a refresh token, without keeping it. */
  protected async renewToken(
    url: string | null | undefined,
    refreshToken: string,
    options: TokenCallOptions = {},
  ): Promise<OAuth2Token> {
    const { fields } = splitCall(options, ['refresh_token', 'grant_type']);
    const form = parseForm(options.body);
    form.set('grant_type', 'refresh_token');
    form.set('refresh_token', refreshToken);
    addParameters(form, fields);
    const answer = await this.postForm({
      endpoint: 'token_endpoint',
      url,
      form,
      options,
      requestHook: 'refresh_token_request',
      responseHook: 'refresh_token_response',
    });
    const token = parseToken(answer);
    token.refresh_token ||= refreshToken;
    return token;
  }

  /** What token requests read of this session. */
  protected grantDefaults(): GrantDefaults {
    const { scope, redirect_uri, state, metadata, legacyFlows } = this;
    return {
      scope,
      redirect_uri,
      state,
      metadata,
      legacyFlows,
      errorClass: this.oauth_error_class,
    };
  }

  private aliasOf(name: EndpointName, cert: ClientCert | null): unknown {
    const { metadata, token_endpoint_auth_method, revocation_endpoint_auth_method } = this;
    const bound = metadata['tls_client_certificate_bound_access_tokens'] === true;
    const methods = [token_endpoint_auth_method, revocation_endpoint_auth_method];
    if (cert === null || !(bound || methods.some(isMutualTls))) return undefined;
    const aliases = metadata['mtls_endpoint_aliases'];
    if (typeof aliases !== 'object' || aliases === null) return undefined;
    return (aliases as Record<string, unknown>)[name];
  }

  private statusForm(options: TokenStatusOptions): { form: URLSearchParams; token: string } {
    const own = this.token?.refresh_token ?? this.token?.access_token;
    const token = options.token === undefined ? own : options.token;
    if (typeof token !== 'string' || token === '') throw new MissingTokenError();
    const form = parseForm(options.body);
    form.set('token', token);
    if (options.token_type_hint) form.set('token_type_hint', options.token_type_hint);
    return { form, token };
  }

  private async renew(token: OAuth2Token): Promise<OAuth2Token | undefined> {
    const { refresh_token } = token;
    if (!(this.metadata['token_endpoint'] || this.canFindEndpoints)) return undefined;
    if (typeof refresh_token === 'string' && refresh_token !== '') {
      return this.refresh_token(null, { refresh_token });
    }
    const options = this.repeatOptions(token);
    if (options === undefined) return undefined;
    return this.#renewals.run(`repeat:${String(token.access_token)}`, async () => {
      const renewed = await this.fetch_token(null, options);
      await this.update_token?.(renewed, { access_token: String(token.access_token) });
      return renewed;
    });
  }

  private repeatOptions(token: OAuth2Token): FetchTokenOptions | undefined {
    if (this.#repeatable?.token === token) return this.#repeatable.options;
    if (this.metadata['grant_type'] !== CLIENT_CREDENTIALS) return undefined;
    return { grant_type: CLIENT_CREDENTIALS };
  }

  /** Whether endpoints can be looked up beyond the metadata at hand. */
  // eslint-disable-next-line @typescript-eslint/class-literal-property-style -- a getter takes its place in id-provider
  protected get canFindEndpoints(): boolean {
    return false;
  }
}
