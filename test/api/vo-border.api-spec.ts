import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addApplication, assertionOf, makeKey } from '../support/applications.js';
import { submit } from '../support/jobs.js';
import { PageVisitor } from '../support/page-visitor.js';
import { authorizePath } from '../support/portal.js';
import { encoded } from '../support/tenants/place.js';
import { writeRegistry } from '../support/tenants/registry.js';
import { freePort } from '../support/ports.mjs';
import { startGrid, type Grid, type GridClient, type Identity } from '../support/testbed.js';

let grid: Grid;
let directory: string;
/** Jobs of alice (vo), carol (else) and bob in a group without virtual organisation. */
let jids: { vo: number; else: number; free: number };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gridgate-vo-'));
  const env = {
    GRID_ROLE: 'api',
    GRID_LOG_LEVEL: 'error',
    GRID_GLOBAL_JOBS: 'false',
    GRID_CATALOGUE_GLOBAL_READ: 'false',
    GRID_REGISTRY: await writeRegistry(directory),
    GRID_REGISTRY_SYNC: 'true',
  };
  grid = await startGrid({ env });
  const people = [
    await grid.as('alice'),
    await grid.as('carol', 'else_user'),
    await grid.as('bob', 'free_user'),
  ];
  const made = [];
  for (const person of people) {
    const [jid = 0] = await submit(person, [{ Executable: 'x', JobName: 'secret' }]);
    made.push(jid);
  }
  jids = { vo: made[0] ?? 0, else: made[1] ?? 0, free: made[2] ?? 0 };
});
afterAll(async () => {
  await grid?.remove();
  await rm(directory, { recursive: true, force: true });
});

async function listed(client: GridClient, query = {}): Promise<number[]> {
  const { status, body } = await client.get('/jobs', { query: { allOwners: true, ...query } });
  expect([status, body.entries]).toEqual([200, body.jobs.length]);
  return body.jobs.map(({ jid }: { jid: number }) => jid).sort((a: number, b: number) => a - b);
}

describe('the border of a virtual organisation, for jobs', () => {
  it.each([
    ['mona', 'else_mon', ['else']],
    ['adam', 'else_adm', ['else']],
    ['mona', 'grid_mon', ['vo']],
    ['mona', 'free_mon', ['vo', 'else', 'free']],
    ['adam', 'free_adm', ['vo', 'else', 'free']],
    ['adam', 'service_adm', ['vo', 'else', 'free']],
  ] as const)('shows %s in %s the jobs of %j and no other', async (name, group, seen) => {
    const client = await grid.as(name, group);
    const expected = seen.map((vo) => jids[vo]);
    expect(await listed(client)).toEqual(expected);
    expect(await listed(client, { name: 'secret' })).toEqual(expected);
    expect(await listed(client, { fromDate: '2020-01-01', maxJobs: 10 })).toEqual(expected);
    const summary = await client.get('/jobs/summary', { query: { allOwners: true, group: 'vo' } });
    const counted = seen.map((vo) => [vo === 'free' ? '' : vo, 1] as const);
    expect([summary.status, summary.body]).toEqual([200, Object.fromEntries(counted)]);
    const byName = await client.get('/jobs/summary', {
      query: { allOwners: true, group: 'name' },
    });
    expect(byName.body).toEqual({ secret: seen.length });
    for (const vo of ['vo', 'else', 'free'] as const) {
      const isSeen = (seen as readonly string[]).includes(vo);
      const answer = await client.get(`/jobs/${jids[vo]}/manifest`);
      expect([vo, answer.status, answer.body.code]).toEqual([
        vo,
        isSeen ? 200 : 404,
        isSeen ? undefined : 'job.not-found',
      ]);
    }
  });

  it('leaves the owner what was submitted in another group', async () => {
    const adam = await grid.as('adam', 'else_adm');
    await grid.sql("update jobs set owner = 'adam' where jid = $1", [jids.vo]);
    try {
      expect(await listed(adam)).toEqual([jids.vo, jids.else]);
      expect((await adam.get(`/jobs/${jids.vo}/manifest`)).status).toBe(200);
    } finally {
      await grid.sql("update jobs set owner = 'alice' where jid = $1", [jids.vo]);
    }
  });

  it('stops kills, one by one and many at once', async () => {
    const adam = await grid.as('adam', 'else_adm');
    const gone = `Job ${jids.vo} does not exist`;
    const one = await adam.delete(`/jobs/${jids.vo}`);
    expect([one.status, one.body]).toEqual([404, expect.objectContaining({ detail: gone })]);
    expect((await adam.post(`/jobs/${jids.vo}/reschedule`)).status).toBe(404);
    const many = await adam.delete(`/jobs?jid=${jids.vo}&jid=${jids.else}`);
    expect(many.body).toEqual({
      results: {
        [jids.vo]: { status: 404, detail: gone },
        [jids.else]: { status: 200 },
      },
    });
    expect((await (await grid.as('alice')).get(`/jobs/${jids.vo}`)).body.status).toBe('Waiting');
  });
});

describe('the border of a virtual organisation, for the catalogue', () => {
  const path = (of: string): string => `/filecatalogue/directory/${encoded(of)}`;
  const file = (of: string): string => `/filecatalogue/file/${encoded(of)}`;
  const closed = [403, 'catalogue.forbidden'];
  const unseen = [404, 'catalogue.directory-not-found'];
  const noFile = [404, 'catalogue.file-not-found'];
  let here: GridClient;
  let elsewhere: GridClient;

  beforeAll(async () => {
    [here, elsewhere] = [await grid.as('fred', 'vo_fc'), await grid.as('fred', 'else_fc')];
  });

  async function codes(...calls: Promise<{ status: number; body: any }>[]): Promise<unknown> {
    return (await Promise.all(calls)).map(({ status, body }) =>
      body.code === undefined ? status : [status, body.code],
    );
  }

  it('lets a manager make and fill the directory of the own organisation', async () => {
    expect(await codes(elsewhere.post(path('/else/a'), { json: { Mode: 448 } }))).toEqual([201]);
    expect(await codes(elsewhere.put(file('/else/a/f'), { json: { Size: 3 } }))).toEqual([201]);
    // Of somebody else and closed, and still in reach.
    await grid.sql(
      `update catalogue_directory set owner_id = (select id from catalogue_name where (kind, name) = ('user', 'root')),
        mode = 448, boundary = true where path in ('/else', '/else/a')`,
    );
    expect(
      await codes(
        elsewhere.get(path('/else/a')),
        elsewhere.get(`${path('/else')}/search`),
        elsewhere.get(`${path('/else/a')}/search`),
        elsewhere.get(`${file('/else/a/f')}/attributes`),
        elsewhere.put(file('/else/a/g'), { json: { Size: 3 } }),
        elsewhere.post(path('/else/a/d'), { json: { Mode: 448 } }),
        elsewhere.patch(`${file('/else/a/f')}/metadata`, { json: { note: 'x' } }),
      ),
    ).toEqual([200, 200, 200, 200, 201, 201, 200]);
    const lines = { headers: { accept: 'application/x-ndjson' } };
    const found = await elsewhere.get<string>(`${path('/')}/search`, lines);
    expect(found.body).toContain('{"path":"/else/a","files":2,"size":6}\n');
    expect(await codes(here.get(path('/else')), here.get(path('/else/a')))).toEqual([
      unseen,
      unseen,
    ]);
    expect((await here.get(path('/'))).body.SubDirs).not.toHaveProperty('/else');
  });

  it('stops the manager of another one, whose name begins alike too', async () => {
    expect(await codes(here.put(file('/vo/a/kept'), { json: { Size: 1 } }))).toEqual([201]);
    expect(
      await codes(
        elsewhere.post(path('/elsewhere')),
        elsewhere.post(path('/vo/x')),
        elsewhere.put(file('/vo/a/forged'), { json: { Size: 1 } }),
        elsewhere.delete(file('/vo/a/kept')),
        elsewhere.post(path('/vo'), { json: { Mode: 511 } }),
        elsewhere.post(path('/'), { json: { Mode: 511 } }),
        here.put(file('/else/a/forged'), { json: { Size: 1 } }),
        here.delete(path('/else')),
      ),
    ).toEqual([closed, closed, closed, noFile, closed, closed, closed, unseen]);
  });

  it('lets managers give away what is theirs only', async () => {
    const bulk = (client: GridClient, line: object) =>
      client.post<string>('/filecatalogue/bulk', {
        body: `${JSON.stringify(line)}\n`,
        headers: { 'content-type': 'application/x-ndjson' },
      });
    const gift = { kind: 'directory', owner: 'carol', group: 'else_user' };
    const own = await bulk(elsewhere, { ...gift, path: '/else/a' });
    expect(own.body).toBe('{"lines":1,"created":0,"updated":1,"unchanged":0,"failed":0}\n');
    const foreign = await bulk(elsewhere, { ...gift, path: '/vo' });
    expect(JSON.parse(foreign.body.split('\n')[0] ?? '')).toMatchObject({ line: 1, status: 403 });
  });

  it('leaves declaring to every manager, and deleting a field to those who reach all its values', async () => {
    const remove = { body: '{"kind":"field","name":"bordered","op":"delete"}\n' };
    const headers = { 'content-type': 'application/x-ndjson' };
    const json = { name: 'bordered', type: 'int' };
    expect(await codes(elsewhere.post('/filecatalogue/metadata', { json }))).toEqual([201]);
    const refused = await elsewhere.post<string>('/filecatalogue/bulk', { ...remove, headers });
    expect(refused.body).toContain('"status":403');
    const everywhere = await grid.as('fred', 'service_fc');
    const done = await everywhere.post<string>('/filecatalogue/bulk', { ...remove, headers });
    expect(done.body).toContain('"failed":0');
  });

  it('is none for the administrators of the service', async () => {
    const service = await grid.as('fred', 'service_fc');
    expect(await codes(service.post(path('/anywhere')), service.get(path('/vo')))).toEqual([
      201, 200,
    ]);
  });
});

describe('an issuer of one virtual organisation (GRID_ISSUER_VO)', () => {
  let narrow: Grid;
  let earlier: string;
  beforeAll(async () => {
    const env = {
      GRID_ROLE: 'api',
      GRID_REGISTRY: await writeRegistry(directory),
      GRID_REGISTRY_SYNC: 'true',
      GRID_PORT: String(await freePort()), // the restarted server is the same issuer
    };
    const wide = await startGrid({ env });
    earlier = (await wide.as('carol', 'else_user')).token ?? '';
    await wide.stop();
    narrow = await wide.again({ GRID_ISSUER_VO: 'vo' });
  });
  afterAll(async () => narrow?.remove());

  const groupsOf = async (name: Identity): Promise<unknown> =>
    (await (await narrow.certificate(name)).get('/oauth2/groups')).body.groups;
  const asks = async (name: Identity, group: string): Promise<unknown[]> => {
    const query = { grant_type: 'client_credentials', group, setup: 'Prod' };
    const { status, body } = await (await narrow.certificate(name)).get('/oauth2/token', { query });
    return [status, body.error];
  };

  it('gives tokens for its groups and those without one, by no way for others', async () => {
    expect(await groupsOf('mona')).toEqual(['grid_mon', 'free_mon']);
    expect(await groupsOf('carol')).not.toContain('else_user');
    expect(await asks('mona', 'grid_mon')).toEqual([200, undefined]);
    expect(await asks('bob', 'free_user')).toEqual([200, undefined]);
    for (const [name, group] of [
      ['mona', 'else_mon'],
      ['carol', 'else_user'],
      ['adam', 'service_adm'],
    ] as const) {
      expect([group, await asks(name, group)]).toEqual([group, [403, 'access_denied']]);
    }
    const key = await makeKey();
    for (const [id, group, expected] of [
      ['of-vo', 'grid_user', 200],
      ['of-else', 'else_user', 403],
    ] as const) {
      const byKey = { authentication: 'private_key_jwt', jwks: { keys: [key.jwk] } };
      await addApplication(narrow, { id, ...byKey, scopes: ['jobs:read'], group });
      const assertion = await assertionOf(id, key, { aud: narrow.url });
      const form = { grant_type: 'client_credentials', ...assertion };
      expect([id, (await narrow.anonymous.post('/oauth2/token', { form })).status]).toEqual([
        id,
        expected,
      ]);
    }
  });

  it('offers no other group to who allows an application to act', async () => {
    const visitor = new PageVisitor(await narrow.certificate('mona'));
    const page = await visitor.open(authorizePath());
    expect(page.body).toContain('grid_mon');
    expect(page.body).not.toContain('else_mon');
  });

  it('takes tokens of others no longer that were given before', async () => {
    expect((await narrow.bearer(earlier).get('/jobs')).status).toBe(401);
    expect((await (await narrow.as('alice')).get('/jobs')).status).toBe(200);
  });
});
