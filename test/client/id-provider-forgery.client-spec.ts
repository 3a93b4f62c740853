import { createHmac, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { refusalOf } from '#src/id-provider/testing/refusal.js';
import { OAuth2IdProvider } from '#src/id-provider/library.js';
import { rsaKey } from '../support/rsa-keys.js';
import { startHostileServer, type HostileServer } from '../support/hostile-server.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';

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

describe('against a forger', () => {
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
    const { Message, cause } = result as { Message: string; cause?: Error };
    const text = `${Message} ${String(cause)} ${cause?.stack ?? ''} ${JSON.stringify(result)}`;
    for (const secret of [SECRET, REFRESH, CODE, Buffer.from(`me:${SECRET}`).toString('base64')]) {
      expect(text).not.toContain(secret);
    }
  }

  describe('keys and tokens', () => {
    const unsigned = (header: object, payload: object): string =>
      [header, payload]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.');

    it('accepts a good token and only that', async () => {
      const idp = provider({ jwks: undefined });
      const good = await token();
      expect(await idp.verifyToken(good)).toMatchObject({ sub: 'jane' });
      const [header, payload, signature] = good.split('.') as [string, string, string];
      const seconds = now / 1000;
      const forged = unsigned(
        { alg: 'none', kid: 'k1' },
        { iss: server.origin, exp: seconds + 60 },
      );
      const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
      const confused = unsigned(
        { alg: 'HS256', kid: 'k1' },
        { iss: server.origin, exp: seconds + 60 },
      );
      const mac = createHmac('sha256', pem).update(confused).digest('base64url');
      const bad: [candidate: string, code: string][] = [
        [`${forged}.`, 'alg'],
        [`${confused}.${mac}`, 'alg'],
        [await token({}, { alg: 'RS256' }, other.privateKey), 'signature'],
        [`${header}.${payload}.${signature.slice(0, -4)}AAAA`, 'signature'],
        [await token({ exp: seconds - 61 }), 'expired'],
        [await token({ exp: undefined }), 'expired'],
        [await token({ nbf: seconds + 61 }), 'not_yet'],
        [await token({ iat: seconds + 61 }), 'not_yet'],
        [await token({ iss: 'https://evil.example' }), 'issuer'],
        [await token({}, { typ: 'dpop+jwt' }), 'typ'],
        [await token({}, { kid: 'unknown' }), 'unknown_key'],
        ['opaque', 'opaque'],
        ['a.b', 'opaque'],
        ['a.b.c', 'malformed'],
        ['a.b.c.d.e', 'malformed'],
        [`${'x'.repeat(17_000)}.a.b`, 'too_large'],
        ['', 'missing_token'],
      ];
      for (const [candidate, code] of bad) {
        expect(await refusalOf(idp.verifyToken(candidate))).toMatchObject({ error: code });
      }
    });

    it('learns rotated keys with one request, and not again within 30 s', async () => {
      const idp = provider();
      await idp.verifyToken(await token());
      server.json('/jwks', { keys: [jwkOf(other.publicKey, 'k2')] });
      const rotated = await token({ exp: now / 1000 + 6000 }, { kid: 'k2' }, other.privateKey);
      expect(await refusalOf(idp.verifyToken(rotated))).toMatchObject({ error: 'unknown_key' });
      now += 31_000;
      const results = await Promise.all(Array.from({ length: 50 }, () => idp.verifyToken(rotated)));
      expect(results.every(({ sub }) => sub === 'jane')).toBe(true);
      expect(server.requestsTo('/jwks')).toHaveLength(2);
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const invented = await token({}, { kid: `x${attempt}` });
        expect(await refusalOf(idp.verifyToken(invented))).toMatchObject({ error: 'unknown_key' });
      }
      expect(server.requestsTo('/jwks')).toHaveLength(2);
    });

    it('keeps the old keys while the provider answers rubbish', async () => {
      const idp = provider();
      const good = await token({ exp: now / 1000 + 200_000 });
      expect(await idp.verifyToken(good)).toMatchObject({ sub: 'jane' });
      server.json('/jwks', { keys: 'none' });
      now += 86_401_000;
      expect(await idp.verifyToken(good)).toMatchObject({ sub: 'jane' });
      expect(await idp.fetchJWKs()).toMatchObject({ OK: false, Errno: 'invalid_response' });
      expect(await idp.getJWKs()).toMatchObject({ keys: [{ kid: 'k1' }] });
    });

    it('refuses a key set beyond 256 KiB', async () => {
      server.json('/jwks', { keys: [], filler: 'x'.repeat(300_000) });
      expect(await provider().fetchJWKs()).toMatchObject({ OK: false, Errno: 'invalid_response' });
    });
  });

  describe('the answer of a login', () => {
    async function begin(idp: OAuth2IdProvider): Promise<string> {
      const begun = await idp.submitNewSession();
      return new URL((begun as { Value: string }).Value).searchParams.get('state') as string;
    }

    const refused: [name: string, query: (state: string) => string, code: string][] = [
      ['no state', () => `code=${CODE}`, 'mismatching_state'],
      ['a repeated code', (s) => `code=${CODE}&code=b&state=${s}`, 'invalid_response'],
      ['a repeated state', (s) => `code=${CODE}&state=${s}&state=x`, 'invalid_response'],
      [
        'another issuer',
        (s) => `code=${CODE}&state=${s}&iss=https://evil.example`,
        'invalid_response',
      ],
      ['an error', (s) => `error=access_denied&state=${s}`, 'access_denied'],
      ['no code', (s) => `state=${s}`, 'missing_code'],
    ];

    it.each(refused)('with %s is refused without a request', async (_name, query, code) => {
      const idp = provider();
      const state = await begin(idp);
      const result = await idp.parseAuthResponse(
        { method: 'GET', uri: `https://portal.example/cb?${query(state)}` },
        { state },
      );
      expect(result).toMatchObject({ OK: false, Errno: code });
      expectNoSecret(result);
      expect(server.requestsTo('/token')).toEqual([]);
    });

    it('must name the issuer where the server announces that', async () => {
      server.json(
        '/.well-known/openid-configuration',
        metadata({ authorization_response_iss_parameter_supported: true }),
      );
      const idp = provider();
      const state = await begin(idp);
      const uri = `https://portal.example/cb?code=${CODE}&state=${state}`;
      expect(await idp.parseAuthResponse({ uri }, { state })).toMatchObject({
        Errno: 'invalid_response',
      });
    });

    it('of another provider of the same store is refused', async () => {
      const records = new Map<string, unknown>();
      const loginSessions = {
        put: (state: string, record: unknown) => void records.set(state, record),
        take: (state: string) => records.get(state) as never,
      };
      const state = await begin(provider({ loginSessions }));
      const mixedUp = provider({ loginSessions, ProviderName: 'another' });
      const uri = `https://portal.example/cb?code=${CODE}&state=${state}`;
      expect(await mixedUp.parseAuthResponse({ uri }, { state })).toMatchObject({
        Errno: 'mismatching_state',
      });
    });

    const idTokens: [name: string, claims: object, header: object, code: string][] = [
      ['another nonce', { nonce: 'x' }, {}, 'nonce'],
      ['another audience', { aud: 'you' }, {}, 'audience'],
      ['another authorized party', { azp: 'you' }, {}, 'audience'],
      ['another access token', { at_hash: 'x' }, {}, 'at_hash'],
      ['no subject', { sub: undefined }, {}, 'sub'],
      ['another subject', { sub: 'bob' }, {}, 'invalid_response'],
      ['the kind of an access token', {}, { typ: 'at+jwt' }, 'typ'],
    ];

    it.each(idTokens)('with an ID token of %s is refused', async (_name, claims, header, code) => {
      const records = new Map<string, { nonce: string }>();
      const loginSessions = {
        put: (state: string, record: unknown) =>
          void records.set(state, record as { nonce: string }),
        take: (state: string) => records.get(state) as never,
      };
      const idp = provider({ loginSessions });
      const state = await begin(idp);
      const { nonce } = records.get(state) as { nonce: string };
      const idToken = await token({ aud: 'me', nonce, ...claims }, header);
      server.json('/token', {
        access_token: await token(),
        token_type: 'Bearer',
        id_token: idToken,
      });
      const uri = `https://portal.example/cb?code=${CODE}&state=${state}`;
      expect(await idp.parseAuthResponse({ uri }, { state })).toMatchObject({
        OK: false,
        Errno: code,
      });
    });

    it('without the ID token that was asked for is refused', async () => {
      const idp = provider();
      const state = await begin(idp);
      server.json('/token', { access_token: await token(), token_type: 'Bearer' });
      const uri = `https://portal.example/cb?code=${CODE}&state=${state}`;
      expect(await idp.parseAuthResponse({ uri }, { state })).toMatchObject({
        Errno: 'invalid_response',
      });
    });
  });
});
