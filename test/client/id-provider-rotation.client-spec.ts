import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { refusalOf } from '#src/id-provider/testing/refusal.js';
import { OAuth2IdProvider } from '#src/id-provider/library.js';
import { rsaKey } from '../support/rsa-keys.js';
import { startHostileServer, type HostileServer } from '../support/hostile-server.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const rsa = rsaKey();
const nextRsa = rsaKey(2048, 1);
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const nextEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const nextEd = generateKeyPairSync('ed25519');

const jwkOf = ({ publicKey }: Pair, members: object = { kid: 'rsa1' }): object => ({
  ...publicKey.export({ format: 'jwk' }),
  ...members,
});

let pki: TestPki;
let server: HostileServer;
let now: number;

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
  const { origin } = server;
  server.json('/.well-known/openid-configuration', {
    issuer: origin,
    authorization_endpoint: `${origin}/auth`,
    token_endpoint: `${origin}/token`,
    userinfo_endpoint: `${origin}/userinfo`,
    jwks_uri: `${origin}/jwks`,
  });
});

const publish = (...keys: unknown[]): void => server.json('/jwks', { keys });
const fetches = (): number => server.requestsTo('/jwks').length;

function provider(): OAuth2IdProvider {
  return new OAuth2IdProvider({
    issuer: server.origin,
    client_id: 'me',
    client_secret: 'secret',
    verify: pki.ca.certPath,
    trust_env: false,
    clock: { now: () => now },
  });
}

function signed({ privateKey }: Pair, header: object = {}, claims: object = {}): Promise<string> {
  const seconds = now / 1000;
  return new SignJWT({ iss: server.origin, sub: 'jane', exp: seconds + 100_000, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'rsa1', ...header })
    .sign(privateKey);
}

async function outcome(idp: OAuth2IdProvider, token: string): Promise<unknown> {
  const refusal = await refusalOf(idp.verifyToken(token));
  return refusal === undefined ? 'accepted' : (refusal as { error?: string }).error;
}

/** A provider whose keys were fetched with the first key, which has then been replaced by the second. */
async function rotated(
  before: Pair,
  after: Pair,
  header: object,
  members: object,
): Promise<OAuth2IdProvider> {
  publish(jwkOf(before, members));
  const idp = provider();
  expect(await outcome(idp, await signed(before, header))).toBe('accepted');
  publish(jwkOf(after, members));
  return idp;
}

describe('a key that is replaced under the same key id', () => {
  it.each([0, 29, 60, 3600, 86_000])(
    'is found with one further fetch, %i s after the last, and the old one is refused',
    async (seconds) => {
      const idp = await rotated(rsa, nextRsa, {}, { kid: 'rsa1' });
      now += seconds * 1000;
      expect(await outcome(idp, await signed(nextRsa))).toBe('accepted');
      expect(await outcome(idp, await signed(rsa))).toBe('signature');
      expect(fetches()).toBe(2);
    },
  );

  it.each<[string, Pair, Pair, object, object]>([
    ['of ECDSA', ec, nextEc, { alg: 'ES256' }, { kid: 'rsa1' }],
    ['of EdDSA', ed, nextEd, { alg: 'EdDSA' }, { kid: 'rsa1' }],
    ['of RSA-PSS', rsa, nextRsa, { alg: 'PS256' }, { kid: 'rsa1', alg: 'PS256' }],
    ['without a key id in token and set', rsa, nextRsa, { kid: undefined }, {}],
    ['without a key id in the token', rsa, nextRsa, { kid: undefined }, { kid: 'rsa1' }],
  ])('is found when it is one %s', async (_what, before, after, header, members) => {
    const idp = await rotated(before, after, header, members);
    expect(await outcome(idp, await signed(after, header))).toBe('accepted');
    expect(fetches()).toBe(2);
  });

  it('is found by signed user information', async () => {
    const idp = await rotated(rsa, nextRsa, {}, { kid: 'rsa1' });
    const profile = await signed(nextRsa, { typ: 'JWT' }, { aud: 'me', name: 'Jane' });
    server.on('/userinfo', (_request, response) =>
      response.writeHead(200, { 'Content-Type': 'application/jwt' }).end(profile),
    );
    expect(await idp.getUserProfile(await signed(nextRsa))).toMatchObject({
      OK: true,
      Value: { sub: 'jane', name: 'Jane' },
    });
    expect(fetches()).toBe(2);
  });

  it('is found beside the old one, which both may sign, without a further fetch', async () => {
    publish(jwkOf(rsa), jwkOf(nextRsa));
    const idp = provider();
    expect(await outcome(idp, await signed(rsa))).toBe('accepted');
    expect(await outcome(idp, await signed(nextRsa))).toBe('accepted');
    expect(fetches()).toBe(1);
  });

  it('is found half a minute after a fetch that failed', async () => {
    const idp = await rotated(rsa, nextRsa, {}, { kid: 'rsa1' });
    server.on('/jwks', (_request, response) => response.writeHead(503).end());
    expect(await outcome(idp, await signed(nextRsa))).toBe('signature');
    publish(jwkOf(nextRsa));
    now += 29_000;
    expect(await outcome(idp, await signed(nextRsa))).toBe('signature');
    expect(fetches()).toBe(2);
    now += 1_000;
    expect(await outcome(idp, await signed(nextRsa))).toBe('accepted');
    expect(fetches()).toBe(3);
  });

  it('is not looked for more than once in 30 s under a flood of bad tokens', async () => {
    publish(jwkOf(rsa));
    const idp = provider();
    const good = await signed(rsa);
    expect(await outcome(idp, good)).toBe('accepted');
    const bad = await Promise.all([
      signed(nextRsa),
      signed(nextRsa, {}, { sub: 'mallory' }),
      signed(nextRsa, { kid: 'x1' }),
      signed(nextRsa, { kid: 'x2' }),
      signed(nextRsa, { kid: undefined }),
    ]);
    const flood = async (): Promise<void> => {
      const outcomes = Array.from({ length: 20 }, () => bad.map((token) => outcome(idp, token)));
      for (const one of await Promise.all(outcomes.flat())) {
        expect(one).toMatch(/^(?:signature|unknown_key)$/);
      }
    };
    for (let second = 0; second < 30; second += 1) {
      await flood();
      now += 1_000;
    }
    expect(fetches()).toBe(2);
    await flood();
    expect(fetches()).toBe(3);
    expect(await outcome(idp, good)).toBe('accepted');
  });
});
