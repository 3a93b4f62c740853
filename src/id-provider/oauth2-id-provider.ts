import { S_OK, type Result } from '#src/kernel/index.js';
import {
  addParameters,
  ConfigurationError,
  createCodeVerifier,
  MissingTokenError,
  randomAlphanumeric,
  SingleFlight,
  type FetchTokenOptions,
  type HttpCallOptions,
  type OAuth2Token,
  type TokenFields,
} from '#src/oauth2-client/index.js';
import {
  readAnswer,
  type BrowserSession,
  type CallbackRequest,
} from './authorization-code-flow.js';
import { DEFAULT_METADATA, JWKS_REFRESH_RATE, METADATA_REFRESH_RATE } from './constants.js';
import {
  deviceInstructions,
  limitsOfReply,
  parseDeviceAuthorization,
  waitForToken,
  type DeviceAuthorization,
  type DeviceLoginOptions,
  type DeviceWaitOptions,
} from './device-code-flow.js';
import { splitScopes } from './group-scopes.js';
import type { JsonWebKeySet } from './key-set.js';
import { LOGIN_SESSION_SECONDS, type LoginSessionRecord } from './login-sessions.js';
import { ProviderClaims } from './provider-claims.js';
import { asResult, errorResult } from './provider-result.js';
import {
  checkBinding,
  unverifiedClaims,
  verifySignedToken,
  type TokenBinding,
  type TokenClaims,
} from './token-verifier.js';
import { profileOf, type UserProfile } from './user-claims.js';

/** What parseAuthResponse answers: who logged in, the claims that say so, and the token with `user_id`. */
export type LoginResult = [profile: UserProfile, claims: TokenClaims, token: TokenFields];

function requireToken(token: unknown): asserts token is string {
  if (typeof token !== 'string' || token === '') throw new MissingTokenError();
}

/**
 * An external identity provider (interface "What the service does" 5, GRID.Resources.IdProvider.OAuth2IdProvider).
 * Made with the keywords of one configuration section. Its own operations answer S_OK/S_ERROR, never throw for data
 * or the network, and keep nothing of a user: one instance serves all. The operations of the session
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
  fetch_metadata(options: HttpCallOptions = {}): Promise<Result<undefined>> {
    return asResult(async () => {
      const metadata = this.providerMetadata;
      const document = await metadata.refresh(options);
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
    const { overrides } = this.settings;
    if (Object.hasOwn(overrides, option)) return overrides[option];
    await this.loadMetadata();
    return this.metadata[option] ?? null;
  }

  /** Fetches the provider's keys now (`jwks_uri`); keywords are settings of the HTTP request. */
  fetchJWKs(options: HttpCallOptions = {}): Promise<Result<undefined>> {
    return asResult(async () => {
      await this.providerKeys.refresh(options);
      return undefined;
    });
  }

  /** The provider's keys, fetched when older than JWKS_REFRESH_RATE; null when there are none. */
  async getJWKs(): Promise<JsonWebKeySet | null> {
    return (await this.providerKeys.current())?.jwks ?? null;
  }

  /**
   * Begins a login: answers the URL for the browser. State, verifier and nonce are kept in the login store for
   * 10 minutes and used once; the browser keeps the state, which is in the URL. PKCE S256 unless `pkce` is false.
   */
  submitNewSession(pkce = true): Promise<Result<string>> {
    return asResult(async () => {
      const endpoint = await this.requireMetadata('authorization_endpoint');
      const record: LoginSessionRecord = {
        state: randomAlphanumeric(30),
        provider: this.name,
        issuer: this.issuer,
        createdAt: this.clock.now(),
      };
      if (pkce) record.code_verifier = createCodeVerifier();
      if (splitScopes(String(this.scope ?? '')).includes('openid'))
        record.nonce = randomAlphanumeric(30);
      if (this.redirect_uri) record.redirect_uri = this.redirect_uri;
      const { state, code_verifier, nonce } = record;
      const [url] = await this.create_authorization_url(endpoint, { state, code_verifier, nonce });
      await this.loginSessions.put(state, record, LOGIN_SESSION_SECONDS);
      // a pushed request hides the state, but who holds the browser has to know it; the server ignores it here
      return url.includes(`state=${state}`) ? url : `${url}&state=${state}`;
    });
  }

  /** Obtains a token like fetch_token, without keeping it; the answer also names client_id and provider. */
  fetchToken(options: FetchTokenOptions = {}): Promise<Result<TokenFields>> {
    return asResult(async () => this.asDictionary((await this.obtainToken(null, options)).token));
  }

  /**
   * Renews a token, without keeping it; with a group its scope is exactly the group's. The same refresh token is
   * never used by two calls at once: equal calls share one answer, others wait.
   */
  refreshToken(token: string, group?: string | null): Promise<Result<TokenFields>> {
    return asResult(async () => {
      requireToken(token);
      const scope = group ? this.scopesOf(group).join(' ') : null;
      const renewed = await this.#refreshes.run(`${scope ?? ''} ${token}`, () =>
        this.inTurn(token, () => this.renewToken(null, token, { scope })),
      );
      return this.asDictionary(renewed);
    });
  }

  /** Exchanges an access token (RFC 8693) for one with the scopes given, else the session's, and the group's. */
  exchangeToken(
    accessToken: string,
    group?: string | null,
    scope?: readonly string[] | string | null,
  ): Promise<Result<TokenFields>> {
    return asResult(async () => {
      requireToken(accessToken);
      const wanted = [scope ?? this.scope ?? []].flat().flatMap(splitScopes);
      const scopes = [...new Set([...wanted, ...(group ? this.scopesOf(group) : [])])];
      const options = { subject_token: accessToken, scope: scopes.length > 0 ? scopes : null };
      return this.asDictionary(await this.exchange_token(null, options));
    });
  }

  /** Revokes a token (RFC 7009). */
  revokeToken(token: string, tokenTypeHint = 'refresh_token'): Promise<Result<undefined>> {
    return asResult(async () => {
      requireToken(token);
      await this.revoke_token(null, { token, token_type_hint: tokenTypeHint });
      return undefined;
    });
  }

  /**
   * Verifies an access token that is a JWT: signature by the provider's keys (or `jwks`), issuer, times, audience where
   * one is configured, and where a binding is given the certificate or key of the bearer. Answers the claims; Errno
   * names the failed check: malformed, too_large, opaque, alg, crit, typ, no_keys, unknown_key, signature, issuer,
   * expired, not_yet, audience, cnf.
   */
  async verifyToken(
    accessToken: string,
    jwks?: JsonWebKeySet | null,
    binding?: TokenBinding,
  ): Promise<Result<TokenClaims>> {
    try {
      const keys = this.keySource(jwks);
      if (this.issuer === '') await this.loadMetadata();
      const claims = await verifySignedToken(accessToken, this.accessRules(), keys);
      if (binding !== undefined) checkBinding(claims, binding);
      return S_OK(claims);
    } catch (error) {
      return errorResult(error);
    }
  }

  /** The user's claims from the userinfo endpoint; they must be about the subject of the token, if it names one. */
  getUserProfile(accessToken: string): Promise<Result<TokenClaims>> {
    return asResult(() => {
      requireToken(accessToken);
      const subject = unverifiedClaims(accessToken)?.sub;
      return this.userInfo(accessToken, typeof subject === 'string' ? subject : undefined);
    });
  }

  /**
   * Who a user is here, by the verified token (opaque ones are introspected where the provider offers it): ID, DN and
   * groups. The older way of calling, with payload and token, still finds its token; the payload is not trusted.
   */
  getUserGroups(
    accessToken?: string | null,
    _payload?: unknown,
    token?: string | null,
  ): Promise<Result<UserProfile>> {
    return asResult(async () => {
      const verified = accessToken || token;
      requireToken(verified);
      return this.profileOf(await this.claimsOf(verified));
    });
  }

  /**
   * Completes a login: `response` is the request that brings the browser back, `session` what the browser holds, at
   * least its state. Order: login record (once), state, iss, error, code, token, ID token (nonce and all), access
   * token, profile. Answers profile, claims and token (`user_id` = the profile's ID).
   */
  parseAuthResponse(
    response: CallbackRequest,
    session?: BrowserSession | null,
  ): Promise<Result<LoginResult>> {
    return asResult(async () => {
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
      const profile = this.profileOf(claims);
      return [profile, claims, { ...this.asDictionary(token), user_id: profile.ID }];
    });
  }

  /** The scopes that stand for a group at this provider; none for an unknown group. */
  getGroupScopes(group: string): string[] {
    return this.groupScopes.getGroupScopes(group);
  }

  /** The groups whose scopes are all in `scope` (divided by blanks), in the order of the configuration. */
  getScopeGroups(scope: string): string[] {
    return this.groupScopes.getScopeGroups(scope);
  }

  /**
   * A login at a terminal (RFC 8628): asks for codes, prints where to enter them, waits at the server's rhythm until
   * the codes expire or 300 s. Answers the token.
   */
  async deviceAuthorization(
    group?: string | null,
    options: DeviceLoginOptions = {},
  ): Promise<Result<TokenFields>> {
    const { print = (line: string) => void process.stdout.write(`${line}\n`), ...waiting } =
      options;
    const submitted = await this.submitDeviceCodeAuthorizationFlow(group);
    if (!submitted.OK) return submitted;
    const reply = submitted.Value;
    print(deviceInstructions(reply));
    const { interval, timeout } = limitsOfReply(reply);
    const { device_code: code } = reply;
    return this.waitFinalStatusOfDeviceCodeAuthorizationFlow(code, interval, timeout, waiting);
  }

  /** Asks for the codes of a device login, with the session's scopes and the group's. */
  submitDeviceCodeAuthorizationFlow(group?: string | null): Promise<Result<DeviceAuthorization>> {
    return asResult(async () => {
      const own = [this.scope ?? []].flat().flatMap(splitScopes);
      const scope = [...new Set([...own, ...(group ? this.scopesOf(group) : [])])].join(' ');
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
    });
  }

  /** Waits for the user's decision: polls every `interval` seconds, for at most `timeout` seconds. */
  waitFinalStatusOfDeviceCodeAuthorizationFlow(
    deviceCode: string,
    interval = 5,
    timeout = 300,
    options: DeviceWaitOptions = {},
  ): Promise<Result<TokenFields>> {
    return asResult(async () => {
      requireToken(deviceCode);
      const body = addParameters(new URLSearchParams(), { client_id: this.client_id }).toString();
      const token = await waitForToken(
        deviceCode,
        { interval, timeout, ...options },
        async (grant) => (await this.obtainToken(null, { ...grant, body })).token,
        this.clock,
      );
      return this.asDictionary(token);
    });
  }

  /** Deprecated name of getUserProfile; the payload is not looked at. */
  researchGroup(
    _payload?: unknown,
    token?: string | TokenFields | null,
  ): Promise<Result<TokenClaims>> {
    const accessToken = typeof token === 'string' ? token : token?.access_token;
    return this.getUserProfile(accessToken ?? '');
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

  private scopesOf(group: string): string[] {
    const scopes = this.getGroupScopes(group);
    if (scopes.length === 0)
      throw new ConfigurationError(`no scopes are known for group "${group}"`);
    return scopes;
  }

  private profileOf(claims: TokenClaims): UserProfile {
    const { dnPrefix, attributes } = this.settings;
    return profileOf(claims, { dnPrefix, attributes, scopes: this.groupScopes });
  }
}
