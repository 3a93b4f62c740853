import { generateKeyPairSync } from 'node:crypto';
import type { JsonObject } from '#src/kernel/index.js';
import { rsaKey } from '../../../test/support/rsa-keys.js';
import { clientFaults } from './client-rules.js';
import type { Client } from './registry.types.js';

const jwkOf = (pair: { publicKey: { export(o: { format: 'jwk' }): object } }): JsonObject =>
  pair.publicKey.export({ format: 'jwk' }) as JsonObject;
const ec = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const odd = jwkOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }));
const small = jwkOf(rsaKey(1024));
const secret = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as JsonObject;
const set = (...keys: unknown[]): JsonObject => ({ keys }) as JsonObject;

/** `member: problem` of each fault. */
function faults(change: Partial<Client>): string[] {
  const client: Client = {
    id: 'x',
    name: 'X',
    redirectUris: ['https://x.example/cb'],
    confidential: true,
    origin: 'file',
    ...change,
  };
  return clientFaults(client).map(({ member = '', problem }) => `${member}: ${problem}`);
}

const jwt = { authentication: 'private_key_jwt' } as const;
const tls = { authentication: 'tls_client_auth' } as const;
const own = { authentication: 'self_signed_tls_client_auth' } as const;

describe('how an application may be registered', () => {
  it.each<[string, Partial<Client>]>([
    ['a public one', { confidential: false }],
    ['a secret', { secretHash: 'h' }],
    ['a key', { ...jwt, jwks: set(ec) }],
    ['a DN', { ...tls, subjectDn: '/CN=x' }],
    ['oauth2.1, public', { confidential: false, profile: 'oauth2.1' }],
    ['RS256 for its ID tokens', { secretHash: 'h', idTokenAlg: 'RS256' }],
    ['fapi2 with a key', { ...jwt, jwks: set(ec), profile: 'fapi2' }],
    ['tokens for itself', { secretHash: 'h', scopes: ['jobs:read'], group: 'g' }],
  ])('with %s', (_what, change) => {
    expect(faults(change)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['no map', 7],
    ['an empty map', {}],
    ['a key that cannot be read', { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }],
    ['a kind of key to come', { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA' }],
    ['a curve that is not used', odd],
    ['a short key', small],
    ['a key for encryption', { ...ec, use: 'enc' }],
  ])('with a key beside %s', (_what, other) => {
    expect(faults({ ...jwt, jwks: set(other, ec) })).toEqual([]);
    expect(faults({ ...jwt, jwks: set(ec, other) })).toEqual([]);
  });

  const keyFault = (text: string) => [`jwks: ${text}`];

  it.each<[string, Partial<Client>, string[]]>([
    [
      'nothing',
      {},
      [
        ': a confidential application needs a secretHash (gridgate client add --confidential makes one) or authentication',
      ],
    ],
    ['no keys', jwt, [': private_key_jwt needs jwks']],
    ['no list of keys', { ...jwt, jwks: {} }, keyFault('needs a list keys of 1 to 20 keys')],
    ['an empty list', { ...jwt, jwks: set() }, keyFault('needs a list keys of 1 to 20 keys')],
    ['no key', { ...jwt, jwks: set(7) }, keyFault('keys[0] is no map')],
    [
      'a private key',
      { ...jwt, jwks: set(ec, secret) },
      keyFault('keys[1] holds d: only public keys belong here'),
    ],
    [
      'a shared secret',
      { ...jwt, jwks: set({ kty: 'oct', k: 'AAAA' }) },
      keyFault('keys[0] holds k: only public keys belong here'),
    ],
    [
      'nonsense',
      { ...jwt, jwks: set({ kty: 'EC' }) },
      keyFault('keys[0] is no key that can be read'),
    ],
    ['a short key', { ...jwt, jwks: set(small) }, keyFault('keys[0] has less than 2048 bits')],
    [
      'another curve',
      { ...jwt, jwks: set(odd) },
      keyFault('keys[0] is of none of P-256, P-384, P-521, Ed25519'),
    ],
    [
      'a key for encryption',
      { ...jwt, jwks: set({ ...ec, use: 'enc' }) },
      keyFault('keys[0] is not for signatures (use)'),
    ],
    ['no certificate', { ...own, jwks: set(ec) }, keyFault('keys[0] has no certificate (x5c)')],
    [
      'a broken certificate',
      { ...own, jwks: set({ ...ec, x5c: ['AAAA'] }) },
      keyFault('keys[0] has no certificate (x5c)'),
    ],
    ['no DN', tls, [': tls_client_auth needs a subjectDn']],
    [
      'two ways',
      { ...tls, subjectDn: '/CN=x', secretHash: 'h', jwks: set(ec) },
      ['secretHash: is not used by tls_client_auth', 'jwks: is not used by tls_client_auth'],
    ],
    [
      'a DN beside a key',
      { ...jwt, jwks: set(ec), subjectDn: '/CN=x' },
      ['subjectDn: is not used by private_key_jwt'],
    ],
    [
      'keys that nothing uses',
      { secretHash: 'h', jwks: set(ec) },
      ['jwks: needs an authentication that uses it'],
    ],
    [
      'a public one with keys',
      { confidential: false, ...jwt, jwks: set(ec), secretHash: 'h' },
      [
        'secretHash: only a confidential application has a secret',
        'authentication: is for confidential applications',
        'jwks: is for confidential applications',
      ],
    ],
    [
      'a public one with fapi2',
      { confidential: false, profile: 'fapi2' },
      [': fapi2 needs an authentication by key or certificate'],
    ],
    [
      'fapi2 and a secret',
      { profile: 'fapi2', secretHash: 'h' },
      [': fapi2 needs an authentication by key or certificate'],
    ],
    [
      'fapi2 and RS256',
      { profile: 'fapi2', ...jwt, jwks: set(ec), idTokenAlg: 'RS256' },
      ['idTokenAlg: RS256 is too weak for fapi2'],
    ],
    [
      'fapi2 and a plain address',
      { profile: 'fapi2', ...jwt, jwks: set(ec), redirectUris: ['http://localhost/cb'] },
      ['redirectUris: must all be https with fapi2'],
    ],
    [
      'tokens for itself without proof',
      { confidential: false, scopes: ['jobs:read'], group: 'g' },
      [': only a confidential application may have tokens for itself (scopes)'],
    ],
    [
      'a group without scopes',
      { secretHash: 'h', group: 'g' },
      [': tokens for itself need both scopes and group'],
    ],
    [
      'scopes without a group',
      { secretHash: 'h', scopes: ['jobs:read'] },
      [': tokens for itself need both scopes and group'],
    ],
    [
      'no scope',
      { secretHash: 'h', scopes: [], group: 'g' },
      [': tokens for itself need both scopes and group'],
    ],
  ])('not with %s', (_what, change, expected) => {
    expect(faults(change)).toEqual(expected);
  });
});
