import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { Response } from '#src/http-client/index.js';
import type { OAuthError } from '#src/oauth2-client/index.js';
import { rsaKey } from '../../../test/support/rsa-keys.js';
import { refusalOf } from '../testing/refusal.js';
import { OAuth2IdProvider } from '../provider/oauth2-id-provider.js';

const NOW = 1_800_000_000;
const ISSUER = 'https://as.test';

const rsa = rsaKey();
const short = rsaKey(1024);
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' });
const ed = generateKeyPairSync('ed25519');

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}
const jwkOf = (pair: Pair, members: object = {}) => ({
  ...pair.publicKey.export({ format: 'jwk' }),
  ...members,
});

function sign(pair: Pair, header: { alg: string; [member: string]: unknown }, claims: object = {}) {
  return new SignJWT({ iss: ISSUER, sub: 'j', exp: NOW + 600, ...claims })
    .setProtectedHeader(header)
    .sign(pair.privateKey);
}

function provider(parameters: object = {}): OAuth2IdProvider {
  return new OAuth2IdProvider({ issuer: ISSUER, clock: { now: () => NOW * 1000 }, ...parameters });
}

/** The code of the refusal, or ok. */
async function outcome(verification: Promise<unknown>): Promise<string> {
  const error = await refusalOf(verification);
  return error === undefined ? 'ok' : (error as OAuthError).error;
}

describe('verifyToken with given keys', () => {
  it.each([
    ['RS256', rsa],
    ['RS384', rsa],
    ['RS512', rsa],
    ['PS256', rsa],
    ['PS384', rsa],
    ['PS512', rsa],
    ['ES256', p256],
    ['ES384', p384],
    ['ES512', p521],
    ['EdDSA', ed],
  ])('%s: accepts the signature, refuses any other', async (alg, pair) => {
    const token = await sign(pair, { alg, kid: 'k' });
    const jwks = { keys: [jwkOf(pair, { kid: 'k' })] };
    expect(await provider().verifyToken(token, jwks)).toEqual({
      iss: ISSUER,
      sub: 'j',
      exp: NOW + 600,
    });
    const [header = '', payload = '', signature = ''] = token.split('.');
    const first = signature.startsWith('A') ? 'B' : 'A';
    const forged = `${header}.${payload}.${first}${signature.slice(1)}`;
    expect(await outcome(provider().verifyToken(forged, jwks))).toBe('signature');
  });

  it('learns the issuer from the metadata when only their place is configured', async () => {
    const token = await sign(rsa, { alg: 'RS256' });
    const idp = provider({ issuer: '', server_metadata_url: `${ISSUER}/m`, trust_env: false });
    idp.mount('https://', {
      send: (request) =>
        Promise.resolve(
          new Response({
            status_code: 200,
            url: request.url,
            content: JSON.stringify({ issuer: ISSUER }),
            request,
          }),
        ),
      close: () => undefined,
    });
    expect(await outcome(idp.verifyToken(token, { keys: [jwkOf(rsa)] }))).toBe('ok');
  });

  it.each([
    ['no kid, one key', {}, [jwkOf(rsa)], 'ok'],
    ['no kid, one key that fits', {}, [jwkOf(p256), jwkOf(rsa)], 'ok'],
    [
      'no kid, two keys that fit',
      {},
      [jwkOf(rsa, { kid: 'a' }), jwkOf(rsa, { kid: 'b' })],
      'unknown_key',
    ],
    ['another kid', { kid: 'x' }, [jwkOf(rsa, { kid: 'k' })], 'unknown_key'],
    ['a key for encryption', {}, [jwkOf(rsa, { use: 'enc' })], 'unknown_key'],
    ['a key for another algorithm', {}, [jwkOf(rsa, { alg: 'PS256' })], 'unknown_key'],
    ['a key for other operations', {}, [jwkOf(rsa, { key_ops: ['encrypt'] })], 'unknown_key'],
    [
      'a key of another type with the kid',
      { kid: 'k' },
      [jwkOf(p256, { kid: 'k' })],
      'unknown_key',
    ],
    [
      'one of two keys with the kid',
      { kid: 'k' },
      [jwkOf(p256, { kid: 'k' }), jwkOf(rsa, { kid: 'k' })],
      'ok',
    ],
    ['a broken key', {}, [{ kty: 'RSA', n: '', e: '' }], 'unknown_key'],
    ['no keys', {}, [], 'unknown_key'],
    ['crit', { crit: ['b64'], b64: true }, [jwkOf(rsa)], 'crit'],
    ['an own key in the header', { jwk: jwkOf(rsa) }, [jwkOf(p256)], 'unknown_key'],
    ['typ at+jwt', { typ: 'AT+JWT' }, [jwkOf(rsa)], 'ok'],
    ['typ of a logout token', { typ: 'logout+jwt' }, [jwkOf(rsa)], 'typ'],
  ])('%s', async (_name, header, keys, code) => {
    const token = await sign(rsa, { alg: 'RS256', ...header });
    expect(await outcome(provider().verifyToken(token, { keys }))).toBe(code);
  });

  it.each([
    ['one audience', 'a', 'a', 'ok'],
    ['one of several', ['x', 'a'], ['a', 'b'], 'ok'],
    ['the audience of all', 'https://wlcg.cern.ch/jwt/v1/any', 'a', 'ok'],
    ['another', 'x', 'a', 'audience'],
    ['none', undefined, 'a', 'audience'],
    ['none asked for', 'x', undefined, 'ok'],
  ])('audience: %s', async (_name, aud, audience, code) => {
    const token = await sign(rsa, { alg: 'RS256' }, { aud });
    const jwks = { keys: [jwkOf(rsa)] };
    expect(await outcome(provider({ audience }).verifyToken(token, jwks))).toBe(code);
  });

  it.each([
    [{ exp: NOW - 59 }, 60, 'ok'],
    [{ exp: NOW - 60 }, 60, 'expired'],
    [{ exp: NOW - 1 }, 0, 'expired'],
    [{ exp: 'x' }, 60, 'malformed'],
    [{ exp: null }, 60, 'malformed'],
    [{ nbf: null, iat: null }, 60, 'ok'],
    [{ nbf: String(NOW) }, 60, 'malformed'],
    [{ iat: String(NOW) }, 60, 'malformed'],
    [{ nbf: NOW + 60 }, 60, 'ok'],
    [{ nbf: NOW + 61 }, 60, 'not_yet'],
    [{ iat: NOW + 61 }, 60, 'not_yet'],
  ])('times: %j with tolerance %i', async (claims, tolerance, code) => {
    const token = await sign(rsa, { alg: 'RS256' }, claims);
    const jwks = { keys: [jwkOf(rsa)] };
    expect(await outcome(provider({ tolerance }).verifyToken(token, jwks))).toBe(code);
  });

  it('refuses RSA keys below 2048 bit and algorithms the provider does not allow', async () => {
    const weak = await sign(rsa, { alg: 'RS256' });
    const tooShort = { keys: [jwkOf(short)] };
    expect(await outcome(provider().verifyToken(weak, tooShort))).toBe('unknown_key');
    const narrow = provider({ algorithms: ['ES256'] });
    expect(await outcome(narrow.verifyToken(weak, { keys: [jwkOf(rsa)] }))).toBe('alg');
  });

  const good = jwkOf(rsa, { kid: 'k' });

  // RFC 7517 §5: what is not understood is skipped, entry by entry
  it.each<[string, unknown[]]>([
    ['null', [null, good]],
    ['a text, a number and a list', ['k', 7, [good], good]],
    ['a key without a type', [{ kid: 'k' }, good]],
    ['a key of a later type', [{ kty: 'AKP', alg: 'ML-DSA-44', kid: 'k', pub: 'AAAA' }, good]],
    ['a secret', [{ kty: 'oct', kid: 'k', k: 'AAAA' }, good]],
    ['a type that is no text', [{ kty: ['RSA'], kid: 'k' }, { ...good, kty: 1 }, good]],
    ['a broken key of the same key id', [{ kty: 'RSA', kid: 'k', n: '!', e: 7 }, good]],
    ['a key of the same key id that is too short', [jwkOf(short, { kid: 'k' }), good]],
    ['a key id that is no text', [{ ...good, kid: 7 }, good]],
    ['members that are null', [{ ...good, alg: null, use: null, key_ops: null, x5c: null }]],
    ['a thousand others', [...Array.from({ length: 1000 }, (_, n) => ({ kty: 'EC', n })), good]],
  ])('%s among the keys spoils nothing', async (_what, keys) => {
    const token = await sign(rsa, { alg: 'RS256', kid: 'k' });
    expect(await outcome(provider().verifyToken(token, { keys } as never))).toBe('ok');
  });

  it.each([{}, { keys: 'x' }, { keys: null }])('%j is no key set', async (jwks) => {
    const token = await sign(rsa, { alg: 'RS256' });
    expect(await outcome(provider().verifyToken(token, jwks as never))).toBe('no_keys');
  });
});
