import { createHash, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { addApplication } from '../support/applications.js';
import { challengeOf } from '../support/challenges.js';
import { FullLog } from '../support/full-log.js';
import { portalTokens } from '../support/portal.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ALICE = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };

describe('/oauth2/token with a certificate', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid.remove());

  it('answers the same to GET and POST', async () => {
    const alice = await grid.certificate('alice');
    const answers = [
      await alice.get('/oauth2/token', { query: ALICE }),
      await alice.post('/oauth2/token', { form: ALICE }),
      await alice.post('/oauth2/token', { query: ALICE }),
    ];
    for (const { status, headers, body } of answers) {
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('no-store');
      expect(body).toEqual({
        access_token: expect.any(String),
        token: body.access_token,
        token_type: 'Bearer',
        expires_in: 21600,
        scope: 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks',
        group: 'grid_user',
        setup: 'Prod',
      });
    }
  });

  it('signs JWTs of RFC 9068 with a published key', async () => {
    const token = await grid.token('alice', 'grid_user');
    const { body } = await grid.anonymous.get<{ keys: { kid: string }[] }>(
      '/.well-known/jwks.json',
    );
    const header = decodeProtectedHeader(token);
    expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    expect(body.keys.map(({ kid }) => kid)).toContain(header.kid);
    for (const key of body.keys) expect(Object.keys(key)).not.toContain('d');
    const claims = decodeJwt(token);
    expect(claims).toEqual({
      iss: grid.url,
      aud: grid.url,
      sub: expect.stringMatching(UUID),
      preferred_username: 'alice',
      'wlcg.ver': '1.0',
      client_id: 'certificate',
      scope: 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks',
      group: 'grid_user',
      setup: 'Prod',
      jti: expect.any(String),
      iat: expect.any(Number),
      nbf: claims.iat! - 60,
      exp: claims.iat! + 21600,
    });
  });

  it.each([
    [{ grant_type: '' }, 400, 'invalid_request'],
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ group: '' }, 400, 'invalid_request'],
    [{ setup: '' }, 400, 'invalid_request'],
    [{ group: 'grid_mon' }, 403, 'access_denied'],
    [{ group: 'nonsense' }, 403, 'access_denied'],
    [{ setup: 'Other' }, 403, 'access_denied'],
    [{ scope: 'nonsense' }, 400, 'invalid_scope'],
  ])('refuses %j with %i %s', async (change, status, error) => {
    const alice = await grid.certificate('alice');
    const answer = await alice.get('/oauth2/token', { query: { ...ALICE, ...change } });
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(JSON.stringify(answer.body)).not.toMatch(/grid_adm|mona|CN=/);
  });

  it('refuses repeated parameters and ignores unknown ones', async () => {
    const alice = await grid.certificate('alice');
    const query = new URLSearchParams(ALICE).toString();
    const repeated = await alice.get(`/oauth2/token?${query}&group=grid_share`);
    expect([repeated.status, repeated.body.error]).toEqual([400, 'invalid_request']);
    const both = await alice.post(`/oauth2/token?${query}`, { form: { group: 'grid_share' } });
    expect([both.status, both.body.error]).toEqual([400, 'invalid_request']);
    expect((await alice.get(`/oauth2/token?${query}&more=1`)).status).toBe(200);
  });

  it('narrows the scope to what was asked and the group allows', async () => {
    const mona = await grid.certificate('mona');
    const query = { ...ALICE, group: 'grid_mon', scope: 'jobs:read jobs:submit' };
    const { body } = await mona.get('/oauth2/token', { query });
    expect(body.scope).toBe('jobs:read');
  });

  it.each(['/oauth2/token', '/oauth2/groups', '/oauth2/setups'])(
    '%s needs a known certificate',
    async (path) => {
      const query = path === '/oauth2/token' ? ALICE : '';
      const stranger = await (await grid.certificate('stranger')).get(path, { query });
      expect([stranger.status, stranger.body.error]).toEqual([401, 'invalid_client']);
      const nobody = await grid.anonymous.get(path, { query });
      expect([nobody.status, nobody.body.error]).toEqual([401, 'invalid_client']);
    },
  );

  it('lists groups and setups of the certificate', async () => {
    const alice = await grid.certificate('alice');
    expect((await alice.get('/oauth2/groups')).body).toEqual({
      groups: ['grid_user', 'grid_share'],
    });
    expect((await alice.get('/oauth2/setups')).body).toEqual({ setups: ['Prod', 'Test'] });
  });

  it('ignores a stale bearer header', async () => {
    const alice = await grid.certificate('alice');
    const headers = { authorization: 'Bearer stale' };
    expect((await alice.get('/oauth2/token', { query: ALICE, headers })).status).toBe(200);
    expect((await alice.get('/oauth2/groups', { headers })).status).toBe(200);
  });

  it('ignores a forged certificate header', async () => {
    const { cert } = await grid.pair('alice');
    const der = cert.replace(/-----[^-]+-----|\s/g, '');
    const headers = { 'client-cert': `:${der}:`, 'x-ssl-client-cert': encodeURIComponent(cert) };
    const answer = await grid.anonymous.get('/oauth2/token', { query: ALICE, headers });
    expect(answer.status).toBe(401);
  });

  describe('the token on a request', () => {
    it.each([
      ['Bearer <t>', (t: string) => ({ headers: { authorization: `Bearer ${t}` } })],
      ['bEARER <t>', (t: string) => ({ headers: { authorization: `bEARER ${t}` } })],
      ['<t> Bearer', (t: string) => ({ headers: { authorization: `${t} Bearer` } })],
      ['?access_token=', (t: string) => ({ query: { access_token: t } })],
    ])('may be sent as %s', async (_form, optionsOf) => {
      const token = await grid.token('alice', 'grid_user');
      const options = optionsOf(token);
      expect((await grid.anonymous.get('/jobs', options)).status).toBe(200);
    });

    it('is refused when sent twice', async () => {
      const token = await grid.token('alice', 'grid_user');
      const twice = await grid.bearer(token).get('/jobs', { query: { access_token: token } });
      expect(twice.status).toBe(400);
      const query = `access_token=${token}&access_token=${token}`;
      expect((await grid.anonymous.get('/jobs', { query })).status).toBe(400);
    });

    it('is asked for with WWW-Authenticate (RFC 6750)', async () => {
      const none = await grid.anonymous.get('/jobs');
      expect([none.status, none.headers['www-authenticate']]).toEqual([
        401,
        challengeOf(grid, 'Bearer realm="gridgate"'),
      ]);
      const bad = await grid.bearer('nonsense').get('/jobs');
      expect([bad.status, bad.headers['www-authenticate']]).toEqual([
        401,
        challengeOf(
          grid,
          'Bearer realm="gridgate", error="invalid_token", error_description="The access token is unknown, expired or revoked"',
        ),
      ]);
    });

    it.each([
      ['a token without the word', (token: string) => token],
      ['two tokens', (token: string) => `Bearer ${token} ${token}`],
      ['the word alone', () => 'Bearer'],
    ])('is not understood as %s', async (_what, header) => {
      const token = await grid.token('alice', 'grid_user');
      const { status, headers, body } = await grid.anonymous.get('/jobs', {
        headers: { authorization: header(token) },
      });
      const detail = 'The Authorization header is not of the form: Bearer <token>';
      expect([status, body.code, body.detail, headers['www-authenticate']]).toEqual([
        400,
        'auth.token-malformed',
        detail,
        challengeOf(
          grid,
          `Bearer realm="gridgate", error="invalid_request", error_description="${detail}"`,
        ),
      ]);
    });

    it('is missing when another scheme is used', async () => {
      const headers = { authorization: 'Digest username="a", realm="b"' };
      expect((await grid.anonymous.get('/jobs', { headers })).body.code).toBe('auth.token-missing');
    });

    it('needs the scope of the route', async () => {
      const mona = await grid.as('mona');
      const answer = await mona.post('/jobs', { json: { Executable: '/bin/true' } });
      expect(answer.status).toBe(403);
      expect(answer.headers['www-authenticate']).toBe(
        challengeOf(
          grid,
          'Bearer realm="gridgate", error="insufficient_scope", error_description="This needs the scope jobs:submit", scope="jobs:submit"',
        ),
      );
    });

    it('is refused when forged or confused', async () => {
      const good = await grid.token('alice', 'grid_user');
      const { refresh_token: refreshToken } = await portalTokens(grid, 'alice');
      const [head = '', body = '', signature = ''] = good.split('.');
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const signed = (header: object, claims: object, key = privateKey) => {
        const text = `${encode(header)}.${encode(claims)}`;
        const dsa = { key: createPrivateKey(key.export({ type: 'pkcs8', format: 'pem' })) };
        const bytes = sign('sha256', Buffer.from(text), { ...dsa, dsaEncoding: 'ieee-p1363' });
        return `${text}.${bytes.toString('base64url')}`;
      };
      const header = decodeProtectedHeader(good);
      const claims = decodeJwt(good);
      const forgeries = [
        `${encode({ alg: 'none', typ: 'at+jwt' })}.${body}.`,
        `${encode({ ...header, alg: 'HS256' })}.${body}.${signature}`,
        `${head}.${encode({ ...claims, sub: 'adam' })}.${signature}`,
        signed(header, claims),
        signed({ ...header, jwk: privateKey.export({ format: 'jwk' }) }, claims),
        `${head}.${body}.${signature.slice(0, -4)}AAAA`,
        refreshToken,
      ];
      for (const token of forgeries) {
        expect((await grid.bearer(token).get('/jobs')).status).toBe(401);
      }
    });
  });

  it('never writes tokens into the log', async () => {
    const log = new FullLog(grid);
    const token = await grid.token('alice', 'grid_user');
    const inQuery = await grid.anonymous.get('/jobs', { query: { access_token: token } });
    const inPath = await grid.anonymous.get(`/jobs/${token}`);
    const paths = await Promise.all(
      [inQuery, inPath].map(async ({ headers }) => {
        const { path } = await log.ofRequest(headers['x-request-id']);
        return path as string;
      }),
    );
    // The path of a request is written as it came, but for the redaction.
    expect(paths).toEqual(['/jobs', '/jobs/[hidden]']);
    expect(log.text).not.toContain(token);
  });

  it('limits requests with 429 and Retry-After', async () => {
    const limited = await startGrid({ env: { GRID_RATE_TOKEN: '3', GRID_QUERY_TOKEN: 'false' } });
    try {
      const statuses = await eventually(async () => {
        const calls = Array.from({ length: 8 }, () => limited.anonymous.get('/oauth2/token'));
        const answers = await Promise.all(calls);
        const over = answers.find(({ status }) => status === 429);
        return over && { over, all: answers.map(({ status }) => status) };
      }, 'a refusal');
      expect(statuses.over.headers['retry-after']).toBe('1');
      expect(statuses.over.body.error).toBe('temporarily_unavailable');
      expect(statuses.all).toContain(400);
      const switchedOff = await limited.anonymous.get('/jobs', { query: { access_token: 'x' } });
      expect(switchedOff.status).toBe(401);
    } finally {
      await limited.remove();
    }
  });

  it('counts an application when it has proved itself, and strangers by their addresses', async () => {
    const env = { GRID_RATE_TOKEN: '3', GRID_TRUSTED_PROXIES: '127.0.0.1,::1' };
    const limited = await startGrid({ env });
    await addApplication(limited, { id: 'limited', confidential: true });
    const hash = createHash('sha256').update('right').digest('base64url');
    await limited.sql(`update registry_application set secret_hash = $1 where id = 'limited'`, [
      hash,
    ]);
    const ask = async (address: string, form: Record<string, string>): Promise<number> => {
      const headers = { 'x-forwarded-for': address };
      return (await limited.anonymous.post('/oauth2/token', { form, headers })).status;
    };
    const junk = { grant_type: 'refresh_token', refresh_token: 'x' };
    const ofPublic = { ...junk, client_id: 'demo-portal' };
    const of = (word: string): Record<string, string> => ({
      ...{ ...junk, client_id: 'limited', client_secret: word },
    });
    try {
      const statusesOf = (addresses: readonly string[], form: Record<string, string>) =>
        Promise.all(addresses.map((address) => ask(address, form)));
      const strangers = Array.from({ length: 9 }, (_, n) => `198.51.100.${n + 1}`);
      expect(await statusesOf(strangers, ofPublic)).toEqual(Array(9).fill(400));
      expect(await statusesOf(strangers, of('wrong'))).toEqual(Array(9).fill(401));
      const lines = Array.from({ length: 9 }, (_, n) => `2001:db8:0:${n + 1}::1`);
      expect(await statusesOf(lines, ofPublic)).toEqual(Array(9).fill(400));
      const ofOneLine = Array.from({ length: 40 }, (_, n) => `2001:db8:1:1::${n + 1}`);
      const neighbours = await statusesOf(ofOneLine, ofPublic);
      expect(neighbours.filter((status) => status === 429).length).toBeGreaterThanOrEqual(3);
      const own = await statusesOf(
        Array.from({ length: 40 }, (_, n) => `203.0.113.${n + 1}`),
        of('right'),
      );
      expect(own.filter((status) => status === 429).length).toBeGreaterThanOrEqual(3);
      expect(own.filter((status) => status === 400).length).toBeGreaterThanOrEqual(3);
    } finally {
      await limited.remove();
    }
  });
});
