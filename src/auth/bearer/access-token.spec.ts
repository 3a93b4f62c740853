import { SignJWT } from 'jose';
import { type Config, KeyVault } from '#src/config/index.js';
import type { KeysService } from '../keys/keys.service.js';
import { makeSigningKey, openSigningKey, type SigningKey } from '../keys/signing-key.js';
import {
  AccessTokens,
  applicationItself,
  isOfApplication,
  lineageOf,
  userNameOf,
} from './access-token.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const SECONDS = Math.floor(NOW / 1000);
const SERVICE = 'https://grid.example';
const TTL = 600;
const vault = new KeyVault(undefined);

async function newKey(algorithm: 'ES256' | 'EdDSA'): Promise<SigningKey> {
  const input = { algorithm, now: new Date(NOW), activeFrom: new Date(NOW), ttlSeconds: 600 };
  return openSigningKey(await makeSigningKey(input, vault), vault);
}

const ours = await newKey('ES256');
const edwards = await newKey('EdDSA');
const stranger = await newKey('ES256');
const published = new Map([ours, edwards].map((key) => [key.kid, key]));

function tokensAt(now: number, signer = ours, acceptAnyAudience = false): AccessTokens {
  const keys = {
    signingKey: () => Promise.resolve(signer),
    publicKey: (kid: string) => Promise.resolve(published.get(kid)),
  };
  const config = { publicUrl: SERVICE, accessTokenTtl: TTL, acceptAnyAudience };
  return new AccessTokens(keys as unknown as KeysService, config as Config, {
    now: () => now,
  });
}

const input = {
  user: { name: 'alice', sub: 'id-of-alice' },
  group: 'grid_user',
  setup: 'Prod',
  clientId: 'portal',
  scopes: ['jobs:read', 'jobs:kill'] as const,
};
const CLAIMS = {
  iss: SERVICE,
  sub: 'id-of-alice',
  aud: SERVICE,
  exp: SECONDS + 600,
  nbf: SECONDS - 60,
  iat: SECONDS,
  jti: 'grant-1.serial',
  client_id: 'portal',
  scope: 'jobs:read',
  group: 'grid_user',
  setup: 'Prod',
  preferred_username: 'alice',
  'wlcg.ver': '1.0',
};

/** What tokens of older versions have not, and ours need not have to be good. */
const LATER = ['nbf', 'preferred_username', 'wlcg.ver'];

/** A token as we make them, but for what is changed. */
async function forged(
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
  key = ours,
): Promise<string> {
  const all = { alg: key.algorithm, typ: 'at+jwt', kid: key.kid, ...header };
  return new SignJWT({ ...CLAIMS, ...claims }).setProtectedHeader(all).sign(key.privateKey);
}

/** Another first character always is another signature; of the last one only some bits count. */
function withChangedSignature(token: string): string {
  const [header, payload, signature = ''] = token.split('.');
  const first = signature.startsWith('A') ? 'B' : 'A';
  return `${header}.${payload}.${first}${signature.slice(1)}`;
}

describe('a new access token', () => {
  it.each([ours, edwards])('says for whom and what it is, signed by %#', async (key) => {
    const tokens = tokensAt(NOW, key);
    const minted = await tokens.mint({ ...input, parentId: 'grant-1' });
    expect(minted).toEqual({
      token: expect.any(String),
      expiresInSeconds: 600,
      claims: {
        ...CLAIMS,
        scope: 'jobs:read jobs:kill',
        jti: expect.stringMatching(/^grant-1\.[\w-]{16,}$/),
      },
    });
    expect(await tokens.verify(minted.token)).toEqual(minted.claims);
  });

  it.each([
    [200_000, 200],
    [200_999, 200],
    [600_000, 600],
    [601_000, 600],
    [999, 0],
  ])('ends with what it was got by: %i ms ahead it lives %i s', async (ahead, seconds) => {
    const minted = await tokensAt(NOW).mint({
      ...input,
      notAfter: new Date(SECONDS * 1000 + ahead),
    });
    expect([minted.expiresInSeconds, minted.claims.exp]).toEqual([seconds, SECONDS + seconds]);
  });

  it.each([
    [600, ['storage.read:/a'], 600],
    [21600, ['storage.read:/a', 'jobs:read'], 3600],
    [21600, ['wlcg', 'compute.read'], 21600],
  ])('lives %i s with %j at most %i s', async (ttl, scopes, seconds) => {
    const config = { publicUrl: SERVICE, accessTokenTtl: ttl };
    const keys = { signingKey: () => Promise.resolve(ours) };
    const tokens = new AccessTokens(keys as unknown as KeysService, config as Config, {
      now: () => NOW,
    });
    expect((await tokens.mint({ ...input, scopes })).expiresInSeconds).toBe(seconds);
  });

  it('says for which services it is, with which groups, who acts and who holds it', async () => {
    const act = { sub: 'b', act: { sub: 'a' } };
    const confirmation = { jkt: 'key' };
    const more = { act, confirmation, audiences: ['x'], groups: ['/vo'] };
    const minted = await tokensAt(NOW).mint({ ...input, ...more });
    const claims = { act, cnf: confirmation, aud: 'x', 'wlcg.groups': ['/vo'] };
    expect(minted.claims).toMatchObject(claims);
    const several = await tokensAt(NOW).mint({ ...input, audiences: ['x', 'y'] });
    expect(several.claims.aud).toEqual(['x', 'y']);
  });

  it('may be an application’s own, under a name that no user can have', async () => {
    const user = applicationItself('robot');
    const own = await tokensAt(NOW).mint({ ...input, user, clientId: 'robot' });
    expect(own.claims).toMatchObject({ sub: 'robot', preferred_username: 'application:robot' });
    expect(isOfApplication(own.claims)).toBe(true);
    const named = { ...input, user: { name: 'robot', sub: 'robot' }, clientId: 'robot' };
    expect(isOfApplication((await tokensAt(NOW).mint(named)).claims)).toBe(false);
    const { preferred_username: _none, ...older } = own.claims;
    expect(isOfApplication(older)).toBe(false);
  });

  it('is made for stored users only', async () => {
    const made = tokensAt(NOW).mint({ ...input, user: { name: 'zoe' } });
    await expect(made).rejects.toThrow('the user zoe is not stored');
  });

  it('has an id of its own, also without a grant', async () => {
    const first = await tokensAt(NOW).mint(input);
    const second = await tokensAt(NOW).mint(input);
    expect(first.claims.jti).toMatch(/^[\w-]{16,}$/);
    expect(first.claims.jti).not.toBe(second.claims.jti);
  });

  it('dies with what its id begins with', () => {
    expect(lineageOf('grant-1.serial.child')).toEqual([
      ...['grant-1', 'grant-1.serial', 'grant-1.serial.child'],
    ]);
    expect(lineageOf('serial')).toEqual(['serial']);
  });
});

describe('a token that is shown', () => {
  it('is good until it expires', async () => {
    const token = await forged({});
    expect(await tokensAt(NOW + 599_000).verify(token)).toEqual(CLAIMS);
    expect(await tokensAt((SECONDS + 600) * 1000).verify(token)).toBeUndefined();
  });

  it.each<[string, () => Promise<string> | string]>([
    ['no token', () => 'nonsense'],
    ['an empty one', () => ''],
    ['of another service', () => forged({ iss: 'https://other.example' })],
    ['for what is no service', () => forged({ aud: [7] })],
    ['of another kind', () => forged({}, { typ: 'JWT' })],
    ['without kind', () => forged({}, { typ: undefined })],
    ['without key id', () => forged({}, { kid: undefined })],
    ['with the key id of another key', () => forged({}, { kid: ours.kid }, stranger)],
    ['with the key id of another algorithm', () => forged({}, { kid: edwards.kid })],
    ['signed by a stranger', () => forged({}, {}, stranger)],
    ['with a changed signature', async () => withChangedSignature(await forged({}))],
    ...Object.keys(CLAIMS)
      .filter((name) => !LATER.includes(name))
      .map((name): [string, () => Promise<string>] => [
        `without ${name}`,
        () => forged({ [name]: undefined }),
      ]),
    ...['sub', 'jti', 'client_id', 'scope', 'group', 'setup'].map(
      (name): [string, () => Promise<string>] => [
        `with a ${name} that is no text`,
        () => forged({ [name]: 7 }),
      ],
    ),
  ])('is no good: %s', async (_what, token) => {
    expect(await tokensAt(NOW).verify(await token())).toBeUndefined();
  });

  it('is not good before its time', async () => {
    const token = await forged({ nbf: SECONDS });
    expect(await tokensAt(NOW).verify(token)).toEqual({ ...CLAIMS, nbf: SECONDS });
    expect(await tokensAt((SECONDS - 1) * 1000).verify(token)).toBeUndefined();
  });

  it('may be of an older version, which called users by name', async () => {
    const older = Object.fromEntries(LATER.map((name) => [name, undefined]));
    const claims = await tokensAt(NOW).verify(await forged({ ...older, sub: 'alice' }));
    expect(claims && userNameOf(claims)).toBe('alice');
    expect(userNameOf({ ...CLAIMS, preferred_username: 'bob' })).toBe('bob');
  });

  it('is good for several services when we are among them', async () => {
    const aud = ['https://other.example', SERVICE];
    expect(await tokensAt(NOW).verify(await forged({ aud }))).toEqual({ ...CLAIMS, aud });
  });

  it.each([
    [SERVICE, true, true],
    [['https://other.example', SERVICE], true, true],
    ['https://other.example', false, false],
    [`${SERVICE}/`, false, false],
    [SERVICE.toUpperCase(), false, false],
    [[], false, false],
    ['https://wlcg.cern.ch/jwt/v1/any', false, true],
    [['https://other.example', 'https://wlcg.cern.ch/jwt/v1/any'], false, true],
  ])('for %j is for this service: %s, where any will do: %s', (aud, expected, withAny) => {
    expect(tokensAt(NOW).isForService({ ...CLAIMS, aud })).toBe(expected);
    expect(tokensAt(NOW, ours, true).isForService({ ...CLAIMS, aud })).toBe(withAny);
  });

  it('is not judged while its key cannot be looked up', async () => {
    const away = { publicKey: () => Promise.reject(new Error('no database')) };
    const config = { publicUrl: SERVICE, accessTokenTtl: 600 };
    const tokens = new AccessTokens(away as unknown as KeysService, config as Config, {
      now: () => NOW,
    });
    await expect(tokens.verify(await forged({}))).rejects.toThrow('no database');
  });
});
