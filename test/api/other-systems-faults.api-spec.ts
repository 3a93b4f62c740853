/**
 * Faults that other grid and OAuth systems are known for, each tried here. The names say who did what; the rules
 * behind them are tested in full elsewhere.
 */
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { JSONWebKeySet } from 'jose';
import { FormData } from 'undici';
import { OAuth2IdProvider } from '#src/id-provider/library.js';
import { FullLog } from '../support/full-log.js';
import { submit } from '../support/jobs.js';
import { allow, exchange, portalTokens, renew } from '../support/portal.js';
import { encoded } from '../support/tenants/place.js';
import { TokenForge } from '../support/tenants/tokens.js';
import { startGrid, type Answer, type Grid, type GridClient } from '../support/testbed.js';

const MANY = 5_001;

type Query = Record<string, string | number | string[]>;

let grid: Grid;
let log: FullLog;
let alice: GridClient;
let fred: GridClient;

beforeAll(async () => {
  grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'trace' } });
  log = new FullLog(grid);
  [alice, fred] = [await grid.as('alice'), await grid.as('fred')];
});
afterAll(() => grid?.remove());

async function bulk(lines: object[]): Promise<Answer> {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return fred.post('/filecatalogue/bulk', {
    body,
    headers: { 'content-type': 'application/x-ndjson' },
  });
}

function inDirectory(path: string, rest = ''): string {
  return `/filecatalogue/directory/${encoded(path)}${rest}`;
}

describe('PanDA answers 200 when it fails', () => {
  const failures: [string, () => Promise<Answer>, number][] = [
    ['no token', () => grid.anonymous.get('/jobs'), 401],
    ['a bad filter', () => alice.get('/jobs?maxJobs=none'), 400],
    ['an unknown job', () => alice.get('/jobs/999999999'), 404],
    ['an empty submit', () => alice.post('/jobs', { json: { manifests: [] } }), 400],
    ['a bad manifest', () => alice.post('/jobs', { json: { Executable: 7 } }), 400],
    ['a job to be killed that is unknown', () => alice.delete('/jobs/999999999'), 404],
    ['an unknown directory', () => alice.get(inDirectory('/vo/none', '/search')), 404],
    ['an unknown field', () => alice.get(inDirectory('/vo', '/search?nofield=1')), 400],
    ['an unknown grant', () => grid.anonymous.get('/oauth2/token?grant_type=none'), 400],
    ['a wrong code', () => exchange(grid, 'none'), 400],
  ];
  it.each(failures)('never here: %s', async (_what, call, status) => {
    const answer = await call();
    expect([answer.status, answer.body.status, typeof answer.body.code]).toEqual([
      status,
      status,
      'string',
    ]);
  });

  it('never here: the items of a bulk call have statuses of their own', async () => {
    const killed = await alice.delete('/jobs?jid=999999998');
    expect(killed.body).toEqual({
      results: { '999999998': { status: 404, detail: 'Job 999999998 does not exist' } },
    });
    const [failed, summary] = (await bulk([{ kind: 'file', path: '/vo', size: 1 }])).bytes
      .toString('utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect([failed?.['status'], summary?.['failed']]).toEqual([409, 1]);
  });
});

describe('PanDA cuts a list at 5,000 and does not say so', () => {
  let first: number;
  beforeAll(async () => {
    const manifests = Array.from({ length: MANY }, () => ({
      Executable: '/bin/true',
      JobGroup: 'many',
    }));
    [first = 0] = await submit(alice, manifests);
    const files = Array.from({ length: MANY }, (_, index) => [
      { kind: 'directory', path: `/vo/many/d${index}` },
      { kind: 'file', path: `/vo/many/f${index}`, size: 1 },
    ]);
    const answer = await bulk(files.flat());
    expect(answer.bytes.toString('utf8')).toContain('"failed":0');
  });

  it('never here: a list of jobs is whole, or its total says that it is not', async () => {
    const query = { jobGroup: 'many', maxJobs: 10_000 };
    const { body } = await alice.get('/jobs', { query });
    expect([body.entries, body.jobs.length, body.jobs.at(-1).jid]).toEqual([MANY, MANY, first]);
    const page = await alice.get('/jobs', { query: { ...query, maxJobs: 7 } });
    expect([page.body.entries, page.body.jobs.length]).toEqual([MANY, 7]);
    expect(page.headers['link']).toMatch(/; rel="next"$/);
  });

  it('never here: a submit above its limit makes nothing at all', async () => {
    const manifests = Array.from({ length: 10_001 }, () => ({ Executable: 'x', JobGroup: 'over' }));
    expect((await alice.post('/jobs', { json: { manifests } })).status).toBe(413);
    expect((await alice.get('/jobs?jobGroup=over')).body.entries).toBe(0);
  });

  it('never here: a directory is listed whole, and a page of it names the next one', async () => {
    const whole = await alice.get(inDirectory('/vo/many'));
    const sizes = [whole.body.SubDirs, whole.body.Files].map((part) => Object.keys(part).length);
    expect([...sizes, whole.headers['link']]).toEqual([MANY, MANY, undefined]);
    const page = await alice.get(inDirectory('/vo/many', '?limit=5'));
    expect(page.headers['link']).toMatch(/; rel="next"$/);
  });

  it('never here: a search has every match', async () => {
    const headers = { accept: 'application/x-ndjson' };
    const answer = await alice.get(inDirectory('/vo/many', '/search'), { headers });
    expect(answer.bytes.toString('utf8').trim().split('\n')).toHaveLength(MANY + 1);
  });

  it('never here: a capped list of values has its total beside it', async () => {
    await bulk([
      { kind: 'field', name: 'serial', type: 'int' },
      ...Array.from({ length: 20 }, (_, index) => ({
        kind: 'directory',
        path: `/vo/many/d${index}`,
        metadata: { serial: index },
      })),
    ]);
    const { body } = await alice.get('/filecatalogue/metadata?maxValues=3');
    expect(body.serial).toEqual({ type: 'int', values: [0, 1, 2], total: 20, min: 0, max: 19 });
  });
});

describe('ARC turns a list of one into its element', () => {
  it('never here: lists of one stay lists in every answer', async () => {
    await bulk([
      { kind: 'field', name: 'lonely', type: 'string' },
      { kind: 'directory', path: '/vo/one/d', metadata: { lonely: 'a' } },
      { kind: 'file', path: '/vo/one/f', size: 1, replicas: [{ se: 'SE-A', pfn: 'p' }] },
    ]);
    const { body: submitted } = await alice.post('/jobs', { json: { Executable: 'x' } });
    expect(submitted.jids).toEqual([expect.any(Number)]);
    const [jid] = submitted.jids as number[];
    const lists = {
      jobs: (await alice.get('/jobs', { query: { jid: jid! } })).body.jobs,
      history: (await alice.get(`/jobs/${jid}/history`)).body.history,
      groups: (await (await grid.certificate('carol')).get('/oauth2/groups')).body.groups,
      values: (await alice.get(inDirectory('/vo/one/d', '/metadata'))).body.lonely,
      all: (await alice.get('/filecatalogue/metadata')).body.lonely.values,
      violations: (await alice.get('/jobs?maxJobs=x')).body.violations,
    };
    for (const [name, list] of Object.entries(lists)) {
      expect({ name, isList: Array.isArray(list) }).toEqual({ name, isList: true });
    }
    expect([lists.jobs.length, lists.groups, lists.values, lists.all]).toEqual([
      1,
      ['grid_user'],
      ['a'],
      ['a'],
    ]);
    const listing = await alice.get(inDirectory('/vo/one'));
    expect([Object.keys(listing.body.SubDirs), Object.keys(listing.body.Files)]).toEqual([
      ['d'],
      ['f'],
    ]);
  });

  it('never here: a manifest comes back with the types it was sent with', async () => {
    const manifest = {
      Executable: '/bin/echo',
      Arguments: '-a 1,2',
      Site: ['LOCAL.demo'],
      CPUTime: 3600,
      OutputSandbox: ['std.out'],
    };
    const [jid] = await submit(alice, [manifest]);
    const { body } = await alice.get(`/jobs/${jid}/manifest`);
    expect(body).toMatchObject(manifest);
  });
});

describe('REANA takes the token from the query and logs it', () => {
  it('never here: whatever becomes of the request', async () => {
    const opaque = 'opaque-secret-query-token';
    const good = await grid.token('alice', 'grid_user');
    const query = (token: string): string => `access_token=${encodeURIComponent(token)}`;
    const answers = [
      await grid.anonymous.get(`/jobs?${query(opaque)}`),
      await grid.anonymous.get(`/jobs?${query(good)}`),
      await grid.anonymous.get(`/jobs?access%5Ftoken=${opaque}`),
      await grid.anonymous.get(`/jobs?${query(opaque)}&${query(opaque)}`),
      await grid.anonymous.get(`/nowhere?${query(opaque)}`),
      await grid.anonymous.get(`/jobs/%ff?${query(opaque)}`),
      await grid.anonymous.get('/jobs', {
        headers: { referer: `https://portal.example/?${query(opaque)}` },
      }),
      await alice.get(`/jobs?${query(opaque)}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 401, 400, 404, 400, 401, 400]);
    for (const { headers, bytes } of answers) {
      await log.ofRequest(headers['x-request-id']);
      expect(bytes.toString('utf8')).not.toContain(opaque);
    }
    for (const secret of [opaque, good, 'access_token'])
      expect({ secret, isLogged: log.text.includes(secret) }).toEqual({ secret, isLogged: false });
  });
});

describe('FTS logs the answers to refresh requests', () => {
  it('never here: no token, code or verifier of a whole Flow B at the most talkative level', async () => {
    const { code } = await allow(grid, 'alice');
    const first = await exchange(grid, code);
    const second = await renew(grid, first.body.refresh_token);
    const reused = await renew(grid, 'unknown-refresh-token');
    await log.ofRequest(reused.headers['x-request-id']);
    const secrets = [first.body, second.body].flatMap((body) => [
      body.access_token,
      body.refresh_token,
    ]);
    expect(second.status).toBe(200);
    for (const secret of [...secrets, code!, 'unknown-refresh-token']) {
      expect({ secret, isLogged: log.text.includes(secret) }).toEqual({ secret, isLogged: false });
    }
  });
});

describe("DIRAC's client checks a token's signature and nothing else", () => {
  it('never here: the client component and the service refuse well signed tokens that are not for them', async () => {
    const forge = await TokenForge.of(grid);
    const { body: jwks } = await grid.anonymous.get<JSONWebKeySet>('/.well-known/jwks.json');
    const provider = new OAuth2IdProvider({
      ProviderName: 'gridgate',
      issuer: grid.url,
      client_id: 'portal',
      audience: grid.url,
    });
    const now = Math.floor(Date.now() / 1000);
    const good = await provider.verifyToken(forge.token(), jwks as never);
    expect(good.iss).toBe(grid.url);
    const bad = {
      expired: forge.token({ iat: now - 7_200, exp: now - 3_600 }),
      issuer: forge.token({ iss: 'https://elsewhere.example' }),
      audience: forge.token({ aud: 'https://elsewhere.example' }),
    };
    for (const [fault, token] of Object.entries(bad)) {
      await expect(provider.verifyToken(token, jwks as never)).rejects.toMatchObject({
        error: fault,
      });
      expect((await grid.bearer(token).get('/jobs')).status).toBe(401);
    }
  });
});

describe('DiracX logs bodies of requests', () => {
  const secret = 'secret-in-the-body';
  const multipart = new FormData();
  multipart.append('manifest', `{"Executable": "x", "Arguments": ${secret}}`);
  const bodies: [string, () => Promise<Answer>, number][] = [
    [
      'a good manifest',
      () => alice.post('/jobs', { json: { Executable: 'x', Arguments: secret } }),
      200,
    ],
    [
      'a bad manifest',
      () => alice.post('/jobs', { json: { Executable: 'x', Priority: secret } }),
      400,
    ],
    [
      'broken JSON',
      () =>
        alice.post('/jobs', {
          body: `{"Arguments": ${secret}}`,
          headers: { 'content-type': 'application/json' },
        }),
      400,
    ],
    [
      'short broken JSON',
      () => alice.post('/jobs', { body: secret, headers: { 'content-type': 'application/json' } }),
      400,
    ],
    ['a broken form field', () => alice.post('/jobs', { form: { manifest: secret } }), 400],
    ['a broken upload', () => alice.post('/jobs', { multipart }), 400],
    [
      'metadata',
      () => alice.put(inDirectory('/vo', '/metadata'), { json: { [secret]: secret } }),
      400,
    ],
    [
      'a token request',
      () => grid.anonymous.post('/oauth2/token', { form: { grant_type: secret } }),
      400,
    ],
    [
      'a client secret',
      () =>
        grid.anonymous.post('/oauth2/introspect', {
          form: { token: secret, client_id: 'demo-portal', client_secret: secret },
        }),
      401,
    ],
  ];
  it.each(bodies)('never here: %s', async (_what, call, status) => {
    const answer = await call();
    expect(answer.status).toBe(status);
    await log.ofRequest(answer.headers['x-request-id']);
    expect({ secret, isLogged: log.text.includes(secret) }).toEqual({ secret, isLogged: false });
  });
});

describe('DiracX finds the jobs of other virtual organisations in a search', () => {
  it('never here: no filter, sort, total or cursor reaches into another setup', async () => {
    const elsewhere = await grid.as('alice', 'grid_user', 'Test');
    const [hidden] = await submit(elsewhere, [{ Executable: 'x', JobName: 'of the other setup' }]);
    const seekers = [alice, await grid.as('adam'), await grid.as('mona'), await grid.as('bob')];
    for (const seeker of seekers) {
      const asked: Query[] = [
        { setup: 'Test' },
        { setup: ['Prod', 'Test'], name: 'of the other setup' },
        { jid: hidden! },
        { name: 'of the other setup', sort: 'setup' },
        { fromDate: '2000-01-01', name: 'of the other setup' },
      ];
      for (const filter of asked) {
        const query: Query = { allOwners: 'true', ...filter };
        const { status, body } = await seeker.get('/jobs', { query });
        expect([status, body]).toEqual([200, { entries: 0, jobs: [] }]);
      }
      const summary = await seeker.get('/jobs/summary?allOwners=true&group=setup');
      expect(Object.keys(summary.body as object)).not.toContain('Test');
      expect((await seeker.get(`/jobs/${hidden}`)).status).toBe(404);
    }
  });

  it('never here: a cursor of one setup walks on in the setup of its token only', async () => {
    const elsewhere = await grid.as('alice', 'grid_user', 'Test');
    await submit(elsewhere, [{ Executable: 'x' }, { Executable: 'x' }]);
    const page = await elsewhere.get('/jobs?maxJobs=1');
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String(page.headers['link'])) ?? [];
    const { pathname, search } = new URL(next, grid.url);
    const { body } = await alice.get(`${pathname}${search}`);
    const setups = (body.jobs as { setup: string }[] | undefined)?.map(({ setup }) => setup) ?? [];
    expect(setups).not.toContain('Test');
  });
});

describe('Slurm’s REST service is not made for the internet', () => {
  it('never here: no header of a proxy makes a caller somebody', async () => {
    const headers = {
      'x-slurm-user-name': 'alice',
      'x-slurm-user-token': 'x',
      'x-remote-user': 'alice',
      'remote-user': 'alice',
      'x-forwarded-user': 'alice',
      'x-ssl-client-s-dn': '/DC=org/DC=grid/CN=alice',
      'ssl-client-verify': 'SUCCESS',
    };
    expect((await grid.anonymous.get('/jobs', { headers })).status).toBe(401);
    expect((await grid.anonymous.get('/oauth2/groups', { headers })).status).toBe(401);
  });

  it('never here: TLS below 1.2 and plain HTTP get no answer', async () => {
    const port = Number(new URL(grid.url).port);
    const old = connect({
      port,
      host: '127.0.0.1',
      ca: grid.ca,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    const [error] = (await once(old, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toMatch(/PROTOCOL_VERSION|NO_PROTOCOLS/);
    await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow();
  });
});

describe('others log the user out when two renewals meet', () => {
  it('never here: renewals at once get the same successor, and the other sessions live on', async () => {
    const other = await portalTokens(grid, 'alice');
    const { refresh_token: token } = await portalTokens(grid, 'alice');
    const answers = await Promise.all(Array.from({ length: 8 }, () => renew(grid, token)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect((await renew(grid, other.refresh_token)).status).toBe(200);
  });
});
