import { CookieJar, isDictionary, type ClientCert } from '#src/http-client/index.js';
import type {
  AuthorizationUrlArguments,
  OAuth2ClientOptions,
  OAuth2Token,
  EndpointName,
  ProtocolAnswer,
  ProtocolCall,
  TokenFields,
} from '#src/oauth2-client/index.js';
import {
  ConfigurationError,
  defaultAuthMethod,
  metadataOf,
  requireFitting,
} from '#src/oauth2-client/index.js';
import { DEFAULT_METADATA } from '../verify/constants.js';
import { GroupScopes } from './group-scopes.js';
import { ProviderKeys } from '../verify/jwks.js';
import { MemoryLoginSessions, type LoginSessionStore } from '../flows/login-sessions.js';
import { ProviderMetadata, sameIssuer, type ServerMetadata } from '../verify/metadata.js';
import { OAuth2Session } from './oauth2-session.js';
import {
  providerSettings,
  sessionOptions,
  type ProviderParameters,
  type ProviderSettings,
} from './provider-settings.js';
import { looksLikeJwt, unverifiedClaims } from '../verify/token-verifier.js';

/** Attributes of the session that setParameters may change later. */
const CHANGEABLE = [
  'client_id',
  'client_secret',
  'scope',
  'redirect_uri',
  'token_placement',
  'update_token',
  'leeway',
  'rawBasic',
  'legacyFlows',
  'allowInsecureLoopback',
  'pushed',
  'verify',
  'cert',
  'proxies',
  'trust_env',
  'default_timeout',
] as const;

const AUTH_METHODS = ['token_endpoint_auth_method', 'revocation_endpoint_auth_method'] as const;

/** Users share a provider: a cookie that the server sets for one of them must not go along with another. */
class NoCookies extends CookieJar {
  override store_cookies(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * What the operations of a provider stand on: parameters, metadata and keys with their caches, rules of
 * verification, calls of single endpoints. Nothing of a single user is kept here.
 */
export abstract class ProviderBase extends OAuth2Session {
  #parameters: ProviderParameters = {};
  #merged: ProviderParameters = {};
  #settings: ProviderSettings;
  #static: ServerMetadata = {};
  #documentIssuer: string | undefined;
  #metadata: ProviderMetadata;
  #keys: ProviderKeys;
  #groupScopes: GroupScopes;
  readonly #ownSessions: LoginSessionStore;

  constructor(parameters: ProviderParameters = {}) {
    super(sessionOptions(parameters));
    if (parameters.cookies === undefined) this.cookies = new NoCookies();
    this.#ownSessions = new MemoryLoginSessions(this.clock);
    this.#settings = providerSettings(parameters);
    this.#metadata = this.newMetadata();
    this.#keys = this.newKeys();
    this.#groupScopes = new GroupScopes('OAuth2', {}, {});
    this.setParameters(parameters);
  }

  /** ProviderName, or ''. */
  get name(): string {
    return this.#settings.name;
  }

  /** The issuer: as configured, else as the metadata say. */
  get issuer(): string {
    return this.#documentIssuer ?? this.#settings.issuer;
  }

  /** A copy of the parameters set last. */
  get parameters(): ProviderParameters {
    return { ...this.#parameters };
  }

  /**
   * Sets the parameters; what they do not name stays as it is. Name, issuer, metadata URL and rules are derived anew,
   * cached metadata and keys are dropped when issuer, URL or keys change. Throws ConfigurationError.
   */
  setParameters(parameters: ProviderParameters): void {
    requireFitting('setParameters', 'parameters', parameters, isDictionary(parameters));
    const merged = { ...this.#merged, ...parameters };
    const settings = providerSettings(merged);
    const before = this.#settings;
    const isOther =
      settings.issuer !== before.issuer ||
      settings.metadataUrl !== before.metadataUrl ||
      settings.jwks !== before.jwks;
    const options = sessionOptions(merged);
    this.changeAttributes(parameters, options);
    this.#parameters = { ...parameters };
    this.#merged = merged;
    this.#settings = settings;
    this.#groupScopes = new GroupScopes(settings.type, settings.groups, settings.vos);
    this.#static = metadataOf(options);
    if (isOther) this.dropCaches();
    this.applyMetadata(this.#metadata.document.fresh());
  }

  /**
   * Gives the attributes that are named the values that a new session would have: null is the default, and the secret
   * decides about client authentication unless that was chosen.
   */
  private changeAttributes(parameters: ProviderParameters, options: OAuth2ClientOptions): void {
    const model = new OAuth2Session({ ...options, dpop: null });
    const isNamed = (name: string): boolean => parameters[name] !== undefined;
    const byOldSecret = defaultAuthMethod(this.client_secret);
    for (const name of AUTH_METHODS) {
      const follows = isNamed('client_secret') && this[name] === byOldSecret;
      if (follows || isNamed(name)) this[name] = model[name];
    }
    for (const name of CHANGEABLE) {
      if (isNamed(name)) Object.assign(this, { [name]: model[name] });
    }
  }

  /** Settings derived from the parameters. */
  protected get settings(): ProviderSettings {
    return this.#settings;
  }

  /** The mapping between groups and scopes. */
  protected get groupScopes(): GroupScopes {
    return this.#groupScopes;
  }

  /** Where logins under way live. */
  protected get loginSessions(): LoginSessionStore {
    return this.#merged.loginSessions ?? this.#ownSessions;
  }

  protected get providerMetadata(): ProviderMetadata {
    return this.#metadata;
  }

  protected get providerKeys(): ProviderKeys {
    return this.#keys;
  }

  /** Metadata and keys are of one issuer: both go when it changes. */
  private dropCaches(): void {
    this.#documentIssuer = undefined;
    this.#metadata = this.newMetadata();
    this.#keys = this.newKeys();
  }

  private newMetadata(): ProviderMetadata {
    const { issuer, metadataUrl } = this.#settings;
    return new ProviderMetadata({
      issuer,
      metadataUrl,
      clock: this.clock,
      call: (call) => this.callProtocol(call),
    });
  }

  private newKeys(): ProviderKeys {
    return new ProviderKeys({
      uri: () => this.requireMetadata('jwks_uri'),
      fallback: this.#settings.jwks,
      clock: this.clock,
      call: (call) => this.callProtocol(call),
    });
  }

  /** Makes fetched metadata the session's: configured < fetched < overrides. */
  protected applyMetadata(document: ServerMetadata | undefined): void {
    const { issuer, overrides } = this.#settings;
    const { issuer: found } = document ?? {};
    if (typeof found === 'string' && (issuer === '' || sameIssuer(found, issuer))) {
      this.#documentIssuer = found;
    }
    this.metadata = { ...DEFAULT_METADATA, ...this.#static, ...document, ...overrides };
    if (this.issuer !== '') this.metadata['issuer'] = this.issuer;
  }

  /** Brings the metadata up to date if that is possible; never rejects. */
  protected async loadMetadata(): Promise<void> {
    const metadata = this.#metadata;
    if (!metadata.hasSource || metadata.document.fresh() !== undefined) return;
    const document = await metadata.document.current();
    if (metadata === this.#metadata) this.applyMetadata(document);
  }

  /** A metadata value that must be text; rejects with the reason why there is none. */
  protected async requireMetadata(name: string): Promise<string> {
    if (typeof this.#settings.overrides[name] !== 'string') await this.loadMetadata();
    const value = this.metadata[name];
    if (typeof value === 'string' && value !== '') return value;
    const { lastError } = this.#metadata.document;
    throw lastError instanceof Error
      ? lastError
      : new ConfigurationError(`the ${name} is not known`);
  }

  protected override get canFindEndpoints(): boolean {
    return this.#metadata.hasSource;
  }

  protected override async endpointUrl(
    name: EndpointName,
    given?: string | null,
    cert?: ClientCert | null,
  ): Promise<string> {
    if (given === undefined || given === null) await this.requireMetadata(name);
    return super.endpointUrl(name, given, cert);
  }

  protected override callProtocol(call: ProtocolCall): Promise<ProtocolAnswer> {
    const { allowedOrigins } = this.#settings;
    if (allowedOrigins !== undefined && URL.canParse(call.url)) {
      const { origin } = new URL(call.url);
      const isOwn = URL.canParse(this.issuer) && new URL(this.issuer).origin === origin;
      if (!isOwn && !allowedOrigins.has(origin)) {
        return Promise.reject(
          new ConfigurationError(`the origin of the ${call.endpoint} is not allowed`),
        );
      }
    }
    return super.callProtocol(call);
  }

  /** Whether the request has to be pushed stands in the metadata. */
  override async create_authorization_url(
    ...given: AuthorizationUrlArguments
  ): Promise<[authorization_url: string, state: string]> {
    await this.loadMetadata();
    return super.create_authorization_url(...given);
  }

  /** A token as the provider's operations answer it: a plain dictionary that says whose it is and when it ends. */
  protected asDictionary(token: OAuth2Token): TokenFields {
    const fields: TokenFields = { ...token, client_id: this.client_id, provider: this.name };
    const { access_token: accessToken } = token;
    if (fields.expires_at === undefined && typeof accessToken === 'string') {
      const exp = looksLikeJwt(accessToken) ? unverifiedClaims(accessToken)?.exp : undefined;
      if (typeof exp === 'number') fields.expires_at = Math.trunc(exp);
    }
    return fields;
  }
}
