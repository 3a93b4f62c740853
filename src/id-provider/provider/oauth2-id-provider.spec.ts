import { createHash } from 'node:crypto';
import { Response, type PreparedRequest } from '#src/http-client/index.js';
import type { BrowserSession, CallbackRequest } from '../flows/authorization-code-flow.js';
import { MemoryLoginSessions } from '../flows/login-sessions.js';
import { maxAgeOf, metadataUrls, sameIssuer } from '../verify/metadata.js';
import { ConfigurationError, OAuthError } from '#src/oauth2-client/index.js';
import { OAuth2IdProvider } from './oauth2-id-provider.js';
import { refusalOf } from '../testing/refusal.js';
import { providerOfToken } from '../verify/token-routing.js';
import type { ProviderParameters } from './provider-settings.js';
import { checkBinding } from '../verify/token-verifier.js';

/** A provider whose server answers by path, 404 for others, and the paths that were asked for. */
function setUp(parameters: ProviderParameters, answers: Record<string, object>) {
  const idp = new OAuth2IdProvider({
    issuer: ISSUER,
    client_id: 'me',
    trust_env: false,
    ...parameters,
  });
  const asked: string[] = [];
  const send = (request: PreparedRequest): Promise<Response> => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    const status_code = pathname in answers ? 200 : 404;
    const content = JSON.stringify(answers[pathname] ?? {});
    return Promise.resolve(new Response({ status_code, url: request.url, content, request }));
  };
  idp.mount('https://', { send, close: () => undefined });
  return { idp, asked };
}

const ISSUER = 'https://as.test';
const WELL_KNOWN = '/.well-known/openid-configuration';

describe('setParameters', () => {
  it('keeps providers apart and parameters unchanged', () => {
    const given = {
      ProviderName: 'a',
      client_id: 'a',
      client_secret: 's',
      issuer: 'https://a.test',
    };
    const first = new OAuth2IdProvider(given);
    const second = new OAuth2IdProvider({});
    expect([second.name, second.client_id, second.client_secret]).toEqual(['', null, null]);
    expect(OAuth2IdProvider.DEFAULT_METADATA).toEqual({});
    first.parameters.client_id = 'changed';
    expect(first.parameters).toEqual(given);
  });

  it('derives name, issuer and rules anew', async () => {
    const idp = new OAuth2IdProvider({
      ProviderName: 'a',
      issuer: 'https://a.test',
      scope: 'a, b+c',
    });
    expect([idp.scope, idp.code_challenge_method]).toEqual(['a b c', 'S256']);
    idp.setParameters({ ProviderName: 'b', issuer: 'https://b.test', verify: 'False' });
    expect([idp.name, idp.issuer, idp.verify, idp.metadata['issuer']]).toEqual([
      'b',
      'https://b.test',
      false,
      'https://b.test',
    ]);
    await idp.close();
  });

  it('the secret decides how the client authenticates, until a method is named', () => {
    const idp = new OAuth2IdProvider();
    const methods = () => [idp.token_endpoint_auth_method, idp.revocation_endpoint_auth_method];
    idp.setParameters({ issuer: 'https://a.test', client_id: 'c', client_secret: 's' });
    expect(methods()).toEqual(['client_secret_basic', 'client_secret_basic']);
    idp.setParameters({ client_secret: null });
    expect(methods()).toEqual(['none', 'none']);
    idp.setParameters({ token_endpoint_auth_method: 'client_secret_post' });
    idp.setParameters({ client_secret: 's' });
    expect(methods()).toEqual(['client_secret_post', 'client_secret_basic']);
  });

  it('a method set as attribute stays when the secret changes', () => {
    const idp = new OAuth2IdProvider({ client_secret: 's' });
    idp.token_endpoint_auth_method = 'client_secret_jwt';
    idp.setParameters({ client_secret: 't' });
    expect(idp.token_endpoint_auth_method).toBe('client_secret_jwt');
  });

  it.each([
    ['ProviderType', { ProviderType: 'LDAP' as never }],
    ['tolerance', { tolerance: 121 }],
    ['algorithms none', { algorithms: ['none'] }],
    ['algorithms HS256', { algorithms: ['HS256'] }],
    ['jwks', { jwks: { keys: 'x' } as never }],
    ['attributes', { attributes: { a: '(' } }],
    ['token_placement', { token_placement: 'x' as never }],
    ['groups', { groups: [] as never }],
    ['entitlements that are no text', { entitlements: [7] as never }],
    ['entitlements that are no namespace', { entitlements: ['egi.eu'] }],
    ['entitlements of no authority', { entitlements: 'urn:mace:egi.eu#' }],
  ])('refuses %s', (_name, parameters) => {
    expect(() => new OAuth2IdProvider(parameters)).toThrow('configuration_error');
  });

  it('needs no network for what is configured', async () => {
    const idp = new OAuth2IdProvider({
      token_endpoint: 'https://as.test/token',
      overrides: { issuer: 'https://as.test' },
    });
    expect(await idp.get_metadata('token_endpoint')).toBe('https://as.test/token');
    expect(await idp.get_metadata('issuer')).toBe('https://as.test');
    expect([await idp.get_metadata('unknown'), await idp.get_metadata()]).toEqual([null, null]);
  });

  it('submitNewSession without configuration is an error result', async () => {
    expect(await new OAuth2IdProvider({}).submitNewSession()).toMatchObject({
      OK: false,
      Errno: 'configuration_error',
    });
  });

  it.each([
    ['refreshToken', () => new OAuth2IdProvider({}).refreshToken('r')],
    ['refreshToken of an unknown group', () => new OAuth2IdProvider({}).refreshToken('r', 'g')],
    ['fetchToken', () => new OAuth2IdProvider({}).fetchToken({ grant_type: 'x' })],
  ])('%s without configuration throws', async (_name, call) => {
    expect(await refusalOf(call())).toBeInstanceOf(ConfigurationError);
  });

  it.each([
    ['revokeToken', () => new OAuth2IdProvider({}).revokeToken('')],
    ['getUserProfile', () => new OAuth2IdProvider({}).getUserProfile('')],
    ['getUserGroups', () => new OAuth2IdProvider({}).getUserGroups()],
    ['researchGroup', () => new OAuth2IdProvider({}).researchGroup()],
    ['waitFinal…', () => new OAuth2IdProvider({}).waitFinalStatusOfDeviceCodeAuthorizationFlow('')],
  ])('%s of nothing is an error result', async (_name, call) => {
    expect(await call()).toMatchObject({ OK: false, Errno: 'missing_token' });
  });

  it.each([
    ['refreshToken', () => new OAuth2IdProvider({}).refreshToken('')],
    ['exchangeToken', () => new OAuth2IdProvider({}).exchangeToken('')],
    ['verifyToken', () => new OAuth2IdProvider({}).verifyToken('')],
    ['verifyToken of null', () => new OAuth2IdProvider({}).verifyToken(null)],
  ])('%s of nothing throws', async (_name, call) => {
    const error = await refusalOf(call());
    expect(error).toBeInstanceOf(OAuthError);
    expect(error).toMatchObject({ error: 'missing_token' });
  });
});

describe('metadata', () => {
  it.each([
    [
      'https://a.test',
      undefined,
      [
        'https://a.test/.well-known/openid-configuration',
        'https://a.test/.well-known/oauth-authorization-server',
      ],
    ],
    [
      'https://a.test/x/',
      undefined,
      [
        'https://a.test/x/.well-known/openid-configuration',
        'https://a.test/.well-known/oauth-authorization-server/x',
      ],
    ],
    ['https://a.test', 'https://b.test/m', ['https://b.test/m']],
    ['', undefined, []],
  ])('of %s (%s) are at', (issuer, explicit, expected) => {
    expect(metadataUrls(issuer, explicit)).toEqual(expected);
  });

  it.each([
    ['https://a.test', 'https://a.test', true],
    ['https://a.test', 'https://a.test/', true],
    ['https://a.test/x', 'https://a.test/x/', false],
    ['https://a.test', 'https://b.test', false],
    ['https://a.test', 'https://A.test', true],
  ])('%s and %s are the same issuer: %s', (left, right, expected) => {
    expect(sameIssuer(left, right)).toBe(expected);
  });

  it.each([
    [undefined, undefined],
    ['max-age=100, public', 100],
    ['no-store', 0],
    ['private', undefined],
  ])('Cache-Control %s', (header, expected) => {
    expect(maxAgeOf(header)).toBe(expected);
  });
});

describe('fetch_metadata', () => {
  it('does not mix the metadata of two issuers when the issuer changes meanwhile', async () => {
    const { idp } = setUp(
      {},
      { [WELL_KNOWN]: { issuer: ISSUER, token_endpoint: `${ISSUER}/token` } },
    );
    const fetching = idp.fetch_metadata();
    idp.setParameters({ issuer: 'https://other.test' });
    expect(await fetching).toMatchObject({ OK: true });
    expect(idp.metadata).toEqual({ issuer: 'https://other.test' });
  });
});

describe('parseAuthResponse', () => {
  it.each<[kind: string, body: (form: string) => CallbackRequest['body']]>([
    ['text', (form) => form],
    ['bytes', (form) => Buffer.from(form)],
    ['URLSearchParams', (form) => new URLSearchParams(form)],
    ['a dictionary', (form) => Object.fromEntries(new URLSearchParams(form))],
  ])('reads a posted form that is %s', async (_kind, body) => {
    const { idp } = setUp(
      {},
      {
        [WELL_KNOWN]: {
          issuer: ISSUER,
          authorization_endpoint: `${ISSUER}/auth`,
          token_endpoint: `${ISSUER}/token`,
          userinfo_endpoint: `${ISSUER}/userinfo`,
        },
        '/token': { access_token: 'opaque', token_type: 'Bearer' },
        '/userinfo': { sub: 'jane' },
      },
    );
    const begun = await idp.submitNewSession();
    const state = new URL((begun as { Value: string }).Value).searchParams.get('state') as string;
    const response = { method: 'POST', uri: '/callback', body: body(`code=c&state=${state}`) };
    const session: BrowserSession = { state };
    expect(await idp.parseAuthResponse(response, session)).toEqual({
      OK: true,
      Value: [{ ID: 'jane', DN: '/O=GRID/CN=jane' }, { sub: 'jane' }],
    });
    expect(session.token).toEqual({
      access_token: 'opaque',
      token_type: 'Bearer',
      client_id: 'me',
      provider: '',
      user_id: 'jane',
    });
  });
});

describe('create_authorization_url', () => {
  it('pushes the request where the metadata, not yet fetched, require it', async () => {
    const { idp, asked } = setUp(
      {},
      {
        [WELL_KNOWN]: {
          issuer: ISSUER,
          pushed_authorization_request_endpoint: `${ISSUER}/par`,
          require_pushed_authorization_requests: true,
        },
        '/par': { request_uri: 'urn:r', expires_in: 60 },
      },
    );
    const [url] = await idp.create_authorization_url(`${ISSUER}/auth`, { state: 's' });
    expect(url).toBe(`${ISSUER}/auth?client_id=me&request_uri=urn%3Ar`);
    expect(asked).toEqual([WELL_KNOWN, '/par']);
  });

  it('does without metadata while they cannot be fetched', async () => {
    const { idp } = setUp({}, {});
    const [url] = await idp.create_authorization_url(`${ISSUER}/auth`, { state: 's' });
    expect(url).toBe(`${ISSUER}/auth?response_type=code&client_id=me&state=s`);
  });
});

describe('an opaque token', () => {
  it.each([
    ['for this audience', { aud: ['x', 'mine'] }, { OK: true }],
    ['for another audience', { aud: 'x' }, { OK: false, Errno: 'audience' }],
    ['for no audience', {}, { OK: false, Errno: 'audience' }],
    ['not valid yet', { aud: 'mine', nbf: 4e9 }, { OK: false, Errno: 'not_yet' }],
    ['that has ended', { aud: 'mine', exp: 1 }, { OK: false, Errno: 'expired' }],
    ['of another issuer', { aud: 'mine', iss: 'https://x' }, { OK: false, Errno: 'issuer' }],
    ['that is not active', { active: false }, { OK: false, Errno: 'token_invalid' }],
  ])('%s', async (_name, claims, expected) => {
    const { idp } = setUp(
      { audience: 'mine' },
      {
        [WELL_KNOWN]: { issuer: ISSUER, introspection_endpoint: `${ISSUER}/introspect` },
        '/introspect': { active: true, sub: 'jane', ...claims },
      },
    );
    expect(await idp.getUserGroups('opaque')).toMatchObject(expected);
  });
});

describe('MemoryLoginSessions', () => {
  it('answers a login once and only in time', () => {
    let now = 0;
    const store = new MemoryLoginSessions({ now: () => now });
    const record = { state: 's', provider: 'p', issuer: 'i', createdAt: 0 };
    store.put('s', record, 10);
    store.put('t', record, 10);
    expect([store.take('s'), store.take('s')]).toEqual([record, undefined]);
    now = 10_001;
    expect(store.take('t')).toBeUndefined();
  });
});

describe('providerOfToken', () => {
  const token = (claims: object) =>
    `a.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c`;
  const providers = [
    { issuer: 'https://a.test/', client_id: 'x' },
    { issuer: 'https://a.test', client_id: 'y' },
  ];

  it.each([
    ['client_id', { iss: 'https://a.test', client_id: 'y' }, 1],
    ['azp', { iss: 'https://a.test/', azp: 'x' }, 0],
  ])('finds by issuer and %s', (_name, claims, index) => {
    expect(providerOfToken(token(claims), providers)).toBe(providers[index]);
  });

  it.each([
    ['another client', token({ iss: 'https://a.test', client_id: 'z' }), 'configuration_error'],
    ['no client', token({ iss: 'https://a.test' }), 'malformed'],
    ['no token', 'x', 'malformed'],
  ])('refuses %s', (_name, candidate, code) => {
    expect(() => providerOfToken(candidate, providers)).toThrow(code);
  });
});

describe('checkBinding (RFC 8705 §3.1, RFC 9449 §6)', () => {
  const thumbprint = createHash('sha256').update('x').digest('base64url');

  it.each([
    ['the certificate', { cnf: { 'x5t#S256': thumbprint } }, { certificate: thumbprint }],
    ['the key', { cnf: { jkt: 'k' } }, { jkt: 'k' }],
    ['no binding asked for', {}, {}],
  ])('accepts %s', (_name, claims, binding) => {
    expect(() => checkBinding(claims, binding)).not.toThrow();
  });

  it.each([
    ['another certificate', { cnf: { 'x5t#S256': 'x' } }, { certificate: thumbprint }],
    ['no certificate', {}, { certificate: thumbprint }],
    ['another key', { cnf: { jkt: 'x' } }, { jkt: 'k' }],
  ])('refuses %s', (_name, claims, binding) => {
    expect(() => checkBinding(claims, binding)).toThrow('cnf:');
  });

  it('says so when the certificate is none', () => {
    expect(() => checkBinding({}, { certificate: 'no certificate' })).toThrow(
      'configuration_error',
    );
  });
});
