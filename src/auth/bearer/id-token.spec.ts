import { createHash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { KeyVault, type Config } from '#src/config/index.js';
import type { IdTokenKeysService } from '../keys/id-token-keys.service.js';
import type { KeysService } from '../keys/keys.service.js';
import { makeSigningKey, openSigningKey, type SigningKey } from '../keys/signing-key.js';
import type { MintedToken } from './access-token.js';
import { IdTokens } from './id-token.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const SECONDS = Math.floor(NOW / 1000);
const SERVICE = 'https://grid.example';
const vault = new KeyVault(undefined);

async function newKey(algorithm: SigningKey['algorithm']): Promise<SigningKey> {
  const input = { algorithm, now: new Date(NOW), activeFrom: new Date(NOW), ttlSeconds: 600 };
  return openSigningKey(await makeSigningKey(input, vault), vault);
}

const ours = await newKey('ES256');
const edwards = await newKey('EdDSA');
const rsa = await newKey('RS256');
const stranger = await newKey('ES256');

/** A ring of keys of which one signs. */
const ring = (...keys: SigningKey[]) => ({
  signingKey: () => Promise.resolve(keys[0]),
  publicKey: (kid: string) => Promise.resolve(keys.find((key) => key.kid === kid)),
});

function idTokens(signer = ours): IdTokens {
  const keys = ring(signer, ours, edwards) as unknown as KeysService;
  const config = { publicUrl: SERVICE } as Config;
  return new IdTokens(keys, ring(rsa) as unknown as IdTokenKeysService, config, {
    now: () => NOW,
  });
}

/** An access token with these claims beside the usual ones. */
function access(claims: Partial<MintedToken['claims']> = {}): MintedToken {
  const all = {
    iss: SERVICE,
    sub: 'alice',
    aud: SERVICE,
    exp: SECONDS + 86_400,
    iat: SECONDS,
    jti: 'consent.serial',
    client_id: 'portal',
    scope: 'jobs:read openid',
    group: 'grid_user',
    setup: 'Prod',
    ...claims,
  };
  return { token: 'the.access.token', expiresInSeconds: 1, claims: all };
}

const CONSENT = { authTime: new Date(NOW - 5000), acr: 'urn:class', sid: 'session-1' };
const CLAIMS = {
  iss: SERVICE,
  sub: 'alice',
  aud: 'portal',
  exp: SECONDS + 3600,
  iat: SECONDS,
  auth_time: SECONDS - 5,
  nonce: 'n-1',
  acr: 'urn:class',
  at_hash: createHash('sha256')
    .update('the.access.token')
    .digest()
    .subarray(0, 16)
    .toString('base64url'),
  sid: 'session-1',
  jti: expect.stringMatching(/^[\w-]{22}$/),
  'wlcg.ver': '1.0',
};

describe('an ID token', () => {
  it('says who signed in when and how, for which application and request', async () => {
    const token = (await idTokens().mint(CONSENT, access(), { nonce: 'n-1' }))!;
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'JWT', kid: ours.kid });
    expect(decodeJwt(token)).toEqual(CLAIMS);
    await jwtVerify(token, ours.publicKey, { currentDate: new Date(NOW) });
  });

  it('has no nonce when the request had none, and ends with the access token', async () => {
    const token = (await idTokens().mint(CONSENT, access({ exp: SECONDS + 60 })))!;
    const { nonce: _none, ...claims } = CLAIMS;
    expect(decodeJwt(token)).toEqual({ ...claims, exp: SECONDS + 60 });
  });

  it('names the groups of the access token, and is like no other', async () => {
    const groups = ['/vo/grid_user', '/vo'];
    const named = access({ 'wlcg.groups': groups });
    const [one, two] = [
      await idTokens().mint(CONSENT, named),
      await idTokens().mint(CONSENT, named),
    ];
    expect(decodeJwt(one!)).toMatchObject({ 'wlcg.groups': groups });
    expect(decodeJwt(one!).jti).not.toBe(decodeJwt(two!).jti);
  });

  it('hashes the access token as its own algorithm does (Ed25519: SHA-512)', async () => {
    const { at_hash: hash } = decodeJwt((await idTokens(edwards).mint(CONSENT, access()))!);
    const half = createHash('sha512').update('the.access.token').digest().subarray(0, 32);
    expect(hash).toBe(half.toString('base64url'));
  });

  it('is signed by an RSA key for an application that is registered with RS256', async () => {
    const asked = { nonce: 'n-1', algorithm: 'RS256' as const };
    const token = (await idTokens(edwards).mint(CONSENT, access(), asked))!;
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'JWT', kid: rsa.kid });
    expect(decodeJwt(token)).toEqual(CLAIMS);
    await jwtVerify(token, rsa.publicKey, { currentDate: new Date(NOW) });
  });

  it.each([
    ['the scope openid', CONSENT, access({ scope: 'jobs:read openid2' })],
    ['a sign-in', { ...CONSENT, authTime: null }, access()],
    ['a class', { ...CONSENT, acr: null }, access()],
    ['a session', { ...CONSENT, sid: null }, access()],
  ])('is not given without %s', async (_what, consent, minted) => {
    expect(await idTokens().mint(consent, minted)).toBeUndefined();
  });
});

describe('a hint', () => {
  const forged = (
    claims: Record<string, unknown>,
    header: Record<string, unknown> = {},
    key = ours,
  ): Promise<string> =>
    new SignJWT({ ...CLAIMS, jti: 'x', ...claims })
      .setProtectedHeader({ alg: key.algorithm, typ: 'JWT', kid: key.kid, ...header })
      .sign(key.privateKey);

  it.each([ours, edwards, rsa])('tells whom it names, also when it has expired', async (key) => {
    const old = await forged({ exp: 1 }, {}, key);
    expect(await idTokens().read(old)).toEqual({ sub: 'alice', aud: 'portal', sid: 'session-1' });
  });

  it('may be without session', async () => {
    expect(await idTokens().read(await forged({ sid: undefined }))).toEqual({
      sub: 'alice',
      aud: 'portal',
    });
  });

  it.each<[string, () => Promise<string>]>([
    ['no token', () => Promise.resolve('nonsense')],
    ['of another issuer', () => forged({ iss: 'https://evil.example' })],
    ['signed by a stranger', () => forged({}, { kid: ours.kid }, stranger)],
    ['of an unknown key', () => forged({}, {}, stranger)],
    ['of an RSA key under another algorithm', () => forged({}, { kid: rsa.kid })],
    ['of one of our other keys under RS256', () => forged({}, { kid: ours.kid }, rsa)],
    ['without key', () => forged({}, { kid: undefined })],
    ['an access token', () => forged({}, { typ: 'at+jwt' })],
    ['for several', () => forged({ aud: ['portal', 'other'] })],
    ['without subject', () => forged({ sub: undefined })],
    ['with a subject that is no text', () => forged({ sub: 7 })],
    ['unsigned', async () => `${(await forged({}, {})).split('.').slice(0, 2).join('.')}.`],
  ])('that is %s says nothing', async (_what, make) => {
    expect(await idTokens().read(await make())).toBeUndefined();
  });
});
