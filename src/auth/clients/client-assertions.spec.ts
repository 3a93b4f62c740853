import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { exportJWK, SignJWT, type JWK } from 'jose';
import type { JsonObject } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import type { Client } from '#src/registry/index.js';
import { rsaKey } from '../../../test/support/rsa-keys.js';
import { proofMemory } from '../possession/testing/proof-memory.js';
import { ClientAssertions } from './client-assertions.js';

const NOW = Date.UTC(2026, 0, 2);
const SECONDS = NOW / 1000;
const ISSUER = 'https://grid.example';
const TOKEN = `${ISSUER}/oauth2/token`;

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = rsaKey();
const ed = generateKeyPairSync('ed25519');
const third = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const TO_TOKEN = { originalUrl: '/oauth2/token' } as HttpRequest;
const clock = { time: NOW, now: () => clock.time };
beforeEach(() => {
  clock.time = NOW;
});

let client: Client;
let jwks: { keys: JWK[] };

/** A fresh memory of used assertions each time. */
function made(): ClientAssertions {
  return new ClientAssertions({ publicUrl: ISSUER }, clock, proofMemory(clock));
}

interface Made {
  claims?: Record<string, unknown>;
  alg?: string;
  key?: KeyObject | Uint8Array;
  header?: object;
}

function signed({
  claims = {},
  alg = 'ES256',
  key = ec.privateKey,
  header,
}: Made = {}): Promise<string> {
  const all = {
    ...{ iss: 'app', sub: 'app', aud: ISSUER, jti: 'one', iat: SECONDS, exp: SECONDS + 60 },
    ...claims,
  };
  return new SignJWT(all).setProtectedHeader({ alg, ...header }).sign(key);
}

const isProof = async (
  made_: Made,
  { profile, path = '/oauth2/token' }: { profile?: Client['profile']; path?: string } = {},
): Promise<boolean> =>
  made().isProof({ ...client, ...(profile && { profile }) }, await signed(made_), {
    originalUrl: path,
  } as HttpRequest);

describe('an assertion of an application (private_key_jwt)', () => {
  beforeAll(async () => {
    const keys = [ec, rsa, ed].map(({ publicKey }) => exportJWK(publicKey));
    jwks = { keys: await Promise.all(keys) };
    client = {
      id: 'app',
      name: 'App',
      redirectUris: [],
      confidential: true,
      authentication: 'private_key_jwt',
      jwks: jwks,
      origin: 'file',
    };
  });

  it.each<[string, Made, boolean, boolean]>([
    ['for the issuer', {}, true, true],
    ['for the token endpoint', { claims: { aud: TOKEN } }, true, false],
    ['for the issuer in a list', { claims: { aud: [ISSUER] } }, true, false],
    ['for somebody else', { claims: { aud: 'https://other.example' } }, false, false],
    ['for nobody', { claims: { aud: undefined } }, false, false],
    ['of another issuer', { claims: { iss: 'other' } }, false, false],
    ['of another subject', { claims: { sub: 'other' } }, false, false],
    ['without jti', { claims: { jti: undefined } }, false, false],
    ['with an empty jti', { claims: { jti: '' } }, false, false],
    ['without end', { claims: { exp: undefined } }, false, false],
    ['that has ended', { claims: { exp: SECONDS - 11 } }, false, false],
    ['that has ended by a clock that is behind', { claims: { exp: SECONDS - 5 } }, true, true],
    ['that is good for longer than an hour', { claims: { exp: SECONDS + 3601 } }, false, false],
    [
      'from a clock that is ahead',
      { claims: { iat: SECONDS + 10, nbf: SECONDS + 10 } },
      true,
      true,
    ],
    ['made in the future', { claims: { iat: SECONDS + 61 } }, false, false],
    ['good in the future', { claims: { nbf: SECONDS + 61 } }, false, false],
    // RFC 7519 §4.1: a date is a number; whoever makes an assertion for this service can mend it
    ['with null as beginning', { claims: { nbf: null } }, false, false],
    ['with null as time of making', { claims: { iat: null } }, false, false],
    ['with a text as time of making', { claims: { iat: String(SECONDS) } }, false, false],
    ['by EdDSA', { alg: 'EdDSA', key: ed.privateKey }, true, true],
    ['by PS256', { alg: 'PS256', key: rsa.privateKey }, true, true],
    ['by RS256', { alg: 'RS256', key: rsa.privateKey }, true, false],
    ['by RS512', { alg: 'RS512', key: rsa.privateKey }, false, false],
    ['by a key of somebody else', { key: other.privateKey }, false, false],
    ['by a secret', { alg: 'HS256', key: Buffer.from('x'.repeat(32)) }, false, false],
    ['by a key id that is not registered', { header: { kid: 'x' } }, false, false],
  ])('%s', async (_what, sent, usually, withFapi2) => {
    expect([await isProof(sent), await isProof(sent, { profile: 'fapi2' })]).toEqual([
      usually,
      withFapi2,
    ]);
  });

  it.each<[string, unknown]>([
    ['no object', 7],
    ['an empty one', {}],
    ['a kind of key to come', { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA' }],
    ['a point that is on no curve', { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }],
    ['one of RSA that is too short', rsaKey(1024).publicKey.export({ format: 'jwk' })],
    ['one for encryption', { ...other.publicKey.export({ format: 'jwk' }), use: 'enc' }],
    ['one with members of no known type', { kty: ['RSA'], n: 1, e: null, kid: {} }],
  ])('is verified with the keys beside %s', async (_what, odd) => {
    for (const keys of [
      [odd, ...jwks.keys],
      [...jwks.keys, odd],
    ]) {
      const owner = { ...client, jwks: { keys } as JsonObject };
      const answers = [
        await made().isProof(owner, await signed(), TO_TOKEN),
        await made().isProof(owner, await signed({ alg: 'PS256', key: rsa.privateKey }), TO_TOKEN),
        await made().isProof(owner, await signed({ key: other.privateKey }), TO_TOKEN),
      ];
      expect(answers).toEqual([true, true, false]);
    }
  });

  it('may be for the endpoint that it is sent to', async () => {
    const sent = { claims: { aud: `${ISSUER}/oauth2/par` } };
    expect(await isProof(sent, { path: '/oauth2/par?x=1' })).toBe(true);
    expect(await isProof(sent, { path: '/oauth2/token' })).toBe(false);
  });

  it('counts once', async () => {
    const assertions = made();
    const request = { originalUrl: '/oauth2/token' } as HttpRequest;
    const text = await signed();
    expect(await assertions.isProof(client, text, request)).toBe(true);
    expect(await assertions.isProof(client, text, request)).toBe(false);
    const next = await signed({ claims: { jti: 'two' } });
    expect(await assertions.isProof(client, next, request)).toBe(true);
  });

  it('counts once for as long as it is good, by a clock that is behind, too', async () => {
    const assertions = made();
    const request = { originalUrl: '/oauth2/token' } as HttpRequest;
    const text = await signed({ claims: { exp: SECONDS + 3600 } });
    expect(await assertions.isProof(client, text, request)).toBe(true);
    clock.time = NOW + 3_609_000;
    expect(await made().isProof(client, text, request)).toBe(true);
    expect(await assertions.isProof(client, text, request)).toBe(false);
    clock.time += 1000;
    expect(await made().isProof(client, text, request)).toBe(false);
  });

  it('finds its key among several of one kind without a key id', async () => {
    const two = await Promise.all([other, ec].map(({ publicKey }) => exportJWK(publicKey)));
    const request = { originalUrl: '/oauth2/token' } as HttpRequest;
    const many = { ...client, jwks: { keys: two } as unknown as JsonObject };
    expect(await made().isProof(many, await signed(), request)).toBe(true);
    expect(await made().isProof(many, await signed({ key: third }), request)).toBe(false);
  });

  it('finds its key by its kind among several with one key id', async () => {
    const keyOf = async ({ publicKey }: typeof ec) => ({
      ...(await exportJWK(publicKey)),
      kid: 'k',
    });
    const two = await Promise.all([rsa, ec].map(keyOf));
    const same = await Promise.all([other, ec].map(keyOf));
    const text = await signed({ header: { kid: 'k' } });
    const forged = await signed({ header: { kid: 'k' }, key: third });
    const request = { originalUrl: '/oauth2/token' } as HttpRequest;
    for (const keys of [two, same]) {
      const many = { ...client, jwks: { keys } as unknown as JsonObject };
      expect(await made().isProof(many, text, request)).toBe(true);
      expect(await made().isProof(many, forged, request)).toBe(false);
    }
  });

  it('is none without keys, or when it is no JWT', async () => {
    const request = { originalUrl: '/oauth2/token' } as HttpRequest;
    const { jwks: _keys, ...keyless } = client;
    expect(await made().isProof(keyless, await signed(), request)).toBe(false);
    expect(await made().isProof(client, 'nothing', request)).toBe(false);
  });
});
