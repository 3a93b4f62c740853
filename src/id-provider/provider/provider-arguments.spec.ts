import { ACCEPTED, setUp } from '../testing/answering-provider.js';
import { refusalOf } from '../testing/refusal.js';
import { ConfigurationError, OAuthError } from '#src/oauth2-client/index.js';
import { OAuth2IdProvider } from './oauth2-id-provider.js';
import type { Result } from '#src/kernel/index.js';

type AnyCall = Record<string, (...given: unknown[]) => Promise<unknown>>;

/** Rows of the interface that say S_OK/S_ERROR (or nothing, and answer alike). */
const RESULTS = [
  'fetch_metadata',
  'fetchJWKs',
  'submitNewSession',
  'revokeToken',
  'getUserProfile',
  'getUserGroups',
  'parseAuthResponse',
  'deviceAuthorization',
  'submitDeviceCodeAuthorizationFlow',
  'waitFinalStatusOfDeviceCodeAuthorizationFlow',
  'researchGroup',
];
/** Rows that say dict. */
const DICTIONARIES = ['fetchToken', 'refreshToken', 'exchangeToken', 'verifyToken'];
const WRONG: unknown[] = [
  ...[null, undefined, 0, -1, Number.NaN, 7n, true, '', 'x', Symbol('s'), () => 1],
  ...[[], ['a'], {}, { nope: 1 }, new Map([['a', 1]]), new Set(), new Date(), Buffer.from('x')],
  ...[new URLSearchParams('a=1'), new FormData(), new (class Own {})(), Promise.resolve(1)],
  ...[Object.create(null) as unknown, Object.freeze({ state: 's' }), new Proxy({}, {})],
];

function anyCall(parameters: object = {}) {
  const { idp, ...rest } = setUp(parameters);
  return { idp, call: idp as unknown as AnyCall, ...rest };
}

describe('what a caller hands in', () => {
  it.each(RESULTS)('%s: of whatever shape never throws', async (operation) => {
    const { call } = anyCall();
    for (const first of WRONG) {
      for (const given of [[first], ['x', first], ['x', 'y', first], ['x', null, null, first]]) {
        const result = (await call[operation]!(...given)) as Result<unknown>;
        expect(typeof result.OK).toBe('boolean');
        if (!result.OK) expect(result.Errno).not.toBe('unexpected');
      }
    }
  });

  it.each([
    'ProviderName',
    'ProviderType',
    'issuer',
    'server_metadata_url',
    'jwks',
    'overrides',
    'audience',
    'attributes',
    'algorithms',
    'tolerance',
    'allowedOrigins',
    'dnPrefix',
    'groups',
    'vos',
    'entitlements',
    'loginSessions',
    'client_id',
    'client_secret',
    'token_endpoint_auth_method',
    'revocation_endpoint_auth_method',
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
  ])('%s: null is the same as nothing', async (name) => {
    const attributes = (idp: OAuth2IdProvider): unknown[] => [
      ...[idp.name, idp.issuer, idp.client_id, idp.client_secret, idp.scope, idp.redirect_uri],
      ...[idp.token_endpoint_auth_method, idp.revocation_endpoint_auth_method],
      ...[idp.token_placement, idp.leeway, idp.verify, idp.trust_env, idp.cert, idp.proxies],
      ...[idp.rawBasic, idp.legacyFlows, idp.allowInsecureLoopback, idp.pushed],
      ...[idp.default_timeout, idp.update_token],
    ];
    const plain = new OAuth2IdProvider({});
    const idp = new OAuth2IdProvider({ [name]: null });
    expect(attributes(idp)).toEqual(attributes(plain));
    idp.setParameters({ [name]: null });
    expect(attributes(idp)).toEqual(attributes(plain));
    expect(await idp.get_metadata(name)).toBeNull();
  });

  it.each(DICTIONARIES)(
    '%s: of whatever shape throws nothing but OAuthError',
    async (operation) => {
      const { call } = anyCall();
      for (const first of WRONG) {
        for (const given of [[first], ['x', first], ['x', 'y', first], ['x', null, null, first]]) {
          const error = await refusalOf(call[operation]!(...given));
          if (error !== undefined) expect(error).toBeInstanceOf(OAuthError);
          expect((error as OAuthError | undefined)?.error).not.toBe('unexpected');
        }
      }
    },
  );

  it.each<[operation: string, given: unknown[]]>([
    ['submitNewSession', ['yes']],
    ['submitNewSession', [true, {}, {}]],
    ['revokeToken', ['t', 'access_token', 'x']],
    ['getUserProfile', [{ access_token: 't' }]],
    ['getUserGroups', ['t', null, 'u', 'v']],
    ['deviceAuthorization', [{ nope: 1 }]],
    ['waitFinalStatusOfDeviceCodeAuthorizationFlow', ['d', '5']],
    ['waitFinalStatusOfDeviceCodeAuthorizationFlow', ['d', 5, -1]],
    ['fetch_metadata', [{ tiemout: 1 }]],
    ['parseAuthResponse', [{ uri: '/cb' }, Object.freeze({ state: 's' })]],
    ['parseAuthResponse', [{ uri: '/cb' }, ['s']]],
  ])('%s%j fits nowhere: an error result, and nothing was sent', async (operation, given) => {
    const { call, asked } = anyCall();
    expect(await call[operation]!(...given)).toMatchObject({
      OK: false,
      Errno: 'configuration_error',
    });
    expect(asked).toEqual([]);
  });

  it.each<[operation: string, given: unknown[]]>([
    ['fetchToken', ['x']],
    ['refreshToken', ['t', 7]],
    ['refreshToken', ['t', { token: 'u' }]],
    ['refreshToken', ['t', 'g', 'x']],
    ['exchangeToken', ['t', null, [7]]],
    ['verifyToken', [7]],
    ['verifyToken', ['t', null, { nope: 1 }]],
  ])('%s%j fits nowhere: throws, and nothing was sent', async (operation, given) => {
    const { call, asked } = anyCall();
    expect(await refusalOf(call[operation]!(...given))).toBeInstanceOf(ConfigurationError);
    expect(asked).toEqual([]);
  });
});

describe('parameters by their places and by name', () => {
  it.each<[operation: string, given: unknown[], form: string]>([
    ['refreshToken', ['r'], 'grant_type=refresh_token&refresh_token=r'],
    ['refreshToken', ['r', 'g'], 'grant_type=refresh_token&refresh_token=r&scope=a+b'],
    [
      'refreshToken',
      [{ token: 'r', group: 'g' }],
      'grant_type=refresh_token&refresh_token=r&scope=a+b',
    ],
    ['refreshToken', ['r', { group: 'g' }], 'grant_type=refresh_token&refresh_token=r&scope=a+b'],
    ['fetchToken', [{ grant_type: 'x', audience: 'y' }], 'grant_type=x&scope=own&audience=y'],
  ])('%s%j', async (operation, given, form) => {
    const { call, forms } = anyCall({ scope: 'own' });
    expect(await call[operation]!(...given)).toMatchObject(ACCEPTED);
    expect(forms).toEqual([`${form}&client_id=me`]);
  });

  it.each<[given: unknown[], scope: string]>([
    [['t'], 'own'],
    [['t', null, ['x', 'y']], 'x y'],
    [['t', 'g', 'x'], 'x a b'],
    [[{ accessToken: 't', group: 'g', scope: ['x'] }], 'x a b'],
    [['t', { scope: ['x'] }], 'x'],
  ])('exchangeToken%j', async (given, scope) => {
    const { call, forms } = anyCall({ scope: 'own' });
    expect(await call['exchangeToken']!(...given)).toMatchObject({ access_token: 'new' });
    const form = new URLSearchParams(forms[0]);
    expect([form.get('subject_token'), form.get('scope')]).toEqual(['t', scope]);
  });

  it.each<[given: unknown[], hint: string | null]>([
    [['t'], 'refresh_token'],
    [[{ token: 't' }], 'refresh_token'],
    [['t', 'access_token'], 'access_token'],
    [[{ token: 't', tokenTypeHint: 'access_token' }], 'access_token'],
    [['t', null], null],
  ])('revokeToken%j', async (given, hint) => {
    const { call, forms } = anyCall();
    expect(await call['revokeToken']!(...given)).toEqual({ OK: true, Value: undefined });
    const form = new URLSearchParams(forms[0]);
    expect([form.get('token'), form.get('token_type_hint')]).toEqual(['t', hint]);
  });

  it.each<[given: unknown[], hasChallenge: boolean]>([
    [[], true],
    [[true], true],
    [[null], true],
    [[false], false],
    [[{ pkce: false }], false],
  ])('submitNewSession%j', async (given, hasChallenge) => {
    const { call } = anyCall();
    const { Value: url } = (await call['submitNewSession']!(...given)) as { Value: string };
    expect(new URL(url).searchParams.has('code_challenge')).toBe(hasChallenge);
  });

  it('submitNewSession puts the state where the caller wants it', async () => {
    const { call } = anyCall();
    const session: { state?: string } = {};
    const { Value: url } = (await call['submitNewSession']!(true, { session })) as {
      Value: string;
    };
    expect(new URL(url).searchParams.get('state')).toBe(session.state);
  });

  it.each(['require_pushed_authorization_requests', 'pushed'])(
    'the state of a pushed request stays out of the browser (%s)',
    async (reason) => {
      const { call, forms } = anyCall({ [reason]: true });
      const session: { state?: string } = {};
      expect(await call['submitNewSession']!({ session })).toEqual({
        OK: true,
        Value: 'https://idp.test/auth?client_id=me&request_uri=urn%3Ar',
      });
      expect(session.state).toMatch(/^\w{30}$/);
      expect(new URLSearchParams(forms[0]).get('state')).toBe(session.state);
    },
  );

  it('researchGroup takes a token or its dictionary', async () => {
    const { call } = anyCall();
    const claims = { OK: true, Value: { sub: 'jane' } };
    expect(await call['researchGroup']!(null, 't')).toEqual(claims);
    expect(await call['researchGroup']!({ sub: 'x' }, { access_token: 't' })).toEqual(claims);
    expect(await call['getUserProfile']!({ accessToken: 't' })).toEqual(claims);
  });
});

describe('faults', () => {
  it.each(['fetchToken', 'refreshToken', 'exchangeToken'])(
    '%s throws OAuthError for the network too',
    async (operation) => {
      const { idp, call } = anyCall();
      idp.mount('https://', {
        send: () => Promise.reject(new TypeError('a fault of the adapter')),
        close: () => undefined,
      });
      const given = operation === 'fetchToken' ? { grant_type: 'x' } : 't';
      const error = await refusalOf(call[operation]!(given));
      expect(error).toBeInstanceOf(OAuthError);
      expect(error).toMatchObject({ error: 'unexpected', cause: expect.any(TypeError) });
    },
  );

  it('an aborted signal is an OAuthError with its reason', async () => {
    const { idp } = setUp();
    const reason = new DOMException('enough', 'AbortError');
    idp.mount('https://', {
      send: (_request, { signal }) => Promise.reject(signal?.reason as Error),
      close: () => undefined,
    });
    const signal = AbortSignal.abort(reason);
    expect(await refusalOf(idp.fetchToken({ grant_type: 'x', signal }))).toMatchObject({
      error: 'aborted',
      cause: reason,
    });
  });
});
