import { adminToken, startAdministered, told } from '../support/administration.js';
import { AuditTrail } from '../support/audit-trail.js';
import { isOfEarlier } from '../support/time-of-tokens.js';
import { eventually, type Grid, type GridClient } from '../support/testbed.js';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

let grid: Grid;
let trail: AuditTrail;
let adam: GridClient;

beforeAll(async () => {
  ({ grid, adam } = await startAdministered());
  trail = new AuditTrail(grid);
});
afterAll(async () => grid?.remove());

const user = (name: string, groups: string[]): object => ({
  name,
  sub: expect.any(String),
  fullName: `${name[0]?.toUpperCase()}${name.slice(1)} Example`,
  email: `${name}@example.org`,
  certificates: [{ subject: `/DC=org/DC=grid/CN=${name}` }],
  subjects: [],
  groups,
  disabled: false,
});

describe('users', () => {
  const all = {
    adam: ['grid_adm', 'root'],
    alice: ['grid_user', 'grid_share'],
    bob: ['grid_user', 'grid_share'],
    carol: ['grid_user'],
    fred: ['grid_fc'],
    mona: ['grid_mon'],
  };
  const users = Object.entries(all).map(([name, groups]) => user(name, groups));

  it('are listed by name, page by page, and found', async () => {
    const { status, body, headers } = await adam.get('/admin/users');
    expect([status, body, headers['link'], headers['cache-control']]).toEqual([
      ...[200, { users, total: 6 }, undefined, 'no-store'],
    ]);
    const first = await adam.get('/admin/users', { query: { limit: 4, search: 'DC=ORG' } });
    const next = `${grid.url}/admin/users?search=DC%3DORG&limit=4&after=carol`;
    expect(first.body).toEqual({ users: users.slice(0, 4), total: 6 });
    expect(first.headers['link']).toBe(`<${next}>; rel="next"`);
    const second = await adam.get(next.slice(grid.url.length));
    expect([second.body, second.headers['link']]).toEqual([
      { users: users.slice(4), total: 6 },
      undefined,
    ]);
    const found = await adam.get('/admin/users', { query: { search: 'Ali' } });
    expect(found.body).toEqual({ users: [users[1]], total: 1 });
    const none = await adam.get('/admin/users', { query: { search: 'nobody' } });
    expect(none.body).toEqual({ users: [], total: 0 });
  });

  it('are shown with what the registry says of them', async () => {
    await grid.sql(
      `update registry_user set full_name = 'Carol C.', email = 'c@example.org' where name = 'carol'`,
    );
    await grid.sql(
      `insert into registry_subject (issuer, sub, user_name, position) values ('https://idp.example', 'seven', 'carol', 1)`,
    );
    const shown = {
      ...user('carol', ['grid_user']),
      ...{ fullName: 'Carol C.', email: 'c@example.org' },
      subjects: [{ issuer: 'https://idp.example', sub: 'seven' }],
    };
    expect((await adam.get('/admin/users/carol')).body).toEqual(shown);
    for (const search of ['carol c', 'C@EXAMPLE', 'seven', 'idp.ex']) {
      const { body } = await adam.get('/admin/users', { query: { search } });
      expect({ search, body }).toEqual({ search, body: { users: [shown], total: 1 } });
    }
  });

  it('are disabled: their tokens are refused at once and for ever; they are enabled with their groups', async () => {
    const carol = grid.bearer(await grid.token('carol', 'grid_user'));
    expect((await carol.get('/jobs')).status).toBe(200);
    await isOfEarlier(carol.token ?? '');
    const done = await adam.post('/admin/users/carol/disable');
    const changes = ['~ users.carol: disabled'];
    expect([done.status, done.body]).toEqual([200, { changes }]);
    expect(await trail.lineOf(done, 'registry.changed')).toEqual({
      ...{ outcome: 'done', user: 'adam', group: 'grid_adm', setup: 'Prod', client: 'certificate' },
      changes,
    });
    expect((await carol.get('/jobs')).status).toBe(401);
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const refused = await (await grid.certificate('carol')).get('/oauth2/token', { query });
    expect([refused.status, refused.body.error]).toEqual([403, 'access_denied']);
    expect((await adam.get('/admin/users/carol')).body).toMatchObject({
      groups: ['grid_user'],
      disabled: true,
    });
    expect((await adam.post('/admin/users/carol/disable')).body).toEqual({ changes: [] });
    await adam.put('/admin/groups/grid_share/members/carol');
    expect((await carol.get('/jobs')).status).toBe(401);
    const back = await adam.post('/admin/users/carol/enable');
    expect([back.status, back.body]).toEqual([200, { changes: ['~ users.carol: enabled'] }]);
    expect((await carol.get('/jobs')).status).toBe(401);
    const again = grid.bearer(await grid.token('carol', 'grid_user'));
    expect((await again.get('/jobs')).status).toBe(200);
    expect((await adam.post('/admin/users/carol/enable')).body).toEqual({ changes: [] });
    await adam.delete('/admin/groups/grid_share/members/carol');
  });

  it.each([
    ['GET', '/admin/users/nobody'],
    ['POST', '/admin/users/nobody/disable'],
    ['POST', '/admin/users/nobody/enable'],
    ['PUT', '/admin/groups/grid_user/members/nobody'],
    ['DELETE', '/admin/groups/grid_user/members/nobody'],
    ['GET', '/admin/users/constructor'],
  ])('%s %s: there is none', async (method, path) => {
    const [, , name] = /(users|members)\/(\w+)/.exec(path) ?? [];
    expect(told(await adam.call(method, path))).toEqual([
      404,
      'user.not-found',
      `There is no user ${name}`,
    ]);
  });

  it.each<[Record<string, string>, string, string]>([
    [{ limit: '0' }, 'limit', 'must be at least 1'],
    [{ limit: 'x' }, 'limit', 'is not a whole number'],
    [{ search: 'x'.repeat(201) }, 'search', 'has more than 200 characters'],
    [{ after: 'x'.repeat(201) }, 'after', 'has more than 200 characters'],
  ])('are not listed by %j', async (query, field, problem) => {
    const { status, body } = await adam.get('/admin/users', { query });
    expect([status, body.violations]).toEqual([400, [{ field, problem }]]);
  });

  it('are not listed by what is unknown', async () => {
    const { status, body } = await adam.get('/admin/users', { query: { group: 'x' } });
    expect([status, body.code]).toEqual([400, 'request.unknown-parameter']);
  });
});

describe('groups', () => {
  const group = { name: 'grid_mon', vo: 'vo', properties: ['JobMonitor'], members: ['mona'] };

  it('are listed in the order of the registry', async () => {
    const { status, body } = await adam.get('/admin/groups');
    const names = ['grid_user', 'grid_share', 'grid_mon', 'grid_adm', 'grid_fc', 'root'];
    expect([status, body.groups.map(({ name }: { name: string }) => name)]).toEqual([200, names]);
    expect(body.groups[2]).toEqual(group);
    expect((await adam.get('/admin/groups/grid_mon')).body).toEqual(group);
  });

  it('gain and lose members', async () => {
    const added = await adam.put('/admin/groups/grid_mon/members/bob');
    expect(added.body).toEqual({ changes: ['~ groups.grid_mon: members +bob'] });
    const bob = await grid.as('bob', 'grid_mon');
    expect((await bob.get('/jobs')).status).toBe(200);
    const removed = await adam.delete('/admin/groups/grid_mon/members/bob');
    expect([removed.status, removed.body]).toEqual([
      ...[200, { changes: ['~ groups.grid_mon: members -bob'] }],
    ]);
    expect((await bob.get('/jobs')).status).toBe(401);
    const again = await adam.delete('/admin/groups/grid_mon/members/bob');
    expect(told(again)).toEqual([404, 'group.no-such-member', 'bob is no member of grid_mon']);
    expect(await trail.lineOf(again, 'registry.changed')).toMatchObject({
      ...{ outcome: 'refused', code: 'group.no-such-member', user: 'adam' },
      changes: ['~ groups.grid_mon: members -bob'],
    });
  });

  it.each([
    ['GET', '/admin/groups/none'],
    ['PUT', '/admin/groups/none/members/bob'],
    ['DELETE', '/admin/groups/none/members/bob'],
  ])('%s %s: there is none', async (method, path) => {
    expect(told(await adam.call(method, path))).toEqual([
      ...[404, 'group.not-found', 'There is no group none'],
    ]);
  });
});

describe('the last administrator', () => {
  const detail =
    'Nobody could administer the service any more: make somebody else a member of a group with ServiceAdministrator first';
  const LAST = [409, 'group.last-administrator', detail];

  it('stays', async () => {
    expect(told(await adam.post('/admin/users/adam/disable'))).toEqual(LAST);
    expect((await adam.delete('/admin/groups/root/members/adam')).status).toBe(200);
    const refused = await adam.delete('/admin/groups/grid_adm/members/adam');
    expect(told(refused)).toEqual(LAST);
    expect(await trail.lineOf(refused, 'registry.changed')).toMatchObject({ outcome: 'refused' });
    expect((await adam.get('/admin/groups/grid_adm')).body.members).toEqual(['adam']);
  });

  it('is one of two who try at once to remove each other', async () => {
    await adam.put('/admin/groups/root/members/mona');
    const mona = grid.bearer(await adminToken(grid, 'root', '', 'mona'));
    const answers = await Promise.all([
      adam.post('/admin/users/mona/disable'),
      mona.post('/admin/users/adam/disable'),
    ]);
    const good = answers.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    const other = answers.find(({ status }) => status !== 200);
    expect([409, 401]).toContain(other?.status);
    const [left, gone] = good[0] === answers[0] ? [adam, 'mona'] : [mona, 'adam'];
    expect((await left.post(`/admin/users/${gone}/enable`)).status).toBe(200);
    for (const [group, name] of [
      ['grid_adm', 'adam'],
      ['root', 'adam'],
      ['grid_mon', 'mona'],
    ]) {
      expect((await left.put(`/admin/groups/${group}/members/${name}`)).status).toBe(200);
    }
    adam = grid.bearer(await adminToken(grid)); // that of before is dead when adam was disabled
    await adam.delete('/admin/groups/root/members/mona');
  });
});

describe('applications', () => {
  const json = {
    ...{ id: 'mine', name: ' My portal ', redirectUris: ['https://mine.example/cb'] },
    ...{ postLogoutRedirectUris: ['https://mine.example/'], confidential: true },
    ...{ audiences: ['https://storage.example'], profile: 'oauth2.1' },
  };
  const shown = {
    ...json,
    name: 'My portal',
    authentication: 'client_secret',
    origin: 'command',
  };

  it('are registered, and the secret is shown this one time', async () => {
    const added = await adam.post('/admin/applications', { json });
    expect([added.status, added.body, added.headers['cache-control']]).toEqual([
      ...[201, { id: 'mine', secret: expect.stringMatching(/^[\w-]{43,}$/) }, 'no-store'],
    ]);
    expect(await trail.lineOf(added, 'client.added')).toEqual({
      ...{ outcome: 'done', user: 'adam', group: 'grid_adm', setup: 'Prod' },
      ...{ client: 'mine', name: 'My portal' },
    });
    expect((await adam.get('/admin/applications/mine')).body).toEqual(shown);
    const { body } = await adam.get('/admin/applications');
    expect(body.applications.map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining(['demo-portal', 'mine']),
    );
    expect(JSON.stringify(body)).not.toContain(added.body.secret);
    const again = await adam.post('/admin/applications', { json });
    expect(told(again)).toEqual([
      ...[409, 'client.exists', 'There is already an application mine'],
    ]);
    expect(await trail.lineOf(again, 'client.added')).toMatchObject({ outcome: 'refused' });
    expect(trail.log.lines().some((line) => JSON.stringify(line).includes(added.body.secret))).toBe(
      false,
    );
  });

  it('need no secret, id or address', async () => {
    const { status, body } = await adam.post('/admin/applications', { json: { name: 'Device' } });
    expect([status, body]).toEqual([201, { id: expect.any(String) }]);
    expect((await adam.get(`/admin/applications/${body.id}`)).body).toEqual({
      ...{ id: body.id, name: 'Device', redirectUris: [], postLogoutRedirectUris: [] },
      ...{ confidential: false, audiences: [], profile: 'interface', authentication: 'none' },
      origin: 'command',
    });
  });

  it('are removed, and their tokens refused', async () => {
    const removed = await adam.delete('/admin/applications/mine');
    expect([removed.status, removed.body]).toEqual([200, { id: 'mine', deleted: true }]);
    expect(await trail.lineOf(removed, 'client.removed')).toEqual({
      ...{ outcome: 'done', user: 'adam', group: 'grid_adm', setup: 'Prod', client: 'mine' },
    });
    const gone = [404, 'client.not-found', 'There is no application mine'];
    expect(told(await adam.delete('/admin/applications/mine'))).toEqual(gone);
    expect(told(await adam.get('/admin/applications/mine'))).toEqual(gone);
    const none = [404, 'client.not-found', 'There is no application \0'];
    expect(told(await adam.delete('/admin/applications/%00'))).toEqual(none);
    expect(told(await adam.get('/admin/applications/%00'))).toEqual(none);
  });

  it.each<[object, string, string]>([
    [{}, 'name', 'is missing'],
    [{ name: '' }, 'name', 'must have 1 to 200 characters'],
    [{ name: 1 }, 'name', 'is not a text'],
    [
      { name: 'x', id: 'portal' },
      'id',
      'must be 1 to 100 letters, digits or . _ ~ - and not a reserved word',
    ],
    [
      { name: 'x', redirectUris: 'https://x' },
      'redirectUris',
      'is not a list of at most 100 texts',
    ],
    [{ name: 'x', redirectUris: [''] }, 'redirectUris', 'is not a list of at most 100 texts'],
    [{ name: 'x', confidential: 'yes' }, 'confidential', 'is not true or false'],
    [{ name: 'x', profile: 'none' }, 'profile', 'is not one of interface, oauth2.1, fapi2'],
    [{ name: 'x', jwks: [] }, 'jwks', 'is not a JSON object'],
    [
      { name: 'x', subjectDn: 'x', authentication: 'tls_client_auth' },
      'subjectDn',
      'is not a distinguished name',
    ],
    [
      { name: 'x', confidential: true, scopes: ['jobs:read'], group: 'none' },
      'group',
      'there is no group none',
    ],
  ])('%j is refused', async (body, field, problem) => {
    const answer = await adam.post('/admin/applications', { json: body });
    expect([answer.status, answer.body.code, answer.body.violations]).toEqual([
      ...[400, 'request.invalid', expect.arrayContaining([{ field, problem }])],
    ]);
  });

  it.each<[object, string, string]>([
    [{ name: 'x', redirectUris: ['ftp://x'] }, 'redirectUris', 'ftp://x'],
    [{ name: 'x', secret: 'mine' }, 'secret', 'known'],
    [{ name: 'a\u202eb' }, 'name', 'has control characters or invisible ones'],
    [{ name: 'x', id: '..' }, 'id', 'must be 1 to 100 letters'],
  ])('%j is refused', async (body, field, problem) => {
    const answer = await adam.post('/admin/applications', { json: body });
    expect(answer.status).toBe(400);
    expect(answer.body.violations).toEqual([{ field, problem: expect.stringContaining(problem) }]);
  });

  it('takes no form and no text', async () => {
    const { status, body } = await adam.post('/admin/applications', { form: { name: 'x' } });
    expect([status, body.code]).toEqual([415, 'request.unsupported-media-type']);
  });
});

describe('signing keys', () => {
  const key = (tokens: string, state: string, more: object = {}): object => ({
    ...{ kid: expect.any(String), algorithm: tokens === 'id' ? 'RS256' : 'ES256', tokens, state },
    ...{ createdAt: TIME, ...more },
  });
  const active = { activeFrom: TIME };

  it('are shown without anything private, and rotated', async () => {
    const { body } = await eventually(async () => {
      const answer = await adam.get('/admin/keys');
      return answer.body.keys.length === 4 && answer;
    }, 'the RSA keys');
    expect(body.keys).toEqual([
      ...[key('access', 'signing', active), key('access', 'next')],
      ...[key('id', 'signing', active), key('id', 'next')],
    ]);
    for (const table of ['signing_key', 'id_token_key']) {
      await grid.sql(`update ${table} set created_at = now() where active_from is null`);
    }
    const rotated = await adam.post('/admin/keys/rotation');
    expect([rotated.status, rotated.body.keys]).toEqual([
      200,
      [
        ...[key('access', 'signing', active), key('access', 'scheduled', active)],
        ...[key('access', 'next'), key('id', 'signing', active)],
        ...[key('id', 'scheduled', active), key('id', 'next')],
      ],
    ]);
    expect(await trail.lineOf(rotated, 'keys.rotated')).toEqual({
      ...{ outcome: 'done', user: 'adam', group: 'grid_adm', setup: 'Prod', client: 'certificate' },
      ...{ kid: body.keys[1].kid, activeFrom: TIME, way: 'request' },
    });
    expect((await adam.get('/admin/keys')).body).toEqual(rotated.body);
    expect(JSON.stringify(rotated.body)).not.toMatch(/plain\.|"d"|private/i);
  });
});

describe('sites', () => {
  const open = { name: 'LOCAL.demo', backend: 'local-process', state: 'open' };
  const spare = { ...open, name: 'LOCAL.spare' };

  it('are drained and resumed', async () => {
    expect((await adam.get('/admin/sites')).body).toEqual({ sites: [open, spare] });
    const drained = { ...open, state: 'drained', since: TIME, by: 'adam', reason: 'new kernel' };
    const done = await adam.post('/admin/sites/LOCAL.demo/drain', {
      json: { reason: 'new kernel' },
    });
    expect([done.status, done.body]).toEqual([200, drained]);
    expect(await trail.lineOf(done, 'registry.changed')).toMatchObject({
      ...{ outcome: 'done', user: 'adam', changes: ['~ sites.LOCAL.demo: drained: new kernel'] },
    });
    expect((await adam.get('/admin/sites')).body).toEqual({ sites: [drained, spare] });
    const back = await adam.post('/admin/sites/LOCAL.demo/resume');
    expect([back.status, back.body]).toEqual([200, open]);
    expect(await trail.lineOf(back, 'registry.changed')).toMatchObject({
      ...{ user: 'adam', changes: ['~ sites.LOCAL.demo: resumed'] },
    });
    expect((await adam.post('/admin/sites/LOCAL.demo/resume')).body).toEqual(open);
  });

  it.each<[object, string, string]>([
    [{}, 'reason', 'is missing'],
    [{ reason: '' }, 'reason', 'has fewer than 1 characters'],
    [{ reason: 7 }, 'reason', 'is not a text'],
    [{ reason: 'x'.repeat(501) }, 'reason', 'has more than 500 characters'],
    [{ reason: 'a\nb' }, 'reason', 'has control characters or invisible ones'],
    [{ reason: '\u200bx' }, 'reason', 'has control characters or invisible ones'],
    [{ reason: '   ' }, 'reason', 'is blank'],
  ])('are not drained by %j', async (json, field, problem) => {
    const { status, body } = await adam.post('/admin/sites/LOCAL.demo/drain', { json });
    expect([status, body.violations]).toEqual([400, [{ field, problem }]]);
  });

  it('must be there', async () => {
    const gone = [404, 'site.not-found', 'There is no site nowhere'];
    const json = { reason: 'x' };
    expect(told(await adam.post('/admin/sites/nowhere/drain', { json }))).toEqual(gone);
    expect(told(await adam.post('/admin/sites/nowhere/resume'))).toEqual(gone);
  });
});
