import { jest } from '@jest/globals';
import { type KeyObject } from 'node:crypto';
import { inspect } from 'node:util';
import { SignJWT } from 'jose';
import { OAuthError } from '#src/oauth2-client/index.js';
import { refusalOf } from '#src/id-provider/testing/refusal.js';
import { OAuth2IdProvider } from '#src/id-provider/library.js';
import { rsaKey } from '../support/rsa-keys.js';
import { startHostileServer, type HostileServer } from '../support/hostile-server.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { failureInTime, holdTime, until } from './support/local-server.js';

const SECRET = 'very-secret-value-1';
const REFRESH = 'refresh-token-value-1';
const CODE = 'code-value-1';

const rsa = rsaKey();
const other = rsaKey(2048, 1);
const jwkOf = (key: KeyObject, kid: string) => ({
  ...key.export({ format: 'jwk' }),
  kid,
  use: 'sig',
});

let pki: TestPki;
let server: HostileServer;
let now: number;

describe('against a hostile provider', () => {
  beforeAll(async () => {
    pki = await createTestPki();
    server = await startHostileServer(pki);
  });

  afterAll(async () => {
    await server?.close();
    await pki?.remove();
  });

  beforeEach(() => {
    now = 1_800_000_000_000;
    server.reset();
    server.json('/.well-known/openid-configuration', metadata());
    server.json('/jwks', { keys: [jwkOf(rsa.publicKey, 'k1')] });
  });

  afterEach(() => jest.useRealTimers());

  function metadata(changes: object = {}): object {
    const { origin } = server;
    return {
      issuer: origin,
      authorization_endpoint: `${origin}/auth`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      introspection_endpoint: `${origin}/introspect`,
      device_authorization_endpoint: `${origin}/device`,
      userinfo_endpoint: `${origin}/userinfo`,
      jwks_uri: `${origin}/jwks`,
      ...changes,
    };
  }

  function provider(parameters: object = {}): OAuth2IdProvider {
    return new OAuth2IdProvider({
      ProviderName: 'hostile',
      issuer: server.origin,
      client_id: 'me',
      client_secret: SECRET,
      redirect_uri: 'https://portal.example/cb',
      scope: 'openid',
      verify: pki.ca.certPath,
      trust_env: false,
      clock: { now: () => now },
      ...parameters,
    });
  }

  function token(claims: object = {}, header: object = {}, key: KeyObject = rsa.privateKey) {
    const seconds = now / 1000;
    return new SignJWT({
      iss: server.origin,
      sub: 'jane',
      iat: seconds,
      exp: seconds + 600,
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header })
      .sign(key);
  }

  /** The whole result as text, causes included: nothing secret may be in it. */
  function expectNoSecret(result: unknown): void {
    const { cause } = result as { cause?: unknown };
    const text = `${inspect(result)} ${inspect(cause)} ${JSON.stringify(result)}`;
    for (const secret of [SECRET, REFRESH, CODE, Buffer.from(`me:${SECRET}`).toString('base64')]) {
      expect(text).not.toContain(secret);
    }
  }

  describe('metadata', () => {
    it.each([
      ['of another issuer', { issuer: 'https://evil.example' }, 'invalid_response'],
      ['without issuer', { issuer: undefined }, 'invalid_response'],
    ])('%s are refused', async (_name, changes, code) => {
      server.json('/.well-known/openid-configuration', metadata(changes));
      expect(await provider().fetch_metadata()).toMatchObject({ OK: false, Errno: code });
    });

    it.each([
      ['an array', 200, '[]', 'invalid_response'],
      ['a page', 200, '<html>', 'http_error'],
      ['an error page', 502, '<html>', 'http_error'],
      ['another success', 203, '{}', 'http_error'],
    ])('that are %s are refused', async (_name, status, body, code) => {
      server.on('/.well-known/openid-configuration', (_request, response) =>
        response.writeHead(status).end(body),
      );
      expect(await provider().fetch_metadata()).toMatchObject({ OK: false, Errno: code });
    });

    it('are fetched once by many callers, and kept for the time the server allows', async () => {
      server.json('/.well-known/openid-configuration', metadata(), 200, {
        'Cache-Control': 'max-age=100',
        ETag: '"1"',
      });
      const idp = provider();
      const values = await Promise.all(
        Array.from({ length: 20 }, () => idp.get_metadata('issuer')),
      );
      expect(new Set(values)).toEqual(new Set([server.origin]));
      now += 99_000;
      await idp.get_metadata('issuer');
      expect(server.requestsTo('/.well-known/openid-configuration')).toHaveLength(1);
      server.on('/.well-known/openid-configuration', (_request, response) =>
        response.writeHead(304).end(),
      );
      now += 2_000;
      expect(await idp.get_metadata('issuer')).toBe(server.origin);
      const [, second] = server.requestsTo('/.well-known/openid-configuration');
      expect(second?.headers['if-none-match']).toBe('"1"');
    });

    it('serve on when the provider is gone, with attempts that are spaced', async () => {
      const idp = provider();
      await idp.get_metadata('issuer');
      server.on('/.well-known/openid-configuration', (_request, response) =>
        response.writeHead(503).end(),
      );
      now += 86_401_000;
      expect(await idp.get_metadata('token_endpoint')).toBe(`${server.origin}/token`);
      expect(await idp.get_metadata('token_endpoint')).toBe(`${server.origin}/token`);
      expect(server.requestsTo('/.well-known/openid-configuration')).toHaveLength(2);
      now += 7 * 86_400_000;
      expect(await idp.get_metadata('token_endpoint')).toBeNull();
    });

    it('with an endpoint in plain http are not used', async () => {
      server.json(
        '/.well-known/openid-configuration',
        metadata({ token_endpoint: 'http://localhost:1/token' }),
      );
      expect(await refusalOf(provider().refreshToken(REFRESH))).toMatchObject({
        error: 'insecure_transport',
      });
    });
  });

  describe('the token endpoint', () => {
    const cases: [name: string, status: number, headers: object, body: string, expected: object][] =
      [
        ['redirects (307)', 307, { Location: '/elsewhere' }, '', { error: 'http_error' }],
        ['redirects to nowhere', 302, { Location: 'ftp://x' }, '', { error: 'http_error' }],
        ['answers a page', 200, {}, '<html>login</html>', { error: 'http_error' }],
        ['answers 429', 429, { 'Retry-After': '7' }, 'slow', { retryAfter: 7, retryable: true }],
        ['answers 503', 503, { 'Retry-After': '9' }, '{}', { retryAfter: 9, status: 503 }],
        ['answers 401 without error', 401, {}, '{"a":1}', { error: 'http_error' }],
        ['answers no token', 200, {}, '{"a":1}', { error: 'invalid_response' }],
        ['answers an array', 200, {}, '[1]', { error: 'invalid_response' }],
        [
          'answers an error with 200',
          200,
          {},
          '{"error":"invalid_scope"}',
          { error: 'invalid_scope' },
        ],
        [
          'answers a bad lifetime',
          200,
          {},
          '{"access_token":"a","expires_in":"soon"}',
          { error: 'invalid_response' },
        ],
        [
          'repeats what it was sent',
          400,
          {},
          JSON.stringify({
            error: 'invalid_grant',
            error_description: `${REFRESH} of ${SECRET}\n[forged]`,
          }),
          { error: 'invalid_grant', message: 'invalid_grant: [redacted] of [redacted] [forged]' },
        ],
      ];

    it.each(cases)('%s', async (...[, status, headers, body, expected]) => {
      server.on('/token', (_request, response) =>
        response.writeHead(status, headers as Record<string, string>).end(body),
      );
      const idp = provider({ token_endpoint_auth_method: 'client_secret_post' });
      const result = await refusalOf(idp.refreshToken(REFRESH));
      expect(result).toBeInstanceOf(OAuthError);
      expect(result).toMatchObject(expected);
      expectNoSecret(result);
      expect(server.requestsTo('/elsewhere')).toEqual([]);
    });

    it('answers without end', async () => {
      server.on('/token', (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const pump = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
          if (!response.destroyed) response.once('drain', pump);
        };
        pump();
      });
      expect(await refusalOf(provider().refreshToken(REFRESH))).toMatchObject({
        error: 'invalid_response',
      });
    });

    it('dribbles: the deadline of 10 s counts for the whole answer', async () => {
      let isAsked = false;
      server.on('/token', (_request, response) => {
        isAsked = true;
        response.writeHead(200);
        setInterval(() => response.write(' '), 200);
      });
      holdTime();
      const call = provider().refreshToken(REFRESH);
      await until(() => isAsked);
      const { error, passedMs } = await failureInTime(call);
      expect(error).toMatchObject({ error: 'timeout', retryable: true });
      expectNoSecret(error);
      expect(passedMs).toBeGreaterThanOrEqual(10_000);
      expect(passedMs).toBeLessThan(12_000);
    });

    it("a caller's timeout counts for the whole call too", async () => {
      server.on('/token', () => undefined);
      const failure = provider().refresh_token(`${server.origin}/token`, {
        refresh_token: REFRESH,
        timeout: 0.3,
      });
      await expect(failure).rejects.toMatchObject({ name: expect.stringMatching(/Timeout$/) });
    });

    it('a hook cannot lead it to plain http', async () => {
      const idp = provider();
      idp.register_compliance_hook('refresh_token_request', (_url, headers, body) => [
        'http://evil.example/',
        headers,
        body,
      ]);
      expect(await refusalOf(idp.refreshToken(REFRESH))).toMatchObject({
        error: 'insecure_transport',
      });
    });
  });

  describe('revocation, introspection, user information', () => {
    it.each([
      [503, { 'Retry-After': '3' }, '', { Errno: 'http_error', cause: { retryAfter: 3 } }],
      [400, {}, '{"error":"unsupported_token_type"}', { Errno: 'unsupported_token_type' }],
      [404, {}, 'no', { Errno: 'http_error' }],
    ])('revokeToken answered with %i', async (status, headers, body, expected) => {
      server.on('/revoke', (_request, response) =>
        response.writeHead(status, headers as Record<string, string>).end(body),
      );
      expect(await provider().revokeToken(REFRESH)).toMatchObject({ OK: false, ...expected });
    });

    it.each([
      ['no boolean', { active: 'yes' }, 200, 'invalid_response'],
      ['another status', { active: true }, 201, 'http_error'],
    ])('introspection that is %s is an error', async (_name, body, status, code) => {
      server.json('/introspect', body, status);
      expect(await provider().getUserGroups('opaque-token')).toMatchObject({
        OK: false,
        Errno: code,
      });
    });

    it('user information about somebody else is refused', async () => {
      server.json('/userinfo', { sub: 'mallory' });
      expect(await provider().getUserProfile(await token())).toMatchObject({
        OK: false,
        Errno: 'invalid_response',
      });
    });

    it('signed user information is verified', async () => {
      const signed = await token({ aud: 'me', name: 'Jane' });
      const answer = (body: string) =>
        server.on('/userinfo', (_request, response) =>
          response.writeHead(200, { 'Content-Type': 'application/jwt' }).end(body),
        );
      answer(signed);
      expect(await provider().getUserProfile(await token())).toMatchObject({
        OK: true,
        Value: { name: 'Jane' },
      });
      answer(await token({ aud: 'me' }, {}, other.privateKey));
      expect(await provider().getUserProfile(await token())).toMatchObject({ Errno: 'signature' });
    });

    it('cookies that the server sets for one user do not go along with the next', async () => {
      server.json('/userinfo', { sub: 'jane' }, 200, { 'Set-Cookie': 'who=jane; Path=/' });
      const idp = provider();
      await idp.getUserProfile(await token());
      await idp.getUserProfile(await token());
      expect(server.requestsTo('/userinfo').map((request) => request.headers.cookie)).toEqual([
        undefined,
        undefined,
      ]);
    });
  });
});
