import { OAuth2IdProvider, type LoginResult } from '#src/id-provider/library.js';
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
    const result = await idp.parseAuthResponse({ method: 'GET', uri }, { state });
    expect(result).toMatchObject({ OK: true });
    const [profile, claims, token] = (result as { Value: LoginResult }).Value;
    expect(profile).toMatchObject({ ID: 'jane', DN: '/O=GRID/CN=jane' });
    expect(claims).toMatchObject({ sub: 'jane', active: true });
    expect(token).toMatchObject({ user_id: 'jane', provider: 'real', client_id: 'conf' });
  });
});
