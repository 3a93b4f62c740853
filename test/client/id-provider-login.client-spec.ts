import { inspect } from 'node:util';
import { OAuthError, type TokenFields } from '#src/oauth2-client/index.js';
import {
  OAuth2IdProvider,
  type BrowserSession,
  type LoginResult,
} from '#src/id-provider/library.js';
import { browse, CALLBACK, startIdProvider, type TestIdProvider } from '../support/id-provider.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';

let pki: TestPki;
let server: TestIdProvider;

beforeAll(async () => {
  pki = await createTestPki();
  server = await startIdProvider(pki);
});

afterAll(async () => {
  await server?.stop();
  await pki?.remove();
});

function provider(parameters: object = {}): OAuth2IdProvider {
  return new OAuth2IdProvider({
    ProviderName: 'real',
    issuer: server.issuer,
    client_id: 'conf',
    client_secret: 'secret of conf: 100% & more',
    redirect_uri: CALLBACK,
    scope: 'openid profile',
    verify: pki.ca.certPath,
    trust_env: false,
    ...parameters,
  });
}

async function login(idp: OAuth2IdProvider, options: { user?: string; deny?: boolean } = {}) {
  const begun = await idp.submitNewSession();
  if (!begun.OK) throw new Error(begun.Message, { cause: begun.cause });
  const state = new URL(begun.Value).searchParams.get('state') as string;
  const { location } = await browse(pki.ca.certPath, begun.Value, options);
  return { uri: location as string, state };
}

describe('submitNewSession and parseAuthResponse', () => {
  it('logs a user in with PKCE, state, nonce and iss', async () => {
    const idp = provider();
    const { uri, state } = await login(idp);
    expect(new URL(uri).searchParams.get('iss')).toBe(server.issuer);
    const session: BrowserSession = { state };
    const result = await idp.parseAuthResponse({ method: 'GET', uri }, session);
    expect(result).toMatchObject({ OK: true });
    expect((result as { Value: LoginResult }).Value).toHaveLength(2);
    const [profile, claims] = (result as { Value: LoginResult }).Value;
    const { token } = session;
    expect(profile).toMatchObject({ ID: 'jane', DN: '/O=GRID/CN=jane' });
    expect(claims).toMatchObject({ sub: 'jane', active: true });
    expect(token).toMatchObject({ user_id: 'jane', provider: 'real', client_id: 'conf' });
  });

  it('uses a login once', async () => {
    const idp = provider();
    const { uri, state } = await login(idp);
    const first = await idp.parseAuthResponse({ method: 'GET', uri }, { state });
    const second = await idp.parseAuthResponse({ method: 'GET', uri }, { state });
    expect([first.OK, second]).toMatchObject([true, { OK: false, Errno: 'mismatching_state' }]);
  });

  it('refuses the answer of a login that another browser began', async () => {
    const idp = provider();
    const { uri } = await login(idp);
    const result = await idp.parseAuthResponse({ method: 'GET', uri }, { state: 'another' });
    expect(result).toMatchObject({ OK: false, Errno: 'mismatching_state' });
  });

  it('answers the error of a user who turns back, and obtains no token', async () => {
    const idp = provider();
    const { uri, state } = await login(idp, { deny: true });
    const result = await idp.parseAuthResponse({ method: 'GET', uri }, { state });
    expect(result).toMatchObject({ OK: false, Errno: 'access_denied' });
    expect(idp.token).toBeNull();
  });

  it('reads the answer from a posted form', async () => {
    const idp = provider();
    const { uri, state } = await login(idp);
    const body = new URL(uri).search.slice(1);
    const result = await idp.parseAuthResponse({ method: 'POST', uri: CALLBACK, body }, { state });
    expect(result).toMatchObject({ OK: true, Value: [{ ID: 'jane' }, {}] });
  });

  it('serves a public client with PKCE', async () => {
    const idp = provider({ client_id: 'pub', client_secret: null });
    const { uri, state } = await login(idp, { user: 'bob' });
    const result = await idp.parseAuthResponse({ method: 'GET', uri }, { state });
    expect(result).toMatchObject({ OK: true, Value: [{ ID: 'bob' }, { sub: 'bob' }] });
  });

  it('pushes the request where the client must, and keeps the state out of the browser', async () => {
    const idp = provider({ client_id: 'par', client_secret: 'secret-of-par', pushed: true });
    const session: BrowserSession = {};
    const begun = await idp.submitNewSession(true, { session });
    const url = new URL((begun as { Value: string }).Value);
    expect([...url.searchParams.keys()]).toEqual(['client_id', 'request_uri']);
    expect(session.state).toMatch(/^[A-Za-z0-9]{30}$/);
    const { location } = await browse(pki.ca.certPath, url.href);
    const result = await idp.parseAuthResponse({ uri: location as string }, session);
    expect(result).toMatchObject({ OK: true, Value: [{ ID: 'jane' }, {}] });
  });

  it('pushes the request with client_secret_post as well', async () => {
    const idp = provider({
      client_id: 'post',
      client_secret: 'secret-of-post',
      token_endpoint_auth_method: 'client_secret_post',
      pushed: true,
    });
    expect(await idp.submitNewSession()).toMatchObject({
      OK: true,
      Value: expect.stringContaining('request_uri=urn'),
    });
  });

  it('verifies JWT access tokens and finds groups by their scopes', async () => {
    const idp = provider({
      ProviderType: 'IAM',
      client_id: 'jwt-conf',
      client_secret: 'secret-of-jwt-conf',
      scope: 'openid, jobs:read wlcg.groups:/vo/user',
      audience: 'https://grid.example/api',
      groups: { vo_admin: { VO: 'vo' }, vo_user: { VO: 'vo' } },
    });
    const { uri, state } = await login(idp);
    const session: BrowserSession = { state };
    const result = await idp.parseAuthResponse({ uri }, session);
    expect(result).toMatchObject({ OK: true });
    const [profile, claims] = (result as { Value: LoginResult }).Value;
    const accessToken = session.token?.access_token as string;
    expect(profile).toEqual({
      ID: 'jane',
      DN: '/O=GRID/CN=jane',
      groups: ['vo_user'],
      group: 'vo_user',
    });
    expect(claims).toMatchObject({ iss: server.issuer, aud: 'https://grid.example/api' });
    expect(await idp.verifyToken(accessToken)).toEqual(claims);
    expect(await idp.getUserGroups(accessToken)).toEqual({ OK: true, Value: profile });
    const stranger = provider({ audience: 'https://elsewhere.example' });
    await expect(stranger.verifyToken(accessToken)).rejects.toMatchObject({ error: 'audience' });
  });

  it("binds tokens to a key where the client must (DPoP with the server's nonce)", async () => {
    const idp = provider({ client_id: 'dpop', client_secret: 'secret-of-dpop', dpop: true });
    const { uri, state } = await login(idp);
    const session: BrowserSession = { state };
    const result = await idp.parseAuthResponse({ uri }, session);
    expect(result).toMatchObject({ OK: true, Value: [{ ID: 'jane' }, {}] });
    const [, claims] = (result as { Value: LoginResult }).Value;
    const token = session.token as TokenFields;
    expect(token.token_type).toBe('DPoP');
    const jkt = await idp.dpopProver?.thumbprint();
    expect(claims['cnf']).toEqual({ jkt });
    expect(await idp.getUserProfile(token.access_token as string)).toMatchObject({
      OK: true,
      Value: { sub: 'jane', name: 'User jane' },
    });
    idp.token = token;
    const userinfo = (await idp.get_metadata('userinfo_endpoint')) as string;
    expect((await idp.get(userinfo)).json()).toMatchObject({ sub: 'jane' });
    expect(await idp.refreshToken(token.refresh_token as string)).toMatchObject({
      access_token: expect.any(String),
    });
  });
});

describe('tokens of a user', () => {
  async function tokenOf(idp: OAuth2IdProvider): Promise<TokenFields> {
    const { uri, state } = await login(idp);
    const session: BrowserSession = { state };
    const result = await idp.parseAuthResponse({ uri }, session);
    if (!result.OK) throw new Error(result.Message);
    return session.token as TokenFields;
  }

  it('refreshToken rotates, and a used refresh token is refused', async () => {
    const idp = provider();
    const token = await tokenOf(idp);
    const sent = token.refresh_token as string;
    const [renewed, same] = await Promise.all([idp.refreshToken(sent), idp.refreshToken(sent)]);
    expect(renewed).toMatchObject({ provider: 'real', client_id: 'conf' });
    expect(same).toEqual(renewed);
    expect(renewed.refresh_token).not.toBe(sent);
    const replay = await idp.refreshToken(sent).catch((error: unknown) => error);
    expect(replay).toBeInstanceOf(OAuthError);
    expect(replay).toMatchObject({ error: 'invalid_grant', status: 400 });
    expect(inspect(replay)).not.toContain(sent);
  });

  it('exchangeToken exchanges for the scopes asked for, and answers a refusal', async () => {
    const idp = provider({ groups: { g: { IdPRole: 'profile' }, bad: { IdPRole: 'admin' } } });
    const { access_token } = await tokenOf(idp);
    const exchanged = await idp.exchangeToken(access_token, 'g', ['openid']);
    expect(exchanged).toMatchObject({ scope: 'openid profile', provider: 'real' });
    await expect(idp.exchangeToken(access_token as string, 'bad')).rejects.toMatchObject({
      error: 'invalid_scope',
    });
    await expect(idp.exchangeToken(access_token as string, 'unknown')).rejects.toMatchObject({
      error: 'configuration_error',
    });
  });

  it("exchange_token repeats audiences and leaves the session's token alone", async () => {
    const idp = provider();
    const { access_token } = await tokenOf(idp);
    const token = await idp.exchange_token(null, {
      subject_token: access_token as string,
      audience: ['one', 'two'],
    });
    expect(token['seen_audience']).toEqual(['one', 'two']);
    expect(idp.token).toBeNull();
  });

  it('revokeToken revokes: introspection says so afterwards', async () => {
    const idp = provider();
    const { access_token, refresh_token } = await tokenOf(idp);
    const endpoint = (await idp.get_metadata('introspection_endpoint')) as string;
    const before = await idp.introspect_token(endpoint, { token: access_token as string });
    expect(before).toMatchObject({ active: true, client_id: 'conf', sub: 'jane' });
    expect(await idp.revokeToken(refresh_token as string)).toEqual({ OK: true, Value: undefined });
    expect(await idp.introspect_token(null, { token: access_token as string })).toEqual({
      active: false,
    });
    expect(await idp.getUserGroups(access_token as string)).toMatchObject({
      OK: false,
      Errno: 'token_invalid',
    });
  });

  it('getUserProfile answers the claims, and an error for a token that is none', async () => {
    const idp = provider();
    const { access_token } = await tokenOf(idp);
    expect(await idp.getUserProfile(access_token as string)).toEqual({
      OK: true,
      Value: { sub: 'jane', name: 'User jane' },
    });
    expect(await idp.getUserProfile('no-token-of-anybody')).toMatchObject({
      OK: false,
      Errno: 'invalid_token',
    });
    expect(idp.token).toBeNull();
  });

  it('one provider serves many users at once without mixing them', async () => {
    const idp = provider();
    const users = ['u1', 'u2', 'u3', 'u4'];
    const results = await Promise.all(
      users.map(async (user) => {
        const { uri, state } = await login(idp, { user });
        const result = await idp.parseAuthResponse({ uri }, { state });
        return result.OK ? result.Value[0].ID : result.Message;
      }),
    );
    expect(results).toEqual(users);
  });
});

describe('device flow', () => {
  it.each([
    ['a public client', { client_id: 'pub', client_secret: null }],
    ['client_secret_basic', {}],
    [
      'client_secret_post',
      {
        client_id: 'post',
        client_secret: 'secret-of-post',
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
  ])('completes when the user agrees: %s', async (_name, parameters) => {
    const idp = provider(parameters);
    const submitted = await idp.submitDeviceCodeAuthorizationFlow();
    expect(submitted).toMatchObject({ OK: true, Value: { user_code: expect.any(String) } });
    const reply = (
      submitted as { Value: { device_code: string; verification_uri_complete: string } }
    ).Value;
    const waiting = idp.waitFinalStatusOfDeviceCodeAuthorizationFlow(reply.device_code, 0.3, 20);
    await browse(pki.ca.certPath, reply.verification_uri_complete);
    expect(await waiting).toMatchObject({
      OK: true,
      Value: {
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        provider: 'real',
      },
    });
  });

  it('ends with time out, and at once when aborted', async () => {
    const idp = provider();
    const submitted = await idp.submitDeviceCodeAuthorizationFlow();
    const { device_code } = (submitted as { Value: { device_code: string } }).Value;
    expect(
      await idp.waitFinalStatusOfDeviceCodeAuthorizationFlow(device_code, 0.2, 0.5),
    ).toMatchObject({ OK: false, Errno: 'timeout' });
    const abort = new AbortController();
    const waiting = idp.waitFinalStatusOfDeviceCodeAuthorizationFlow(device_code, 5, 300, {
      signal: abort.signal,
    });
    abort.abort();
    expect(await waiting).toMatchObject({ OK: false, Errno: 'aborted' });
  });

  it('refuses a group without scopes before it asks', async () => {
    expect(await provider().submitDeviceCodeAuthorizationFlow('nobody')).toMatchObject({
      OK: false,
      Errno: 'configuration_error',
    });
  });
});
