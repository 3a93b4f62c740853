import {
  InvalidResponseError,
  InvalidTokenError,
  parseObject,
  type OAuth2Token,
} from '#src/oauth2-client/index.js';
import { verifyIdToken, type IdTokenExpectation } from '../verify/id-token.js';
import { fixedKeys } from '../verify/jwks.js';
import { KeySet, type JsonWebKeySet } from '../verify/key-set.js';
import type { LoginSessionRecord } from '../flows/login-sessions.js';
import { ProviderBase } from './provider-base.js';
import type { ProviderSettings } from './provider-settings.js';
import {
  ACCESS_TOKEN_TYPES,
  checkClaims,
  ID_TOKEN_TYPES,
  looksLikeJwt,
  verifySignature,
  verifySignedToken,
  type KeySource,
  type TokenClaims,
  type VerifyRules,
} from '../verify/token-verifier.js';

/** What a provider says about users: verified access and ID tokens, introspection, user information. */
export abstract class ProviderClaims extends ProviderBase {
  #accessRules: VerifyRules | undefined;
  #fixedFor: ProviderSettings | undefined;
  #fixedSets = new WeakMap<object, KeySource>();

  /** The keys of the provider, or those that the caller brought. */
  protected keySource(jwks: JsonWebKeySet | null | undefined): KeySource {
    if (jwks === null || jwks === undefined) return this.providerKeys;
    if (typeof jwks !== 'object') return fixedKeys(null);
    if (this.#fixedFor !== this.settings) {
      this.#fixedFor = this.settings;
      this.#fixedSets = new WeakMap();
    }
    const known = this.#fixedSets.get(jwks);
    if (known !== undefined) return known;
    const source = fixedKeys(KeySet.from(jwks) ?? null);
    this.#fixedSets.set(jwks, source);
    return source;
  }

  /** What access tokens are held against. */
  protected accessRules(): VerifyRules {
    if (this.#accessRules?.algorithms !== this.settings.algorithms) {
      const { audiences } = this.settings;
      this.#accessRules = this.newRules('access', ACCESS_TOKEN_TYPES, audiences);
    }
    return this.#accessRules;
  }

  private newRules(
    kind: VerifyRules['kind'],
    types: ReadonlySet<string | undefined>,
    audiences: readonly string[],
  ): VerifyRules {
    const issuerOf = (): string => this.issuer;
    const { algorithms, tolerance } = this.settings;
    return {
      kind,
      // read late: the metadata may say the issuer only while the keys are fetched
      get issuer() {
        return issuerOf();
      },
      algorithms,
      audiences,
      tolerance,
      types,
      clock: this.clock,
    };
  }

  /** Validates an ID token of this provider for this client. */
  protected idTokenClaims(
    idToken: string,
    expected: Omit<IdTokenExpectation, 'client_id'>,
  ): Promise<TokenClaims> {
    const client_id = this.client_id ?? '';
    const rules = this.newRules('id', ID_TOKEN_TYPES, [client_id]);
    return verifyIdToken(idToken, { ...expected, client_id }, rules, this.providerKeys);
  }

  /**
   * The claims of the userinfo endpoint (OpenID Connect Core §5.3), JSON or a signed JWT. The subject must be
   * `subject` where that is known.
   */
  protected async userInfo(accessToken: string, subject: string | undefined): Promise<TokenClaims> {
    const answer = await this.callProtocol({
      endpoint: 'userinfo endpoint',
      method: 'GET',
      url: await this.endpointUrl('userinfo_endpoint'),
      headers: { Accept: 'application/json, application/jwt' },
      accessToken,
    });
    const type = answer.response.headers.get('Content-Type') ?? '';
    const isJwt = answer.response.status_code === 200 && /^application\/jwt\b/i.test(type);
    const claims = isJwt
      ? await this.signedUserInfo(answer.response.text.trim())
      : (parseObject(answer) as TokenClaims);
    if (subject !== undefined && claims.sub !== subject) {
      throw new InvalidResponseError('the user information is about another subject');
    }
    return claims;
  }

  private async signedUserInfo(token: string): Promise<TokenClaims> {
    const rules = this.newRules('userinfo', ID_TOKEN_TYPES, []);
    const claims = await verifySignature(token, rules, this.providerKeys);
    if (claims.iss !== undefined && claims.iss !== this.issuer) {
      throw new InvalidResponseError('the user information is from another issuer');
    }
    const audience: unknown[] = claims.aud === undefined ? [] : [claims.aud].flat();
    if (audience.length > 0 && !audience.includes(this.client_id)) {
      throw new InvalidResponseError('the user information is for another client');
    }
    return claims;
  }

  /** Claims of an access token: verified here, or asked of the provider when it is opaque. */
  protected async claimsOf(accessToken: string): Promise<TokenClaims> {
    if (looksLikeJwt(accessToken))
      return verifySignedToken(accessToken, this.accessRules(), this.providerKeys);
    await this.loadMetadata();
    if (typeof this.metadata['introspection_endpoint'] !== 'string') {
      throw new InvalidTokenError('the token is opaque and the provider offers no introspection', {
        error: 'opaque',
      });
    }
    const claims = await this.introspect_token(null, {
      token: accessToken,
      token_type_hint: 'access_token',
    });
    if (!claims.active)
      throw new InvalidTokenError('the provider says that the token is not active');
    // iss and exp need not be there (RFC 7662 §2.2): the issuer itself says now that the token counts
    const lasting = { iss: this.issuer, exp: Number.MAX_SAFE_INTEGER };
    checkClaims({ ...lasting, ...(claims as TokenClaims) }, this.accessRules());
    return claims;
  }

  /** Claims of a completed login: the ID token where one is expected, then the access token. */
  protected async claimsOfLogin(
    token: OAuth2Token,
    record: LoginSessionRecord,
  ): Promise<TokenClaims> {
    const { access_token: accessToken = '', id_token: idToken } = token;
    if (record.nonce !== undefined && typeof idToken !== 'string') {
      throw new InvalidResponseError('the token endpoint answers no id_token');
    }
    const identity =
      typeof idToken === 'string'
        ? await this.idTokenClaims(idToken, { nonce: record.nonce, access_token: accessToken })
        : undefined;
    const claims = await this.claimsOfAccess(accessToken, identity);
    if (identity !== undefined && claims.sub !== identity.sub) {
      throw new InvalidResponseError('access token and ID token are about different subjects');
    }
    return claims;
  }

  private async claimsOfAccess(
    accessToken: string,
    identity: TokenClaims | undefined,
  ): Promise<TokenClaims> {
    const canAsk = typeof this.metadata['introspection_endpoint'] === 'string';
    if (looksLikeJwt(accessToken) || canAsk) return this.claimsOf(accessToken);
    if (typeof this.metadata['userinfo_endpoint'] === 'string') {
      return { ...identity, ...(await this.userInfo(accessToken, identity?.sub)) };
    }
    if (identity !== undefined) return identity;
    throw new InvalidTokenError('nothing says whose the opaque token is', { error: 'opaque' });
  }
}
