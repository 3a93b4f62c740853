import { constants, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, decodeJwt, exportJWK, SignJWT, type JWK } from 'jose';
import { sha256, OAuthProblem, Problem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { rsaKey } from '../../../test/support/rsa-keys.js';
import type { KeysService } from '../keys/keys.service.js';
import { DpopNonces } from './dpop-nonces.js';
import { DpopFault, DpopProofs } from './dpop-proofs.js';
import { SenderConstraint } from './sender-constraint.js';
import { TokenHolders } from './token-holders.js';
import { proofMemory } from './testing/proof-memory.js';
import type { Client } from '#src/registry/index.js';
import { DpopRequests } from './dpop-requests.js';
import type { TokenPlace } from './confirmation.js';
import type { UsedProofsRepository } from './used-proofs.repository.js';

const NOW = Date.UTC(2026, 0, 2);
const SECONDS = NOW / 1000;
const ORIGIN = 'https://grid.example';
const TOKEN = 'a.b.c';

const holder = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = rsaKey();
const ed = generateKeyPairSync('ed25519');
const server = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const clock = { time: NOW, now: () => clock.time };
const keys = {
  signingKey: () => Promise.resolve({ kid: 'k', privateKey: server }),
} as unknown as KeysService;
const nonces = new DpopNonces(keys, clock);

/** Proofs with an empty memory. */
function made(used = proofMemory(clock)): DpopProofs {
  return new DpopProofs({ publicUrl: ORIGIN }, clock, nonces, used);
}

interface Made {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  key?: KeyObject | Uint8Array;
}

let jwk: JWK;
let jkt: string;
let nonce: string;
beforeAll(async () => {
  jwk = await exportJWK(holder.publicKey);
  jkt = await calculateJwkThumbprint(jwk);
});
beforeEach(async () => {
  clock.time = NOW;
  nonce = await nonces.current();
});

function proof({ claims = {}, header = {}, key = holder.privateKey }: Made = {}): Promise<string> {
  const usual = { jti: 'one', htm: 'GET', htu: `${ORIGIN}/jobs`, iat: SECONDS, nonce };
  return new SignJWT({ ...usual, ath: sha256(TOKEN), ...claims })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk, ...header })
    .sign(key);
}

interface Sent {
  dpop?: string | string[] | undefined;
  method?: string;
  url?: string;
}

/** A request, and the headers of its answer. */
function requestOf({ dpop, method = 'GET', url = '/jobs?maxJobs=1' }: Sent) {
  const answered: Record<string, string> = {};
  const request = {
    method,
    originalUrl: url,
    headers: dpop === undefined ? {} : { dpop },
    res: {
      headersSent: false,
      setHeader: (name: string, value: string) => (answered[name] = value),
    },
  } as unknown as HttpRequest;
  return { request, answered };
}

/** The thumbprint, or error and text of the refusal. */
async function outcome(sent: Sent, proofs = made()): Promise<unknown> {
  const { request, answered } = requestOf(sent);
  try {
    const found = await proofs.ofResourceRequest(request, TOKEN);
    return [found, answered];
  } catch (error) {
    if (!(error instanceof DpopFault)) throw error;
    return [error.error, error.message, answered];
  }
}

const invalid = (text: string) => ['invalid_dpop_proof', text, expect.anything()];
const NONE = invalid('The DPoP proof is not one: see RFC 9449');
const renew = [
  'use_dpop_nonce',
  'The DPoP proof needs the nonce of the DPoP-Nonce header',
  { 'DPoP-Nonce': expect.any(String) },
];

describe('a DPoP proof', () => {
  it('is of the holder of its key, and the answer has the next nonce', async () => {
    expect(await outcome({ dpop: await proof() })).toEqual([jkt, { 'DPoP-Nonce': nonce }]);
    expect(await outcome({})).toEqual([undefined, {}]);
  });

  it.each<[string, Made, unknown]>([
    [
      'for another method',
      { claims: { htm: 'POST' } },
      invalid('The DPoP proof is for another method (htm)'),
    ],
    [
      'for the method in small letters',
      { claims: { htm: 'get' } },
      invalid('The DPoP proof is for another method (htm)'),
    ],
    [
      'for another path',
      { claims: { htu: `${ORIGIN}/jobs/1` } },
      invalid('The DPoP proof is for another address (htu)'),
    ],
    [
      'for another host',
      { claims: { htu: 'https://x.example/jobs' } },
      invalid('The DPoP proof is for another address (htu)'),
    ],
    [
      'for no address',
      { claims: { htu: '/jobs' } },
      invalid('The DPoP proof is for another address (htu)'),
    ],
    [
      'for a number as address',
      { claims: { htu: 7 } },
      invalid('The DPoP proof is for another address (htu)'),
    ],
    [
      'for another token',
      { claims: { ath: sha256('x') } },
      invalid('The DPoP proof is for another token (ath)'),
    ],
    [
      'for no token',
      { claims: { ath: undefined } },
      invalid('The DPoP proof is for another token (ath)'),
    ],
    [
      'too old',
      { claims: { iat: SECONDS - 301 } },
      invalid('The DPoP proof is too old or from the future (iat)'),
    ],
    [
      'from the future',
      { claims: { iat: SECONDS + 61 } },
      invalid('The DPoP proof is too old or from the future (iat)'),
    ],
    ['good in the future', { claims: { nbf: SECONDS + 61 } }, NONE],
    ['with an empty jti', { claims: { jti: '' } }, invalid('The DPoP proof has no jti')],
    ['without jti', { claims: { jti: undefined } }, NONE],
    ['without time', { claims: { iat: undefined } }, NONE],
    ['that has ended', { claims: { exp: SECONDS - 11 } }, NONE],
    ['without method', { claims: { htm: undefined } }, NONE],
    ['of another type', { header: { typ: 'JWT' } }, NONE],
    ['without key', { header: { jwk: undefined } }, NONE],
    ['with a private key', { header: { jwk: holder.privateKey.export({ format: 'jwk' }) } }, NONE],
    ['with a key that is none', { header: { jwk: { kty: 'EC' } } }, NONE],
    [
      'signed by another key',
      { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
      NONE,
    ],
    [
      'by a shared secret',
      { header: { alg: 'HS256', jwk: { kty: 'oct', k: 'eA' } }, key: Buffer.from('x'.repeat(32)) },
      NONE,
    ],
    ['without nonce', { claims: { nonce: undefined } }, renew],
    ['with a made-up nonce', { claims: { nonce: `${Math.floor(SECONDS / 60)}.x` } }, renew],
    ['with a number as nonce', { claims: { nonce: 7 } }, renew],
  ])('%s is none', async (_what, sent, expected) => {
    expect(await outcome({ dpop: await proof(sent) })).toEqual(expected);
  });

  it('may be by PS256 and EdDSA, and not by RS256', async () => {
    const by = async (alg: string, { publicKey, privateKey }: typeof rsa) =>
      outcome({
        dpop: await proof({ header: { alg, jwk: await exportJWK(publicKey) }, key: privateKey }),
      });
    expect(await by('PS256', rsa)).toEqual([expect.any(String), expect.anything()]);
    expect(await by('EdDSA', ed)).toEqual([expect.any(String), expect.anything()]);
    expect(await by('RS256', rsa)).toEqual(NONE);
  });

  it('may be of a clock that is ten seconds ahead', async () => {
    const claims = { iat: SECONDS + 10, nbf: SECONDS + 10 };
    expect(await outcome({ dpop: await proof({ claims }) })).toEqual([jkt, expect.anything()]);
  });

  it('may not be by an RSA key of less than 2048 bits', async () => {
    const by = async (modulusLength: 1024 | 2048): Promise<unknown> => {
      const { publicKey, privateKey } = rsaKey(modulusLength);
      const payload = decodeJwt(await proof());
      const header = { typ: 'dpop+jwt', alg: 'PS256', jwk: await exportJWK(publicKey) };
      const text = [header, payload]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.');
      const padding = constants.RSA_PKCS1_PSS_PADDING;
      const bytes = sign('sha256', Buffer.from(text), { key: privateKey, padding, saltLength: 32 });
      return outcome({ dpop: `${text}.${bytes.toString('base64url')}` });
    };
    expect(await by(2048)).toEqual([expect.any(String), expect.anything()]);
    expect(await by(1024)).toEqual(NONE);
  });

  it('names the address in any spelling, with or without a query', async () => {
    const htu = 'HTTPS://GRID.example:443/jobs?x#y';
    expect(await outcome({ dpop: await proof({ claims: { htu } }) })).toEqual([
      jkt,
      { 'DPoP-Nonce': nonce },
    ]);
  });

  it('comes alone', async () => {
    const one = await proof();
    expect(await outcome({ dpop: `${one}, ${one}` })).toEqual(invalid('Send one DPoP proof'));
    expect(await outcome({ dpop: 'x'.repeat(8193) })).toEqual(invalid('Send one DPoP proof'));
    expect(await outcome({ dpop: 'nothing' })).toEqual(NONE);
  });

  it('counts once', async () => {
    const proofs = made();
    const dpop = await proof();
    expect(await outcome({ dpop }, proofs)).toEqual([jkt, expect.anything()]);
    expect(await outcome({ dpop }, proofs)).toEqual(invalid('The DPoP proof has been used before'));
    const next = await proof({ claims: { jti: 'two' } });
    expect(await outcome({ dpop: next }, proofs)).toEqual([jkt, expect.anything()]);
    const { request } = requestOf({ dpop });
    expect(await proofs.ofTokenRequest(request)).toBe(jkt);
    await expect(proofs.ofTokenRequest(request)).rejects.toThrow('has been used before');
  });

  it('does not count while nobody can tell whether it has been used', async () => {
    const away = Problem.unavailable('The database is away');
    const none = { useForRequest: () => Promise.reject(away) } as unknown as UsedProofsRepository;
    await expect(outcome({ dpop: await proof() }, made(none))).rejects.toBe(away);
  });

  it('counts once for as long as it is good, by a clock that is behind, too', async () => {
    const proofs = made();
    const dpop = await proof({ claims: { iat: SECONDS - 10 } });
    const { request } = requestOf({ dpop });
    clock.time = NOW - 20_000;
    expect(await outcome({ dpop }, proofs)).toEqual([jkt, expect.anything()]);
    expect(await proofs.ofTokenRequest(request)).toBe(jkt);
    clock.time = NOW + 290_000;
    expect(await outcome({ dpop })).toEqual([jkt, expect.anything()]);
    expect(await outcome({ dpop }, proofs)).toEqual(invalid('The DPoP proof has been used before'));
    await expect(proofs.ofTokenRequest(request)).rejects.toThrow('has been used before');
    clock.time += 1000;
    expect(await outcome({ dpop })).toEqual(
      invalid('The DPoP proof is too old or from the future (iat)'),
    );
  });

  it('is refused when its nonce is older than five minutes', async () => {
    const claims = { iat: SECONDS + 230 };
    const dpop = await proof({ claims });
    clock.time = NOW + 239_000;
    expect(await outcome({ dpop })).toEqual([jkt, expect.anything()]);
    clock.time = NOW + 300_000;
    expect(await outcome({ dpop })).toEqual(renew);
  });
});

describe('a bound token', () => {
  const certificates = {
    thumbprintOf: ({ headers }: HttpRequest) => headers['client-cert'] as string | undefined,
  } as never;

  /** True, or status, text and challenge of the refusal. */
  async function shown(
    cnf: unknown,
    place: TokenPlace,
    sent: Sent & { certificate?: string } = {},
  ): Promise<unknown> {
    const { request } = requestOf(sent);
    if (sent.certificate !== undefined) request.headers['client-cert'] = sent.certificate;
    try {
      await new TokenHolders(made(), certificates).check(cnf, { token: TOKEN, place, request });
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const challenge = error.headers['WWW-Authenticate'] ?? '';
      return [
        error.status,
        error.detail,
        challenge.replace(/realm="gridgate", |, error_desc.*$/g, ''),
      ];
    }
  }
  const dpop = (error: string, text: string) => [401, text, `DPoP error="${error}"`];
  const bearer = (text: string) => [401, text, 'Bearer error="invalid_token"'];

  it('that is bound to a key needs a proof of it, and the word DPoP', async () => {
    const cnf = { jkt };
    expect(await shown(cnf, 'dpop', { dpop: await proof() })).toBe(true);
    const asBearer = dpop(
      'invalid_token',
      'The access token is bound to a DPoP key: send it as DPoP token',
    );
    expect(await shown(cnf, 'bearer', { dpop: await proof() })).toEqual(asBearer);
    expect(await shown(cnf, 'query', { dpop: await proof() })).toEqual(asBearer);
    expect(await shown(cnf, 'dpop')).toEqual(dpop('invalid_dpop_proof', 'Send a DPoP proof'));
    expect(await shown({ jkt: 'x' }, 'dpop', { dpop: await proof() })).toEqual(
      dpop('invalid_token', 'The access token is bound to another DPoP key'),
    );
    expect(await shown(cnf, 'dpop', { dpop: 'nothing' })).toEqual(
      dpop('invalid_dpop_proof', 'The DPoP proof is not one: see RFC 9449'),
    );
    const old = await proof({ claims: { nonce: 'x' } });
    expect(await shown(cnf, 'dpop', { dpop: old })).toEqual(
      dpop('use_dpop_nonce', 'The DPoP proof needs the nonce of the DPoP-Nonce header'),
    );
  });

  it('that is bound to a certificate needs a connection with it', async () => {
    const cnf = { 'x5t#S256': 'print' };
    const text = 'The access token is bound to a client certificate';
    expect(await shown(cnf, 'bearer', { certificate: 'print' })).toBe(true);
    expect(await shown(cnf, 'bearer', { certificate: 'other' })).toEqual(bearer(text));
    expect(await shown(cnf, 'bearer')).toEqual(bearer(text));
    expect(await shown(cnf, 'dpop', { certificate: 'print' })).toEqual(bearer(text));
  });

  it.each([[{}], [null], ['x'], [{ jkt: 7 }], [{ kid: 'x' }], [{ jkt: 'x', 'x5t#S256': 'print' }]])(
    'that is bound by %j is of nobody',
    async (cnf) => {
      expect(await shown(cnf, 'bearer', { certificate: 'print' })).toEqual(
        bearer('The access token is bound in an unknown way'),
      );
    },
  );

  it('is never one that is not bound', async () => {
    expect(await shown(undefined, 'bearer')).toBe(true);
    expect(await shown(undefined, 'query')).toBe(true);
    expect(await shown(undefined, 'dpop', { dpop: await proof() })).toEqual(
      dpop('invalid_token', 'The access token is not bound to a DPoP key'),
    );
  });

  it.each<[string, Partial<Client> | undefined, boolean, boolean, unknown]>([
    ['a user by certificate', undefined, false, true, undefined],
    ['any application', {}, false, true, undefined],
    ['any application with a proof', {}, true, true, 'key'],
    ['tls_client_auth', { authentication: 'tls_client_auth' }, false, true, 'certificate'],
    [
      'a self-signed one',
      { authentication: 'self_signed_tls_client_auth' },
      false,
      true,
      'certificate',
    ],
    ['private_key_jwt', { authentication: 'private_key_jwt' }, false, true, undefined],
    ['fapi2 with a proof', { profile: 'fapi2' }, true, true, 'key'],
    ['fapi2 with a certificate', { profile: 'fapi2' }, false, true, 'certificate'],
    [
      'fapi2 with neither',
      { profile: 'fapi2' },
      false,
      false,
      [
        400,
        'invalid_request',
        'Tokens of this application are bound: send a DPoP proof or a client certificate',
      ],
    ],
  ])('is what %s gets', async (_who, client, hasProof, hasCertificate, expected) => {
    const dpop = hasProof ? await proof({ claims: { ath: undefined } }) : undefined;
    const { request } = requestOf({ dpop });
    if (hasCertificate) request.headers['client-cert'] = 'print';
    const constraint = new SenderConstraint(new DpopRequests(made()), certificates);
    const found = await constraint
      .of(client as Client | undefined, request)
      .catch((error: unknown) => {
        if (!(error instanceof OAuthProblem)) throw error;
        return [error.status, error.error, error.detail];
      });
    const bonds: Record<string, unknown> = { key: { jkt }, certificate: { 'x5t#S256': 'print' } };
    expect(found).toEqual(typeof expected === 'string' ? bonds[expected] : expected);
  });
});
