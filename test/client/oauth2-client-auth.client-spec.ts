import { generateKeyPairSync } from 'node:crypto';
import { OAuth2Session } from '#src/id-provider/library.js';
import {
  ClientSecretJWT,
  OAuth2Client,
  PrivateKeyJWT,
  type OAuth2ClientOptions,
} from '#src/oauth2-client/index.js';
import { startIdProvider, type TestIdProvider } from '../support/id-provider.js';
import { createTestPki, type IssuedPair, type TestPki } from '../support/id-provider-pki.js';

const RESOURCE = 'https://grid.example/api';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = privateKey.export({ format: 'jwk' });
const publicJwk = { kty: jwk.kty, crv: jwk.crv, x: jwk.x, y: jwk.y, kid: 'k1', use: 'sig' };
const machine = { redirect_uris: [], grant_types: ['client_credentials'], response_types: [] };

let pki: TestPki;
let server: TestIdProvider;
let machineCert: IssuedPair;
let ownCert: IssuedPair;
let strangerCert: IssuedPair;
let metadata: Record<string, unknown>;

beforeAll(async () => {
  pki = await createTestPki();
  machineCert = await pki.client('machine');
  strangerCert = await pki.client('stranger');
  ownCert = await pki.selfSigned('own');
  const x5c = ownCert.cert.replace(/-----[^-]+-----|\s/g, '');
  const { createPublicKey } = await import('node:crypto');
  const ownJwk = createPublicKey(ownCert.cert).export({ format: 'jwk' });
  server = await startIdProvider(pki, {
    clients: [
      {
        ...machine,
        client_id: 'key-jwt',
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [publicJwk] },
      },
      {
        ...machine,
        client_id: 'mtls-ca',
        token_endpoint_auth_method: 'tls_client_auth',
        tls_client_auth_subject_dn: 'CN=machine',
        tls_client_certificate_bound_access_tokens: true,
      },
      {
        ...machine,
        client_id: 'mtls-self',
        token_endpoint_auth_method: 'self_signed_tls_client_auth',
        jwks: { keys: [{ ...ownJwk, x5c: [x5c], use: 'sig' }] },
        tls_client_certificate_bound_access_tokens: true,
      },
    ],
  });
  const probe = new OAuth2Client({ verify: pki.ca.certPath, trust_env: false });
  const answer = await probe.get(`${server.issuer}/.well-known/openid-configuration`, {
    withhold_token: true,
  });
  metadata = answer.json() as Record<string, unknown>;
  await probe.close();
});

afterAll(async () => {
  await server?.stop();
  await pki?.remove();
});

function client(options: OAuth2ClientOptions): OAuth2Client {
  return new OAuth2Client({ ...metadata, verify: pki.ca.certPath, trust_env: false, ...options });
}

const grant = { grant_type: 'client_credentials' };

describe('client authentication against a real server', () => {
  it.each([
    ['client_secret_basic', { client_id: 'conf', client_secret: 'secret of conf: 100% & more' }],
    [
      'client_secret_post',
      {
        client_id: 'post',
        client_secret: 'secret-of-post',
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    [
      'client_secret_jwt',
      {
        client_id: 'secret-jwt',
        client_secret: 'a secret long enough for HS256 signatures',
        token_endpoint_auth_method: 'client_secret_jwt',
      },
    ],
    [
      'private_key_jwt',
      {
        client_id: 'key-jwt',
        client_secret: JSON.stringify({ ...jwk, kid: 'k1' }),
        token_endpoint_auth_method: 'private_key_jwt',
      },
    ],
  ])('%s', async (_name, options) => {
    const token = await client(options).fetch_token(null, grant);
    expect(token).toMatchObject({ access_token: expect.any(String), token_type: 'Bearer' });
    expect(token.is_expired()).toBe(false);
  });

  it('registered JWT methods: the objects of the package', async () => {
    const secret = client({
      client_id: 'secret-jwt',
      client_secret: 'a secret long enough for HS256 signatures',
      token_endpoint_auth_method: 'mine',
    });
    const method = new ClientSecretJWT({ audience: server.issuer });
    secret.register_client_auth_method(['mine', method.prepare]);
    expect((await secret.fetch_token(null, grant)).access_token).toEqual(expect.any(String));
    const key = client({ client_id: 'key-jwt', token_endpoint_auth_method: 'private_key_jwt' });
    key.register_client_auth_method(new PrivateKeyJWT({ key: privateKey, headers: { kid: 'k1' } }));
    expect((await key.fetch_token(null, grant)).access_token).toEqual(expect.any(String));
  });

  it("a wrong secret is the server's invalid_client, without the secret in the error", async () => {
    const wrong = client({ client_id: 'post', client_secret: 'wrong-secret-value' });
    const failure = wrong.fetch_token(null, grant);
    await expect(failure).rejects.toMatchObject({ error: 'invalid_client', status: 401 });
    await expect(failure).rejects.not.toThrow('wrong-secret-value');
  });
});

describe('mutual TLS (RFC 8705)', () => {
  const bound = { ...grant, resource: RESOURCE };

  function mutual(client_id: string, method: string, pair: IssuedPair): OAuth2Session {
    return new OAuth2Session({
      ...metadata,
      verify: pki.ca.certPath,
      trust_env: false,
      client_id,
      token_endpoint_auth_method: method,
      cert: [pair.certPath, pair.keyPath],
    });
  }

  it.each([
    ['mtls-ca', 'tls_client_auth', () => machineCert],
    ['mtls-self', 'self_signed_tls_client_auth', () => ownCert],
  ])('%s authenticates at the alias by %s and gets a bound token', async (id, method, pair) => {
    const session = mutual(id, method, pair());
    const token = await session.fetch_token(null, bound);
    const [, payload = ''] = (token.access_token as string).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { cnf: object };
    expect(claims.cnf).toEqual({ 'x5t#S256': expect.any(String) });
  });

  it.each([
    ['mtls-ca', 'tls_client_auth'],
    ['mtls-self', 'self_signed_tls_client_auth'],
  ])('%s is refused with another certificate', async (id, method) => {
    const session = mutual(id, method, strangerCert);
    await expect(session.fetch_token(null, bound)).rejects.toMatchObject({
      error: 'invalid_client',
    });
  });

  it('refuses to begin without a certificate', async () => {
    const session = client({ client_id: 'mtls-ca', token_endpoint_auth_method: 'tls_client_auth' });
    await expect(session.fetch_token(null, bound)).rejects.toMatchObject({
      error: 'configuration_error',
    });
  });
});
