import type { Result } from '#src/kernel/index.js';
import {
  addParameters,
  ConfigurationError,
  createCodeVerifier,
  MissingTokenError,
  randomAlphanumeric,
  requireFitting,
  SingleFlight,
  type OAuth2Token,
  type TokenFields,
} from '#src/oauth2-client/index.js';
import { readAnswer, requireRoomForToken } from '../flows/authorization-code-flow.js';
import { DEFAULT_METADATA, JWKS_REFRESH_RATE, METADATA_REFRESH_RATE } from '../verify/constants.js';
import {
  DEVICE_INTERVAL_SECONDS,
  DEVICE_TIMEOUT_SECONDS,
  deviceInstructions,
  limitsOfReply,
  parseDeviceAuthorization,
  waitForToken,
  type DeviceAuthorization,
} from '../flows/device-code-flow.js';
import { splitScopes } from './group-scopes.js';
import type { JsonWebKeySet } from '../verify/key-set.js';
import { LOGIN_SESSION_SECONDS, type LoginSessionRecord } from '../flows/login-sessions.js';
import { providerCall, type DeviceWaitCall, type ProviderArguments } from './provider-arguments.js';
import { ProviderClaims } from './provider-claims.js';
import { asResult, orOAuthError } from './provider-result.js';
import {
  checkBinding,
  unverifiedClaims,
  verifySignedToken,
  type TokenClaims,
} from '../verify/token-verifier.js';
import { profileOf, type UserProfile } from './user-claims.js';

/** What parseAuthResponse answers: who logged in, and the claims that say so. */
export type LoginResult = [profile: UserProfile, claims: TokenClaims];

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

function requireText(operation: string, name: string, value: unknown): void {
  requireFitting(operation, name, value, typeof value === 'string');
}

function requireToken(token: unknown): asserts token is string {
  if (typeof token !== 'string' || token === '') throw new MissingTokenError();
}

/**
 * An external identity provider (interface "What the service does" 5, GRID.Resources.IdProvider.OAuth2IdProvider).
 * Made with the keywords of one configuration section. Its own operations keep nothing of a user: one instance serves
 * all. Those that answer a token or claims throw OAuthError; the others answer S_OK/S_ERROR and never throw for data or
 * the network. Parameters are given by their places or by name in one object. The operations of the session
 * (`fetch_token`, `request`, `token` …) are inherited and belong to whoever owns the instance.
 */
export class OAuth2IdProvider extends ProviderClaims {
  static readonly DEFAULT_METADATA = DEFAULT_METADATA;
  static readonly JWKS_REFRESH_RATE = JWKS_REFRESH_RATE;
  static readonly METADATA_REFRESH_RATE = METADATA_REFRESH_RATE;

  readonly DEFAULT_METADATA = DEFAULT_METADATA;
  readonly JWKS_REFRESH_RATE = JWKS_REFRESH_RATE;
  readonly METADATA_REFRESH_RATE = METADATA_REFRESH_RATE;
  readonly #refreshes = new SingleFlight<OAuth2Token>();
  /** The last refresh of each refresh token, so that two of them never run side by side. */
  readonly #queues = new Map<string, Promise<unknown>>();

  /** Fetches the provider's metadata now, whatever their age; keywords are settings of the HTTP request. */
  fetch_metadata(...given: ProviderArguments<'fetch_metadata'>): Promise<Result<undefined>> {
    return asResult(async () => {
      const metadata = this.providerMetadata;
      const document = await metadata.refresh(providerCall('fetch_metadata', given));
      // the parameters may name another issuer by now
      if (metadata === this.providerMetadata) this.applyMetadata(document);
      return undefined;
    });
  }

  /**
   * A value of the metadata, null when there is none; fetched when the copy is older than the server allows or
   * METADATA_REFRESH_RATE. While the provider is away, the last copy and the configured values answer.
   */
  async get_metadata(option?: string | null): Promise<unknown> {
    if (option === undefined || option === null) return null;
    requireText('get_metadata', 'option', option);
    const { overrides } = this.settings;
    if (Object.hasOwn(overrides, option)) return overrides[option];
    await this.loadMetadata();
    return this.metadata[option] ?? null;
  }

  /** Fetches the provider's keys now (`jwks_uri`); keywords are settings of the HTTP request. */
  fetchJWKs(...given: ProviderArguments<'fetchJWKs'>): Promise<Result<undefined>> {
    return asResult(async () => {
      await this.providerKeys.refresh(providerCall('fetchJWKs', given));
      return undefined;
    });
  }

  /** The provider's keys, fetched when older than JWKS_REFRESH_RATE; null when there are none. */
  async getJWKs(): Promise<JsonWebKeySet | null> {
    return (await this.providerKeys.current())?.jwks ?? null;
  }

  /**
   * Begins a login: answers the URL for the browser. State, verifier and nonce are kept in the login store for
   * 10 minutes and used once. PKCE S256 unless `pkce` is false. The browser has to bring the state back to
   * parseAuthResponse: it is put into `session.state` of a `session` handed in; it is in the URL as well, unless the
   * request is pushed (RFC 9126). `prompt` and `login_hint` are passed on.
   */
  submitNewSession(...given: ProviderArguments<'submitNewSession'>): Promise<Result<string>> {
    return asResult(async () => {
      const { pkce, session, prompt, login_hint } = providerCall('submitNewSession', given);
      const endpoint = await this.requireMetadata('authorization_endpoint');
      const record: LoginSessionRecord = {
        state: randomAlphanumeric(30),
        provider: this.name,
        issuer: this.issuer,
        createdAt: this.clock.now(),
      };
      if (pkce !== false) record.code_verifier = createCodeVerifier();
      if (splitScopes(String(this.scope ?? '')).includes('openid'))
        record.nonce = randomAlphanumeric(30);
      if (this.redirect_uri) record.redirect_uri = this.redirect_uri;
      const { state, code_verifier, nonce } = record;
      const [url] = await this.create_authorization_url(endpoint, state, code_verifier, {
        nonce,
        prompt,
        login_hint,
      });
      await this.loginSessions.put(state, record, LOGIN_SESSION_SECONDS);
      if (session !== undefined && session !== null) session.state = state;
      return url;
    });
  }

  /**
   * Obtains a token like fetch_token, without keeping it; the answer also names client_id and provider. Throws
   * OAuthError.
   */
  fetchToken(...given: ProviderArguments<'fetchToken'>): Promise<TokenFields> {
    return orOAuthError(async () => {
      const options = providerCall('fetchToken', given);
      return this.asDictionary((await this.obtainToken(null, options)).token);
    });
  }

  /**
   * Renews a token, without keeping it; with a group its scope is exactly the group's. The same refresh token is
   * never used by two calls at once: equal calls share one answer, others wait. Throws OAuthError.
   */
  refreshToken(...given: ProviderArguments<'refreshToken'>): Promise<TokenFields> {
    return orOAuthError(async () => {
      const { token, group } = providerCall('refreshToken', given);
      requireToken(token);
      const scope = group ? (await this.scopesOf(group)).join(' ') : null;
      const renewed = await this.#refreshes.run(`${scope ?? ''} ${token}`, () =>
        this.inTurn(token, () => this.renewToken(null, token, { scope })),
      );
      return this.asDictionary(renewed);
    });
  }

  /**
   * Exchanges an access token (RFC 8693) for one with the scopes given, else the session's, and the group's. Throws
   * OAuthError.
   */
  exchangeToken(...given: ProviderArguments<'exchangeToken'>): Promise<TokenFields> {
    return orOAuthError(async () => {
      const { accessToken, group, scope } = providerCall('exchangeToken', given);
      requireToken(accessToken);
      const wanted = [scope ?? this.scope ?? []].flat().flatMap(splitScopes);
      const scopes = [...new Set([...wanted, ...(group ? await this.scopesOf(group) : [])])];
      const options = { subject_token: accessToken, scope: scopes.length > 0 ? scopes : null };
      return this.asDictionary(await this.exchange_token(null, options));
    });
  }

  /** Revokes a token (RFC 7009), a refresh token unless the hint says `access_token`. */
  revokeToken(...given: ProviderArguments<'revokeToken'>): Promise<Result<undefined>> {
    return asResult(async () => {
      const { token, tokenTypeHint = 'refresh_token' } = providerCall('revokeToken', given);
      requireToken(token);
      await this.revoke_token(null, { token, token_type_hint: tokenTypeHint });
      return undefined;
    });
  }

  /**
   * Verifies an access token that is a JWT: signature by the provider's keys (or `jwks`), issuer, times, audience where
   * one is configured, and where `certificate` or `jkt` is given the binding to that certificate or key. Answers the
   * claims. Throws OAuthError, whose `error` names the failed check: malformed, too_large, opaque, alg, crit, typ,
   * no_keys, unknown_key, signature, issuer, expired, not_yet, audience, cnf.
   */
  verifyToken(...given: ProviderArguments<'verifyToken'>): Promise<TokenClaims> {
    return orOAuthError(async () => {
      const { accessToken, jwks, ...binding } = providerCall('verifyToken', given);
      const keys = this.keySource(jwks);
      if (this.issuer === '') await this.loadMetadata();
      const claims = await verifySignedToken(accessToken ?? '', this.accessRules(), keys);
      if (Object.keys(binding).length > 0) checkBinding(claims, binding);
      return claims;
    });
  }

  /** The user's claims from the userinfo endpoint; they must be about the subject of the token, if it names one. */
  getUserProfile(...given: ProviderArguments<'getUserProfile'>): Promise<Result<TokenClaims>> {
    return asResult(() => {
      const { accessToken } = providerCall('getUserProfile', given);
      return this.claimsOfUser(accessToken);
    });
  }

  /**
   * Who a user is here, by the verified token (opaque ones are introspected where the provider offers it): ID, DN and
   * groups. The older way of calling, with payload and token, still finds its token; the payload is not trusted.
   */
  getUserGroups(...given: ProviderArguments<'getUserGroups'>): Promise<Result<UserProfile>> {
    return asResult(async () => {
      const { accessToken, token } = providerCall('getUserGroups', given);
      const verified = accessToken || token;
      requireToken(verified);
      return this.profileOf(await this.claimsOf(verified));
    });
  }

  /**
   * Completes a login: `response` is the request that brings the browser back, `session` what the browser holds, at
   * least its state. Order: login record (once), state, iss, error, code, token, ID token (nonce and all), access
   * token, profile. Answers profile and claims; the token, with `user_id` = the profile's ID, is put into
   * `session.token`.
   */
  parseAuthResponse(
    ...given: ProviderArguments<'parseAuthResponse'>
  ): Promise<Result<LoginResult>> {
    return asResult(async () => {
      const { response, session } = providerCall('parseAuthResponse', given);
      requireRoomForToken(session);
      await this.loadMetadata();
      const { record, code } = await readAnswer(response, session, {
        store: this.loginSessions,
        provider: this.name,
        issuer: this.issuer,
        issuerRequired: this.metadata['authorization_response_iss_parameter_supported'] === true,
        errorClass: this.oauth_error_class,
      });
      const { token } = await this.obtainToken(null, {
        grant_type: 'authorization_code',
        code,
        code_verifier: record.code_verifier ?? null,
        redirect_uri: record.redirect_uri ?? null,
      });
      const claims = await this.claimsOfLogin(token, record);
      const profile = await this.profileOf(claims);
      if (session) session.token = { ...this.asDictionary(token), user_id: profile.ID };
      return [profile, claims];
    });
  }

  /** The scopes that stand for a group at this provider; none for an unknown group. */
  getGroupScopes(group: string): string[] {
    requireText('getGroupScopes', 'group', group);
    return this.groupScopes.getGroupScopes(group);
  }

  /** The groups whose scopes are all in `scope` (divided by blanks), in the order of the configuration. */
  getScopeGroups(scope: string): string[] {
    requireText('getScopeGroups', 'scope', scope);
    return this.groupScopes.getScopeGroups(scope);
  }

  /**
   * A login at a terminal (RFC 8628): asks for codes, prints where to enter them, waits at the server's rhythm until
   * the codes expire or 300 s. Answers the token.
   */
  deviceAuthorization(
    ...given: ProviderArguments<'deviceAuthorization'>
  ): Promise<Result<TokenFields>> {
    return asResult(async () => {
      const { group, print = printLine, signal } = providerCall('deviceAuthorization', given);
      const reply = await this.askForDeviceCode(group);
      print(deviceInstructions(reply));
      return this.tokenOfDevice({ deviceCode: reply.device_code, ...limitsOfReply(reply), signal });
    });
  }

  /** Asks for the codes of a device login, with the session's scopes and the group's. */
  submitDeviceCodeAuthorizationFlow(
    ...given: ProviderArguments<'submitDeviceCodeAuthorizationFlow'>
  ): Promise<Result<DeviceAuthorization>> {
    return asResult(() =>
      this.askForDeviceCode(providerCall('submitDeviceCodeAuthorizationFlow', given).group),
    );
  }

  /** Waits for the user's decision: polls every `interval` seconds (5), for at most `timeout` seconds (300). */
  waitFinalStatusOfDeviceCodeAuthorizationFlow(
    ...given: ProviderArguments<'waitFinalStatusOfDeviceCodeAuthorizationFlow'>
  ): Promise<Result<TokenFields>> {
    return asResult(() =>
      this.tokenOfDevice(providerCall('waitFinalStatusOfDeviceCodeAuthorizationFlow', given)),
    );
  }

  /** Deprecated name of getUserProfile; the payload is not looked at. */
  researchGroup(...given: ProviderArguments<'researchGroup'>): Promise<Result<TokenClaims>> {
    return asResult(() => {
      const { token } = providerCall('researchGroup', given);
      return this.claimsOfUser(typeof token === 'string' ? token : token?.access_token);
    });
  }

  private claimsOfUser(accessToken: string | null | undefined): Promise<TokenClaims> {
    requireToken(accessToken);
    const subject = unverifiedClaims(accessToken)?.sub;
    return this.userInfo(accessToken, typeof subject === 'string' ? subject : undefined);
  }

  private async askForDeviceCode(group: string | null | undefined): Promise<DeviceAuthorization> {
    const own = [this.scope ?? []].flat().flatMap(splitScopes);
    const scope = [...new Set([...own, ...(group ? await this.scopesOf(group) : [])])].join(' ');
    const form = addParameters(new URLSearchParams(), {
      client_id: this.client_id,
      scope: scope === '' ? null : scope,
    });
    const answer = await this.postForm({
      endpoint: 'device_authorization_endpoint',
      form,
      options: {},
      requestHook: 'device_authorization_request',
    });
    return parseDeviceAuthorization(answer);
  }

  private async tokenOfDevice(call: DeviceWaitCall): Promise<TokenFields> {
    const { deviceCode, signal } = call;
    requireToken(deviceCode);
    const body = addParameters(new URLSearchParams(), { client_id: this.client_id }).toString();
    const token = await waitForToken(
      deviceCode,
      {
        interval: call.interval ?? DEVICE_INTERVAL_SECONDS,
        timeout: call.timeout ?? DEVICE_TIMEOUT_SECONDS,
        ...(signal === undefined ? {} : { signal }),
      },
      async (grant) => (await this.obtainToken(null, { ...grant, body })).token,
      this.clock,
    );
    return this.asDictionary(token);
  }

  /** Runs the work when no other one of the same refresh token runs any more. */
  private inTurn<T>(token: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(token) ?? Promise.resolve();
    const run = before.catch(() => undefined).then(work);
    this.#queues.set(token, run);
    const forget = (): void => {
      if (this.#queues.get(token) === run) this.#queues.delete(token);
    };
    run.then(forget, forget);
    return run;
  }

  /** The scopes of a group; rejects with ConfigurationError when there are none. */
  protected scopesOf(group: string): Promise<string[]> {
    const scopes = this.getGroupScopes(group);
    if (scopes.length > 0) return Promise.resolve(scopes);
    return Promise.reject(new ConfigurationError(`no scopes are known for group "${group}"`));
  }

  /** Who verified claims speak of. */
  protected profileOf(claims: TokenClaims): Promise<UserProfile> {
    const { dnPrefix, attributes, entitlements } = this.settings;
    const rules = { dnPrefix, attributes, entitlements, scopes: this.groupScopes };
    return new Promise((resolve) => resolve(profileOf(claims, rules)));
  }
}
