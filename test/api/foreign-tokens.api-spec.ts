import { createHash, createHmac, X509Certificate } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
} from 'jose';
import { ACCESS_TOKEN, narrow, registerMovers } from '../support/grid-tokens.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const AUDIENCE = 'https://grid.example/api';
const ANY = 'https://wlcg.cern.ch/jwt/v1/any';
const directory = (path: string): string =>
  `/filecatalogue/directory/${Buffer.from(path).toString('base64url')}`;

/** A token issuer of the WLCG: a description, a key, and nothing else. */
class Issuer {
  private constructor(
    private readonly server: Server,
    private readonly keys: Record<'ES256' | 'RS256', CryptoKey>,
    /** Of the RSA key. */
    readonly publicPem: string,
  ) {}

  static async start(pki: TestPki): Promise<Issuer> {
    const [ec, rsa] = await Promise.all([
      generateKeyPair('ES256'),
      generateKeyPair('RS256', { extractable: true }),
    ]);
    const jwks = [
      { ...(await exportJWK(ec.publicKey)), kid: 'ES256', alg: 'ES256', use: 'sig' },
      { ...(await exportJWK(rsa.publicKey)), kid: 'RS256', alg: 'RS256', use: 'sig' },
    ];
    const [cert, key] = [pki.server.certPath, pki.server.keyPath].map((path) => readFileSync(path));
    const server = createServer({ cert, key }, (request, response) => {
      const documents: Record<string, object> = {
        '/.well-known/openid-configuration': {
          issuer: issuer.url,
          jwks_uri: `${issuer.url}/jwk`,
          token_endpoint: `${issuer.url}/token`,
          authorization_endpoint: `${issuer.url}/auth`,
        },
        '/jwk': { keys: jwks },
      };
      const document = documents[request.url ?? ''];
      response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(document ?? {}));
    });
    const secrets = { ES256: ec.privateKey, RS256: rsa.privateKey };
    const issuer = new Issuer(server, secrets, await exportSPKI(rsa.publicKey));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `https://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /** A token with other claims and, if wished, another header; `by` signs it instead of the issuer. */
  async token(
    change: Record<string, unknown>,
    alg: 'ES256' | 'RS256' = 'ES256',
    { header = {}, by = this.keys[alg] }: { header?: Record<string, unknown>; by?: CryptoKey } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ iss: this.url, sub: 'jane', aud: AUDIENCE, 'wlcg.ver': '1.0', jti: `t${Math.random()}` },
      ...{ iat: now, nbf: now - 60, exp: now + 600, ...change },
    };
    return new SignJWT(claims)
      .setProtectedHeader({ alg, typ: 'JWT', kid: alg, ...header })
      .sign(by);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('tokens of another issuer of the WLCG', () => {
  const file = join(tmpdir(), `foreign-issuers-${process.pid}.json`);
  let pki: TestPki;
  let issuer: Issuer;
  let grid: Grid;

  beforeAll(async () => {
    pki = await createTestPki();
    issuer = await Issuer.start(pki);
    const entry = { issuer: issuer.url, verify: pki.ca.certPath, audience: AUDIENCE };
    const client = { client_id: 'grid', acceptTokens: true, exchangeTokens: true };
    await writeFile(file, JSON.stringify({ Foreign: { ...entry, ...client } }));
    grid = await startGrid({ env: { GRID_ID_PROVIDERS: file } });
    await registerMovers(grid);
    await grid.sql(`insert into registry_subject values ('${issuer.url}', 'jane', 'alice', 0)`);
  });
  afterAll(async () => {
    await grid?.remove();
    await issuer?.stop();
    await pki?.remove();
    await rm(file, { force: true });
  });

  async function ask(
    claims: Record<string, unknown>,
    path = '/jobs',
    headers: Record<string, string> = {},
    server = grid,
  ): Promise<unknown[]> {
    const caller = server.bearer(await issuer.token(claims));
    const { status, body } = await caller.get(path, { headers });
    return status === 200 ? [200] : [status, body.code];
  }

  const INVALID = [401, 'auth.token-invalid'];
  const SCOPE = [403, 'auth.insufficient-scope'];

  it('count by their capabilities alone where they have one, whatever service it is for', async () => {
    expect(await ask({ scope: 'openid' })).toEqual([200]);
    expect(await ask({ scope: 'compute.read' })).toEqual([200]);
    expect(await ask({ scope: 'compute.create' })).toEqual(SCOPE);
    expect(await ask({ scope: 'storage.read:/vo' })).toEqual(SCOPE);
    expect(await ask({ scope: 'storage.read:/vo', 'wlcg.groups': ['/vo/grid_user'] })).toEqual(
      SCOPE,
    );
  });

  it('open the paths of their scopes and no others', async () => {
    const scope = 'storage.read:/vo/a';
    expect(await ask({ scope }, directory('/vo/a'))).toEqual([200]);
    expect(await ask({ scope }, directory('/vo/a/run1'))).toEqual([200]);
    expect(await ask({ scope }, directory('/vo'))).toEqual(SCOPE);
    expect(await ask({ scope }, directory('/vo/ab'))).toEqual(SCOPE);
    expect(await ask({ scope: 'storage.stage:/vo/a' }, directory('/vo/a'))).toEqual(SCOPE);
  });

  it('stand for the groups that they name, as far as the user has them', async () => {
    const group = { 'x-grid-group': 'grid_share' };
    const named = { scope: 'compute.read', 'wlcg.groups': ['/vo/grid_share', '/vo'] };
    expect(await ask(named, '/jobs', group)).toEqual([200]);
    const other = { ...named, 'wlcg.groups': ['/vo/grid_user'] };
    expect(await ask(other, '/jobs', group)).toEqual([403, 'auth.forbidden']);
    for (const foreign of [['/vo/grid_adm'], ['/other/grid_user'], ['/vo'], []]) {
      expect(await ask({ ...named, 'wlcg.groups': foreign })).toEqual([403, 'auth.forbidden']);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['an issuer that is not trusted', { iss: 'https://other.example' }],
    ['another major version', { 'wlcg.ver': '2.0' }],
    ['a version of no form', { 'wlcg.ver': 'new' }],
    ['a storage scope without a path', { scope: 'storage.read compute.read' }],
    ['a path that is not in normal form', { scope: 'compute.read storage.read:/vo/../a' }],
    ['another audience', { aud: 'https://elsewhere.example' }],
    ['no audience', { aud: undefined }],
    ['an empty list of audiences', { aud: [] }],
    ['an audience that only begins like ours', { aud: `${AUDIENCE}/more` }],
    ['no end', { exp: undefined }],
    ['a scope that is no text', { scope: { read: true } }],
    ['a scope of other things than texts', { scope: ['compute.read', 7] }],
    ['groups that are no list', { 'wlcg.groups': '/vo/grid_user' }],
    ['groups that are no texts', { 'wlcg.groups': [{ name: '/vo/grid_user' }] }],
    ['the rules of another profile', { scope: 'read:/vo', ver: 'scitokens:2.0' }],
    ['a bond to nothing', { cnf: {} }],
    ['a bond that is null', { cnf: null }],
    ['a bond to two things', { cnf: { jkt: 'key', 'x5t#S256': 'thumb' } }],
    ['a bond of a kind that cannot be checked', { cnf: { kid: 'one' } }],
    ['every service for its audience', { aud: ANY }],
    ['an end that has passed', { exp: 1_600_000_000 }],
    ['a beginning that is to come', { nbf: 4_000_000_000 }],
    ['another subject', { sub: 'john' }],
    ['the key of a DPoP client', { cnf: { jkt: 'key' } }],
    ['a certificate that is not shown', { cnf: { 'x5t#S256': 'thumb' } }],
  ])('are refused with %s', async (_what, claims) => {
    expect(await ask({ scope: 'compute.read', ...claims })).toEqual(INVALID);
  });

  it('may have further claims and a newer minor version', async () => {
    const more = { scope: 'compute.read', 'wlcg.ver': '1.7', 'wlcg.other': ['x'], roles: 'admin' };
    expect(await ask(more)).toEqual([200]);
    const kill = { ...more, permissions: ['jobs:submit'], scopes: 'compute.create jobs:submit' };
    const submitter = grid.bearer(await issuer.token(kill));
    const { status, body } = await submitter.post('/jobs', { json: { Executable: '/bin/true' } });
    expect([status, body.code]).toEqual(SCOPE);
  });

  it('may be signed by RS256 as well as ES256, and not by a secret', async () => {
    const claims = { scope: 'compute.read' };
    const status = async (token: string) => (await grid.bearer(token).get('/jobs')).status;
    expect(await status(await issuer.token(claims, 'ES256'))).toBe(200);
    expect(await status(await issuer.token(claims, 'RS256'))).toBe(200);
    const [head = '', body = ''] = (await issuer.token(claims, 'RS256')).split('.');
    const header = { ...decodeProtectedHeader(`${head}.${body}.`), alg: 'HS256' };
    const text = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${body}`;
    const mac = createHmac('sha256', issuer.publicPem).update(text).digest('base64url');
    expect(await status(`${text}.${mac}`)).toBe(401);
  });

  it('give nothing for capabilities that nobody knows here, instead of everything', async () => {
    for (const scope of ['storage.write:/vo', 'storage.list:/vo', 'compute.admin']) {
      expect([scope, await ask({ scope })]).toEqual([scope, SCOPE]);
    }
    expect(await ask({ scope: 'compute.admin compute.read' })).toEqual([200]);
  });

  it('may have their scope in a list', async () => {
    expect(await ask({ scope: ['openid', 'compute.read'] })).toEqual([200]);
    expect(await ask({ scope: ['storage.read:/vo/a'] })).toEqual(SCOPE);
  });

  it('have to be signed by a key of the issuer, in the way of that key', async () => {
    const [rival, rsa] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('RS256')]);
    const jwk = await exportJWK(rival.publicKey);
    const made = (header: Record<string, unknown>, by?: CryptoKey): Promise<string> =>
      issuer.token({}, 'ES256', { header, ...(by && { by }) });
    const tokens: [string, string][] = [
      ['by another key', await made({}, rival.privateKey)],
      ['by a key that it brings', await made({ jwk }, rival.privateKey)],
      [
        'by a key that it says where to find',
        await made({ jku: `${issuer.url}/jwk`, kid: 'two' }, rival.privateKey),
      ],
      ['by a key without a name', await made({ kid: undefined }, rival.privateKey)],
      ['in another way than that of its key', await made({ alg: 'RS256' }, rsa.privateKey)],
      ['not at all', new UnsecuredJWT(decodeJwt(await issuer.token({}))).encode()],
      ['for another purpose', await made({ typ: 'dpop+jwt' })],
      ['in the name of this service', await issuer.token({ iss: grid.url })],
      ['in the name of nobody', await issuer.token({ iss: undefined })],
      ['in a name that is not to the letter', await issuer.token({ iss: `${issuer.url}/` })],
    ];
    for (const [how, token] of tokens) {
      const { status, body } = await grid.bearer(token).get('/jobs');
      expect([how, status, body.code]).toEqual([how, ...INVALID]);
    }
    expect((await grid.bearer(await made({ kid: undefined })).get('/jobs')).status).toBe(200);
  });

  describe('exchanged for ours', () => {
    const swap = async (claims: Record<string, unknown>, form: Record<string, string> = {}) =>
      narrow(grid, await issuer.token(claims), { group: 'grid_user', ...form });

    it('are in nothing wider where they have capabilities', async () => {
      const exp = Math.floor(Date.now() / 1000) + 300;
      const limited = { scope: 'compute.read storage.read:/vo/a', exp };
      const all = await swap(limited);
      expect([all.status, all.body.scope]).toEqual([200, 'compute.read storage.read:/vo/a']);
      expect(all.body).not.toHaveProperty('refresh_token');
      expect(decodeJwt(all.body.access_token).exp).toBe(exp);
      const part = await swap(limited, { scope: 'storage.read:/vo/a/run1 jobs:submit' });
      expect([part.status, part.body.scope]).toEqual([200, 'storage.read:/vo/a/run1']);
      for (const scope of ['jobs:submit', 'storage.read:/vo', 'catalogue:write']) {
        const { status, body } = await swap(limited, { scope });
        expect([scope, status, body.error]).toEqual([scope, 400, 'invalid_scope']);
      }
      const unknown = await swap({ scope: 'storage.write:/vo' });
      expect([unknown.status, unknown.body.error]).toEqual([400, 'invalid_scope']);
    });

    it('name no groups beside those that they named', async () => {
      const asked = { scope: 'jobs:read wlcg.groups:/vo/grid_share wlcg.groups:/vo/grid_user' };
      const { body } = await swap({ 'wlcg.groups': ['/vo/grid_user'] }, asked);
      expect(decodeJwt(body.access_token)['wlcg.groups']).toEqual(['/vo/grid_user', '/vo']);
      const both = await swap({ 'wlcg.groups': ['/vo/grid_user', '/vo/grid_share'] }, asked);
      expect(decodeJwt(both.body.access_token)['wlcg.groups']).toEqual([
        ...['/vo/grid_share', '/vo/grid_user', '/vo'],
      ]);
    });

    it('gain no group when they are renewed', async () => {
      const first = await swap(
        { 'wlcg.groups': ['/vo/grid_user'] },
        { scope: 'jobs:read wlcg.groups' },
      );
      const { status, body } = await grid.anonymous.post('/oauth2/token', {
        form: {
          ...{ grant_type: 'refresh_token', client_id: 'mover' },
          ...{ refresh_token: first.body.refresh_token },
          scope: 'jobs:read wlcg.groups:/vo/grid_share',
        },
      });
      expect([status, body.scope]).toEqual([200, 'jobs:read']);
      expect(decodeJwt(body.access_token)['wlcg.groups']).toEqual(['/vo/grid_user', '/vo']);
    });

    it('keep their bond', async () => {
      const alice = await grid.certificate('alice');
      const { cert } = await grid.pair('alice');
      const thumb = createHash('sha256').update(new X509Certificate(cert).raw).digest('base64url');
      const cnf = { 'x5t#S256': thumb };
      const form = {
        ...{ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', client_id: 'mover' },
        ...{ subject_token: await issuer.token({ cnf }), subject_token_type: ACCESS_TOKEN },
      };
      const { status, body } = await alice.post('/oauth2/token', { form });
      expect([status, decodeJwt(body.access_token)['cnf']]).toEqual([200, cnf]);
      expect(body).not.toHaveProperty('refresh_token');
      const refused = await grid.anonymous.post('/oauth2/token', { form });
      expect([refused.status, refused.body.error]).toEqual([400, 'invalid_request']);
    });
  });

  it('do not count where they were given before a membership ended, though there is one again', async () => {
    await grid.sql(`insert into registry_subject values ('${issuer.url}', 'john', 'bob', 0)`);
    await grid.sql(
      `insert into registry_departure (user_name, group_name, left_at)
        values ('bob', 'grid_user', now() - interval '1 hour')`,
    );
    await grid.sql(`update registry_user set position = position where name = 'bob'`);
    const now = Math.floor(Date.now() / 1000);
    const [since, before] = [now - 60, now - 7200].map((iat) => ({ sub: 'john', nbf: iat, iat }));
    await eventually(async () => (await ask(since!))[0] === 200, 'the subject to be known');
    expect(await ask(before!)).toEqual(INVALID);
    expect(await ask({ ...before, 'wlcg.groups': ['/vo/grid_share'] })).toEqual([200]);
    const swap = async (claims: Record<string, unknown>, group = 'grid_user'): Promise<unknown> => {
      const { status, body } = await narrow(grid, await issuer.token(claims), { group });
      return status === 200 ? status : [status, body.error, body.error_description];
    };
    expect(await swap(since!)).toBe(200);
    const refusal = [400, 'invalid_request', 'The subject_token is not valid here'];
    expect(await swap(before!)).toEqual(refusal);
    expect(await swap(before!, 'grid_share')).toBe(200);
  });

  it('may be for every service where that is switched on', async () => {
    const other = await grid.second({ GRID_ACCEPT_ANY_AUDIENCE: 'true' });
    try {
      expect(await ask({ scope: 'compute.read', aud: ANY }, '/jobs', {}, other)).toEqual([200]);
      expect(await ask({ aud: 'https://elsewhere.example' }, '/jobs', {}, other)).toEqual(INVALID);
    } finally {
      await other.remove();
    }
  });
});
