import { decodeJwt } from 'jose';
import { startAdministered, told } from '../support/administration.js';
import { AuditTrail } from '../support/audit-trail.js';
import { eventually, type Grid, type GridClient } from '../support/testbed.js';

/** Whoever changes the registry has it. */
const LOCK = 'select pg_advisory_xact_lock(1735551332, 2)';
const STRANGER = '/DC=org/DC=grid/CN=stranger';

let grid: Grid;
let trail: AuditTrail;
let adam: GridClient;

beforeAll(async () => {
  ({ grid, adam } = await startAdministered());
  trail = new AuditTrail(grid);
});
afterAll(async () => grid?.remove());

const conflict = (faults: string): unknown[] => [
  ...[409, 'registry.conflict', `The registry does not allow it: ${faults}`],
];
const last = 'Nobody could administer the service any more';

describe('users', () => {
  const dora = {
    ...{ name: 'dora', fullName: 'Dora D', email: 'dora@example.org' },
    certificates: [{ subject: STRANGER, issuer: '/DC=org/DC=grid/CN=Development CA' }],
    subjects: [{ issuer: 'https://idp.example', sub: 'd-1' }],
    limits: { running: 5 },
    groups: ['grid_user', 'grid_share'],
  };
  const shown = { ...dora, sub: expect.any(String), disabled: false };

  it('are added, found at once, changed and removed', async () => {
    const added = await adam.post('/admin/users', { json: dora });
    expect([added.status, added.headers['location'], added.body]).toEqual([
      ...[201, '/admin/users/dora', shown],
    ]);
    expect(await trail.lineOf(added, 'registry.changed')).toEqual({
      ...{ outcome: 'done', user: 'adam', group: 'grid_adm', setup: 'Prod', client: 'certificate' },
      changes: [
        '+ users.dora',
        '~ groups.grid_user: members +dora',
        '~ groups.grid_share: members +dora',
      ],
    });
    expect((await adam.get('/admin/users/dora')).body).toEqual(shown);
    const again = await adam.post('/admin/users', { json: { name: 'dora' } });
    expect(told(again)).toEqual([409, 'user.exists', 'There is already a user dora']);
    expect(await trail.lineOf(again, 'registry.changed')).toMatchObject({
      ...{ outcome: 'refused', code: 'user.exists', changes: ['+ users'] },
    });

    const json = { email: null, certificates: [{ subject: 'CN=stranger,DC=grid,DC=org' }] };
    const changed = await adam.patch('/admin/users/dora', { json });
    const changes = [
      expect.stringMatching(
        /^~ users.dora: email dora@example.org -> \(none\), certificates -.+ \+/,
      ),
    ];
    expect([changed.status, changed.body]).toEqual([200, { changes }]);
    const { email: _email, ...rest } = shown;
    expect((await adam.get('/admin/users/dora')).body).toEqual({
      ...rest,
      certificates: [{ subject: STRANGER }],
    });
    expect((await adam.patch('/admin/users/dora', { json })).body).toEqual({ changes: [] });
    await adam.post('/admin/users/dora/disable');
    await adam.patch('/admin/users/dora', { json: { fullName: 'Dora' } });
    expect((await adam.get('/admin/users/dora')).body).toMatchObject({
      ...{ fullName: 'Dora', disabled: true, groups: dora.groups },
    });
    const removed = await adam.delete('/admin/users/dora');
    expect([removed.status, removed.bytes.length]).toEqual([204, 0]);
    expect(await trail.lineOf(removed, 'registry.changed')).toMatchObject({
      ...{ outcome: 'done', changes: expect.arrayContaining(['- users.dora']) },
    });
    expect(trail.eventsOf(removed)).toEqual(['registry.changed']);
    expect(told(await adam.delete('/admin/users/dora'))).toEqual([
      ...[404, 'user.not-found', 'There is no user dora'],
    ]);
    expect((await adam.get('/admin/groups/grid_user')).body.members).not.toContain('dora');
  });

  it('who are removed leave their jobs and files under the name, and their subject to nobody', async () => {
    const json = { name: 'eve', certificates: [{ subject: STRANGER }], groups: ['grid_user'] };
    await adam.post('/admin/users', { json });
    const token = await grid.token('stranger', 'grid_user');
    const eve = grid.bearer(token);
    const submitted = await eve.post('/jobs', { json: { Executable: '/bin/true' } });
    expect(submitted.status).toBe(200);
    const [{ jid }] = (await eve.get('/jobs')).body.jobs;
    expect((await adam.delete('/admin/users/eve')).status).toBe(204);
    expect((await eve.get('/jobs')).status).toBe(401);
    const mona = await grid.as('mona');
    expect((await mona.get(`/jobs/${jid}`)).body).toMatchObject({ jid, owner: 'eve' });

    const { sub } = decodeJwt(token);
    const other = await adam.post('/admin/users', { json: { name: 'mallory', sub } });
    expect(told(other)).toEqual(
      conflict('users.mallory.sub: was the subject of eve and is never given to another'),
    );
    await adam.post('/admin/users', { json });
    expect((await eve.get('/jobs')).status).toBe(401);
    expect((await adam.patch('/admin/users/eve', { json: { sub } })).status).toBe(200);
    await adam.delete('/admin/users/eve');
  });

  it.each<[object, string, string]>([
    [{}, 'name', 'is missing'],
    [{ name: 7 }, 'name', 'is not a text'],
    [{ name: 'a b' }, 'name', 'is no name: 1 to 128 characters without blank, slash or comma'],
    [{ name: 'x', email: 'x' }, 'email', 'is no e-mail address'],
    [{ name: 'x', email: null }, 'email', 'is not a text'],
    [{ name: 'x', fullName: '' }, 'fullName', 'must be text (put it in quotes)'],
    [
      { name: 'x', certificates: ['/CN=x'] },
      'certificates',
      'is not a list of at most 1000 objects',
    ],
    [{ name: 'x', certificates: [{}] }, 'certificates[0].subject', 'is missing'],
    [{ name: 'x', subjects: [{ issuer: 'https://i' }] }, 'subjects[0].sub', 'is missing'],
    [{ name: 'x', groups: 'grid_user' }, 'groups', 'is not a list of at most 1000 texts'],
    [
      { name: 'x', limits: { running: -1 } },
      'limits.running',
      'must be a whole number from 0 to 1000000000',
    ],
    [{ name: 'x', limits: [] }, 'limits', 'is not a JSON object'],
    [{ name: 'x', disabled: true }, 'disabled', expect.stringContaining('known') as string],
  ])('are not added by %j', async (json, field, problem) => {
    const { status, body } = await adam.post('/admin/users', { json });
    expect([status, body.code, body.violations?.[0]]).toEqual([
      ...[400, 'request.invalid', { field, problem }],
    ]);
  });

  it.each<[object, unknown[]]>([
    [{ groups: ['none'] }, [409, 'registry.conflict', 'There is no group none: add it first']],
    [
      { certificates: [{ subject: '/DC=org/DC=grid/CN=bob' }] },
      conflict('users.x.certificates[0]: belongs to bob already'),
    ],
    [{ sub: 'demo-portal' }, conflict('users.x.sub: is the id of an application')],
  ])('%j is not the registry’s', async (json, answer) => {
    expect(told(await adam.post('/admin/users', { json: { name: 'x', ...json } }))).toEqual(answer);
    expect((await adam.get('/admin/users/x')).status).toBe(404);
  });
});

describe('groups', () => {
  const night = {
    ...{ name: 'night', vo: 'vo', properties: ['NormalUser'], members: ['bob'] },
    ...{ idpScopes: ['wlcg.groups:/vo/night'], idpRole: 'night', limits: { ownerRunning: 2 } },
  };

  it('are added, changed and removed when they are empty', async () => {
    const added = await adam.post('/admin/groups', { json: night });
    expect([added.status, added.headers['location'], added.body]).toEqual([
      ...[201, '/admin/groups/night', night],
    ]);
    const bob = await grid.as('bob', 'night');
    expect((await bob.get('/jobs')).status).toBe(200);
    expect(told(await adam.post('/admin/groups', { json: night }))).toEqual([
      ...[409, 'group.exists', 'There is already a group night'],
    ]);
    const json = { vo: null, idpRole: null, limits: {}, properties: ['JobSharing', 'NormalUser'] };
    expect((await adam.patch('/admin/groups/night', { json })).body).toEqual({
      changes: [
        '~ groups.night: vo vo -> (none), properties +JobSharing, idpRole night -> (none), limits {"ownerRunning":2} -> (none)',
      ],
    });
    const full = await adam.delete('/admin/groups/night');
    expect(told(full)).toEqual([
      ...[409, 'registry.conflict', 'night has 1 member(s): take them out first'],
    ]);
    expect(await trail.lineOf(full, 'registry.changed')).toMatchObject({
      ...{ outcome: 'refused', changes: ['- groups.night'] },
    });
    await adam.patch('/admin/groups/night', { json: { members: [] } });
    expect((await bob.get('/jobs')).status).toBe(401);
    expect((await adam.delete('/admin/groups/night')).status).toBe(204);
    expect((await adam.get('/admin/groups/night')).status).toBe(404);
    expect(told(await adam.delete('/admin/groups/night'))).toEqual([
      ...[404, 'group.not-found', 'There is no group night'],
    ]);
  });

  it.each<[object, unknown[]]>([
    [{ members: ['nobody'] }, conflict('groups.x.members[0]: there is no user nobody')],
    [{ vo: 'a/b' }, conflict('groups.x.vo: is no name of a directory')],
  ])('%j is refused', async (json, answer) => {
    expect(told(await adam.post('/admin/groups', { json: { name: 'x', ...json } }))).toEqual(
      answer,
    );
  });

  it('have rights of the closed list only', async () => {
    const json = { properties: ['Everything'] };
    const { status, body } = await adam.patch('/admin/groups/grid_mon', { json });
    const field = 'properties[0]';
    expect([status, body.violations]).toEqual([
      400,
      [{ field, problem: expect.stringContaining('Everything is not one of NormalUser') }],
    ]);
  });

  it('that are the only one of a setup, or are named by an application, stay', async () => {
    await adam.post('/admin/groups', { json: { name: 'only' } });
    await grid.sql(
      "insert into registry_setup (name, position, groups) values ('Alone', 9, '{only}')",
    );
    const text =
      'only is the only group of the setup Alone: change that first (gridgate registry load)';
    expect(told(await adam.delete('/admin/groups/only'))).toEqual([409, 'registry.conflict', text]);
    await grid.sql("update registry_setup set groups = '{only,grid_user}' where name = 'Alone'");
    expect((await adam.delete('/admin/groups/only')).status).toBe(204);
    expect(await grid.sql("select groups from registry_setup where name = 'Alone'")).toEqual([
      { groups: ['grid_user'] },
    ]);
    await adam.post('/admin/groups', { json: { name: 'robots', properties: ['NormalUser'] } });
    const app = { name: 'R', id: 'r', confidential: true, scopes: ['jobs:read'], group: 'robots' };
    expect((await adam.post('/admin/applications', { json: app })).status).toBe(201);
    expect(told(await adam.delete('/admin/groups/robots'))).toEqual(
      conflict('applications.r.group: there is no group robots'),
    );
  });
});

describe('the last administrator', () => {
  it.each<[string, string, object | undefined]>([
    ['DELETE', 'users/adam', undefined],
    ['PATCH', 'users/adam', { certificates: [] }],
    ['PATCH', 'groups/grid_adm', { members: [] }],
    ['PATCH', 'groups/grid_adm', { properties: ['JobAdministrator'] }],
  ])('stays: %s %s %j', async (method, path, json) => {
    await adam.delete('/admin/groups/root/members/adam');
    const { status, body } = await adam.call(method, `/admin/${path}`, json ? { json } : {});
    expect([status, body.code, body.detail]).toEqual([
      ...[409, 'group.last-administrator', expect.stringContaining(last)],
    ]);
  });
});

describe('sites', () => {
  const body = {
    ...{ name: 'BATCH.new', backend: 'slurm', setups: ['Prod'], slots: 4, processors: 8 },
    ...{ ramMB: 16000, gpus: 0, tags: ['GPU'], maxWallTime: 3600 },
    ...{ limits: { running: 2, tags: { GPU: 1 } }, options: { partition: 'short' } },
  };
  const shown = { ...body, state: 'open' };

  it('are added, shown, changed and removed with their drain', async () => {
    const added = await adam.post('/admin/sites', { json: body });
    expect([added.status, added.headers['location']]).toEqual([201, '/admin/sites/BATCH.new']);
    expect(added.body).toMatchObject(shown);
    expect((await adam.get('/admin/sites/BATCH.new')).body).toMatchObject(shown);
    expect(told(await adam.post('/admin/sites', { json: body }))).toEqual([
      ...[409, 'site.exists', 'There is already a site BATCH.new'],
    ]);
    const json = { slots: null, setups: null, tags: [], limits: {} };
    const changed = await adam.patch('/admin/sites/BATCH.new', { json });
    expect([changed.status, changed.body.changes]).toEqual([
      200,
      [expect.stringContaining('~ sites.BATCH.new: setups')],
    ]);
    const after = (await adam.get('/admin/sites/BATCH.new')).body;
    expect([after.slots, after.setups, after.tags, after.options]).toEqual([
      ...[undefined, undefined, [], { partition: 'short' }],
    ]);
    await adam.post('/admin/sites/BATCH.new/drain', { json: { reason: 'old' } });
    expect((await adam.delete('/admin/sites/BATCH.new')).status).toBe(204);
    const gone = [404, 'site.not-found', 'There is no site BATCH.new'];
    expect(told(await adam.get('/admin/sites/BATCH.new'))).toEqual(gone);
    expect(told(await adam.delete('/admin/sites/BATCH.new'))).toEqual(gone);
    expect(told(await adam.patch('/admin/sites/BATCH.new', { json }))).toEqual(gone);
    expect((await adam.post('/admin/sites', { json: body })).body.state).toBe('open');
    await adam.delete('/admin/sites/BATCH.new');
  });

  it('keep what only the machine may say', async () => {
    await grid.sql("update registry_site set network = 'host' where name = 'LOCAL.spare'");
    await adam.patch('/admin/sites/LOCAL.spare', { json: { slots: 3 } });
    expect(
      await grid.sql("select network, slots from registry_site where name = 'LOCAL.spare'"),
    ).toEqual([{ network: 'host', slots: 3 }]);
    for (const json of [{ network: 'host' }, { connection: { url: 'http://10.0.0.1' } }]) {
      const { status, body: told } = await adam.patch('/admin/sites/LOCAL.spare', { json });
      expect([status, told.violations[0].field]).toEqual([400, Object.keys(json)[0]]);
    }
  });

  it.each<[object, string, string]>([
    [{ backend: 'cloud' }, 'backend', 'is not one of local-process, slurm, worker'],
    [{ slots: 0 }, 'slots', 'must be a whole number from 1 to 1000000'],
    [{ slots: 1.5 }, 'slots', 'is not a whole number'],
    [{ tags: ['a b'] }, 'tags[0]', expect.any(String) as string],
  ])('are not changed by %j', async (json, field, problem) => {
    const { status, body: answer } = await adam.patch('/admin/sites/LOCAL.demo', { json });
    expect([status, answer.violations]).toEqual([400, [{ field, problem }]]);
  });

  it('name setups that there are', async () => {
    const json = { setups: ['None'] };
    expect(told(await adam.patch('/admin/sites/LOCAL.demo', { json }))).toEqual(
      conflict('sites.LOCAL.demo.setups[0]: there is no setup None'),
    );
  });
});

describe('single entries and a change of the whole registry at the same time', () => {
  const waiting = `select from pg_stat_activity where datname = current_database()
    and wait_event_type = 'Lock' and state = 'active'`;
  const application = { id: 'short-lived', name: 'Short', redirectUris: ['https://a.example/cb'] };

  /** What a request answers that waits while `change` is done in the transaction that holds the registry. */
  const meanwhile = async (
    ask: () => Promise<{ status: number }>,
    change: string,
  ): Promise<number> => {
    const other = await grid.connection();
    try {
      await other.query(
        `begin; set local deadlock_timeout = '1h'; ${LOCK}; select from registry_state for update`,
      );
      const answer = ask();
      await eventually(async () => (await grid.sql(waiting)).length === 1, 'the request to wait');
      await other.query(change);
      await other.query('commit');
      return (await answer).status;
    } finally {
      await other.end();
    }
  };

  it('wait for each other in one order, and both are done', async () => {
    expect((await adam.post('/admin/applications', { json: application })).status).toBe(201);
    const remove = () => adam.delete(`/admin/applications/${application.id}`);
    const rename = `update registry_application set name = 'Other' where id = '${application.id}'`;
    expect(await meanwhile(remove, rename)).toBe(200);
    expect(
      (await adam.post('/admin/sites/LOCAL.demo/drain', { json: { reason: 'x' } })).status,
    ).toBe(200);
    const resume = () => adam.post('/admin/sites/LOCAL.demo/resume');
    expect(await meanwhile(resume, 'delete from registry_drain')).toBe(200);
  });

  it('lose nothing: an application that is added while the registry is written stays', async () => {
    const other = await grid.connection();
    await other.query(`begin; ${LOCK}`);
    const added = adam.post('/admin/applications', { json: application });
    await eventually(async () => (await grid.sql(waiting)).length === 1, 'the request to wait');
    await other.query(`delete from registry_application where id = '${application.id}'`);
    await other.query('commit');
    await other.end();
    expect((await added).status).toBe(201);
    expect((await adam.get(`/admin/applications/${application.id}`)).status).toBe(200);
    expect((await adam.delete(`/admin/applications/${application.id}`)).status).toBe(200);
  });
});

describe('a group that moves to another virtual organisation', () => {
  const properties = ['NormalUser', 'JobSharing'];

  it('shares none of the jobs from before', async () => {
    const json = { name: 'moves', vo: 'vo', properties, members: ['alice'] };
    expect((await adam.post('/admin/groups', { json })).status).toBe(201);
    const alice = grid.bearer(await grid.token('alice', 'moves'));
    const [jid] = (await alice.post('/jobs', { json: { Executable: 'x' } })).body.jids;
    const moved = { json: { vo: 'else', members: ['carol'] } };
    expect((await adam.patch('/admin/groups/moves', moved)).status).toBe(200);
    const carol = grid.bearer(await grid.token('carol', 'moves'));
    for (const path of ['', '/manifest', '/inputsandbox', '/history', '/explain', '/parameters']) {
      expect((await carol.get(`/jobs/${jid}${path}`)).body.code).toBe('job.not-found');
    }
    expect((await carol.delete(`/jobs/${jid}`)).body.code).toBe('job.not-found');
    const query = { ownerGroup: 'moves', allOwners: true };
    const listed = await carol.get('/jobs', { query });
    const summary = await carol.get('/jobs/summary', { query: { ...query, group: 'owner' } });
    expect([listed.body.entries, summary.body]).toEqual([0, {}]);
    await adam.patch('/admin/groups/moves', { json: { members: [] } });
    expect((await adam.delete('/admin/groups/moves')).status).toBe(204);
  });
});
