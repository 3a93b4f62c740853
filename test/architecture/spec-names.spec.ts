import * as grid from '#src/grid.js';

/**
 * The names of the interface's client component, copied from its tables; their defaults are in reference-rows.client-spec.ts.
 */
const CONSTANTS = {
  DEFAULT_METADATA: {},
  EXTRA_AUTHORIZE_PARAMS: ['response_mode', 'nonce', 'prompt', 'login_hint'],
  JWKS_REFRESH_RATE: 86400,
  METADATA_REFRESH_RATE: 86400,
  SESSION_REQUEST_PARAMS: [
    'allow_redirects',
    'timeout',
    'cookies',
    'files',
    'proxies',
    'hooks',
    'stream',
    'verify',
    'cert',
    'json',
  ],
} as const;

const ATTRIBUTES = [
  'auth',
  'cert',
  'cookies',
  'headers',
  'hooks',
  'max_redirects',
  'params',
  'proxies',
  'stream',
  'trust_env',
  'verify',
  'token',
  'client_auth_class',
  'token_auth_class',
  'oauth_error_class',
] as const;

const PROVIDER_OPERATIONS = [
  'setParameters',
  'fetch_metadata',
  'get_metadata',
  'fetchJWKs',
  'getJWKs',
  'submitNewSession',
  'fetchToken',
  'refreshToken',
  'exchangeToken',
  'revokeToken',
  'verifyToken',
  'getUserProfile',
  'getUserGroups',
  'parseAuthResponse',
  'getGroupScopes',
  'getScopeGroups',
  'deviceAuthorization',
  'submitDeviceCodeAuthorizationFlow',
  'waitFinalStatusOfDeviceCodeAuthorizationFlow',
  'researchGroup',
] as const;

const CLIENT_OPERATIONS = [
  'create_authorization_url',
  'fetch_token',
  'fetch_access_token',
  'token_from_fragment',
  'refresh_token',
  'revoke_token',
  'introspect_token',
  'ensure_active_token',
  'client_auth',
  'register_client_auth_method',
  'register_compliance_hook',
] as const;

const SESSION_OPERATIONS = [
  'request',
  'get',
  'head',
  'options',
  'delete',
  'post',
  'put',
  'patch',
  'send',
  'prepare_request',
  'get_adapter',
  'mount',
  'close',
  'merge_environment_settings',
  'get_redirect_target',
  'resolve_redirects',
  'rebuild_auth',
  'rebuild_method',
  'rebuild_proxies',
  'should_strip_auth',
] as const;

const HOOK_TYPES = [
  'access_token_response',
  'refresh_token_request',
  'refresh_token_response',
  'protected_request',
  'revoke_token_request',
  'introspect_token_request',
] as const;

const EXPORTS = [
  'S_OK',
  'S_ERROR',
  'claimParser',
  'Session',
  'Request',
  'OAuth2Client',
  'OAuth2Session',
  'OAuth2IdProvider',
  'ClientSecretJWT',
  'PrivateKeyJWT',
  'GRID',
  ...Object.keys(CONSTANTS),
] as const;

const ERRORS: readonly [name: string, base: string][] = [
  ...[
    'MissingTokenError',
    'InvalidTokenError',
    'UnsupportedTokenTypeError',
    'MismatchingStateError',
    'MissingCodeError',
    'InsecureTransportError',
    'ConfigurationError',
    'HttpError',
    'InvalidResponseError',
  ].map((name): [string, string] => [name, 'OAuthError']),
  ...[
    'ConnectionError',
    'Timeout',
    'TooManyRedirects',
    'MissingSchema',
    'InvalidSchema',
    'InvalidURL',
    'InvalidHeader',
    'ProxyError',
    'SSLError',
    'JSONDecodeError',
    'UnrewindableBodyError',
  ].map((name): [string, string] => [name, 'RequestException']),
];

const exported = grid as unknown as Record<string, unknown>;
const provider = new grid.OAuth2IdProvider();
const members = provider as unknown as Record<string, unknown>;

describe('the package root', () => {
  it.each(EXPORTS)('exports %s', (name) => {
    expect(exported[name]).toBeDefined();
  });

  it.each(Object.entries(CONSTANTS))('%s has its value', (name, value) => {
    expect(exported[name]).toEqual(value);
  });

  it.each(ERRORS)('%s is a %s', (name, base) => {
    const [derived, parent] = [exported[name], exported[base]] as (new () => Error)[];
    expect(derived?.prototype).toBeInstanceOf(parent as new () => Error);
  });

  it('has the dotted path of the interface', () => {
    const { OAuth2IdProvider, OAuth2Session, claimParser } = grid;
    expect(grid.GRID.Resources.IdProvider.OAuth2IdProvider).toEqual({
      OAuth2IdProvider,
      OAuth2Session,
      claimParser,
    });
  });

  it('derives provider from OAuth2Session from OAuth2Client from Session', () => {
    const chain: unknown[] = [];
    for (let one: unknown = grid.OAuth2IdProvider; typeof one === 'function';) {
      chain.push(one);
      one = Object.getPrototypeOf(one);
    }
    const named = chain.filter((one) => Object.values(exported).includes(one));
    expect(named).toEqual([
      grid.OAuth2IdProvider,
      grid.OAuth2Session,
      grid.OAuth2Client,
      grid.Session,
    ]);
  });
});

describe('operations', () => {
  it.each(PROVIDER_OPERATIONS)('OAuth2IdProvider.%s', (name) => {
    expect(typeof members[name]).toBe('function');
    expect(Object.hasOwn(grid.OAuth2Session.prototype, name)).toBe(false);
  });

  it('OAuth2Session adds exchange_token', () => {
    expect(typeof new grid.OAuth2Session().exchange_token).toBe('function');
    expect('exchange_token' in grid.OAuth2Client.prototype).toBe(false);
  });

  it.each(CLIENT_OPERATIONS)('OAuth2Client.%s', (name) => {
    const client = new grid.OAuth2Client() as unknown as Record<string, unknown>;
    expect([typeof client[name], name in grid.Session.prototype]).toEqual(['function', false]);
  });

  it.each(SESSION_OPERATIONS)('Session.%s', (name) => {
    expect(typeof (new grid.Session() as unknown as Record<string, unknown>)[name]).toBe(
      'function',
    );
    expect(typeof members[name]).toBe('function');
  });

  it.each(HOOK_TYPES)('register_compliance_hook knows %s', (name) => {
    expect(() =>
      provider.register_compliance_hook(name as 'protected_request', () => undefined),
    ).not.toThrow();
  });
});

describe('attributes', () => {
  it.each(ATTRIBUTES)('%s', (name) => {
    expect(name in provider).toBe(true);
  });
});

describe('results', () => {
  it('S_OK and S_ERROR have their shapes', () => {
    expect(grid.S_OK(1)).toEqual({ OK: true, Value: 1 });
    expect(grid.S_ERROR('m')).toEqual({ OK: false, Message: 'm' });
  });
});
