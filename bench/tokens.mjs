/** Figures of tokens: made by certificate, and checked. */
import 'reflect-metadata';
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { jwtVerify } from 'jose';

const ISSUER = 'https://localhost:8443';
const KID = 'bench';
const HOUR_SECONDS = 3600;

const byCertificate = {
  name: 'tokens.certificate',
  title: 'GET /oauth2/token by client certificate, keep-alive TLS',
  unit: 'tokens/s',
  better: 'higher',
  floor: 'bare node:https with client certificates + one ES256 signature + one insert',
  async prepare(bench) {
    const server = await bench.server();
    const pair = await server.pair('alice');
    const query = 'grant_type=client_credentials&group=grid_user&setup=Prod';
    const path = `/oauth2/token?${query}`;
    const token = await server.token('alice');
    const { database } = server;
    await bench.sql(database, 'create table if not exists floor_token (id bigserial, t text)');
    const bare = await bench.bare({
      database,
      body: JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: HOUR_SECONDS }),
      sign: token.lastIndexOf('.'),
      text: "insert into floor_token (t) values ('a token')",
    });
    return {
      figure: (seconds) => bench.load({ server, path, pair, seconds }),
      floor: (seconds) => bench.load({ server: bare, path, pair, seconds }),
      finish: () => bare.stop(),
    };
  },
};

/** The service's own classes with a key that needs no database. */
async function verifiers(bench) {
  const { AccessTokens } = await bench.module('auth/bearer/access-token.js');
  const { VerifiedTokens } = await bench.module('auth/bearer/bearer-tokens.js');
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { kid: KID, algorithm: 'ES256', privateKey, publicKey };
  const keys = { signingKey: async () => key, publicKey: async () => key };
  const config = { publicUrl: ISSUER, accessTokenTtl: HOUR_SECONDS };
  const clock = { now: () => Date.now() };
  const tokens = new AccessTokens(keys, config, clock);
  const feed = { live: true, listen: () => () => undefined };
  const revocations = { isAnyRevoked: async () => false };
  const known = new VerifiedTokens(
    clock,
    tokens,
    revocations,
    { current: async () => undefined },
    feed,
  );
  const mint = async () => {
    const scopes = [
      'jobs:read',
      'jobs:submit',
      'jobs:kill',
      'catalogue:read',
      'catalogue:write',
      'webhooks',
    ];
    const input = {
      user: { name: 'alice', sub: '2f6c4a7e-5f0b-4a3d-9f7e-2b1c8d3e4f50' },
      group: 'grid_user',
      setup: 'Prod',
      clientId: 'certificate',
      scopes,
    };
    return (await tokens.mint(input)).token;
  };
  return { tokens, known, publicKey, mint };
}

const joseFloor = (publicKey, token, bench) => (seconds) =>
  bench.perSecond(
    () => jwtVerify(token, publicKey, { issuer: ISSUER, audience: ISSUER, typ: 'at+jwt' }),
    seconds,
    8,
  );

const verification = {
  name: 'tokens.verify',
  title: 'check of a token that is seen for the first time',
  unit: 'tokens/s',
  better: 'higher',
  floor: 'jose.jwtVerify',
  async prepare(bench) {
    const { tokens, mint, publicKey } = await verifiers(bench);
    const token = await mint();
    return {
      figure: (seconds) => bench.perSecond(() => tokens.verify(token), seconds, 8),
      floor: joseFloor(publicKey, token, bench),
    };
  },
};

const knownVerification = {
  name: 'tokens.verify-known',
  title: 'check of a token that has been seen before (revocation included)',
  unit: 'tokens/s',
  better: 'higher',
  floor: 'jose.jwtVerify',
  async prepare(bench) {
    const { known, mint, publicKey } = await verifiers(bench);
    const token = await mint();
    return {
      figure: (seconds) => bench.perSecond(() => known.claims(token), seconds, 8),
      floor: joseFloor(publicKey, token, bench),
    };
  },
};

/** Proofs that are made before a second of load; more than it can send. */
const PROOFS_A_SECOND = 10_000;

/** A DPoP key of a caller (RFC 9449), and proofs by it. */
function dpopKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = part({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } });
  return (claims) => {
    const iat = Math.floor(Date.now() / 1000);
    const text = `${head}.${part({ jti: randomUUID(), iat, ...claims })}`;
    const options = { key: privateKey, dsaEncoding: 'ieee-p1363' };
    return `${text}.${sign('sha256', Buffer.from(text), options).toString('base64url')}`;
  };
}

const withProofs = {
  name: 'tokens.dpop',
  title: 'GET /jobs/<jid> with a token that is bound to a DPoP key, each proof once',
  unit: 'req/s',
  better: 'higher',
  floor: 'the same with a bearer token',
  async prepare(bench) {
    const server = await bench.server();
    const pair = await server.pair('alice');
    const proof = dpopKey();
    const bearer = await server.token('alice');
    const json = { Executable: '/bin/true', Site: 'NOWHERE.bench' };
    const submitted = await server.call('POST', '/jobs', { token: bearer, json });
    const path = `/jobs/${submitted.body.jids[0]}`;
    const origin = server.url;
    const ask = (nonce) => {
      const query = 'grant_type=client_credentials&group=grid_user&setup=Prod';
      const dpop = proof({ htm: 'GET', htu: `${origin}/oauth2/token`, ...(nonce && { nonce }) });
      const rest = { pair, headers: { dpop }, mayFail: nonce === undefined };
      return server.call('GET', `/oauth2/token?${query}`, rest);
    };
    const nonceNow = async () => (await ask()).headers['dpop-nonce'];
    const token = (await ask(await nonceNow())).body.access_token;
    const ath = createHash('sha256').update(token).digest('base64url');
    return {
      figure: async (seconds) => {
        const claims = { htm: 'GET', htu: `${origin}${path}`, ath, nonce: await nonceNow() };
        const length = Math.ceil(PROOFS_A_SECOND * seconds);
        const values = Array.from({ length }, () => proof(claims));
        const headers = { authorization: `DPoP ${token}` };
        return bench.load({ server, path, headers, seconds, each: { name: 'dpop', values } });
      },
      floor: (seconds) => {
        const values = Array(Math.ceil(PROOFS_A_SECOND * seconds)).fill('-'.repeat(600));
        return bench.load({
          server,
          path,
          token: bearer,
          seconds,
          each: { name: 'x-no-proof', values },
        });
      },
    };
  },
};

export const figures = [byCertificate, verification, knownVerification, withProofs];
