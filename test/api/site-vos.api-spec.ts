import { startAdministered, told } from '../support/administration.js';
import { awaitStatus, show, submit } from '../support/jobs.js';
import { eventually, type Grid, type GridClient } from '../support/testbed.js';

interface Explained {
  waitsFor: string;
  sites: Record<string, string>;
}

const NOWHERE =
  'There is none of the sites that it may run on for its setup and virtual organisation';
const NO_SUCH = 'There is no such site for its setup and virtual organisation';

describe('sites of a virtual organisation', () => {
  let grid: Grid;
  let adam: GridClient;
  /** Of the virtual organisation `vo`. */
  let alice: GridClient;
  /** Of the virtual organisation `else`. */
  let carol: GridClient;
  /** Of none. */
  let bob: GridClient;
  beforeAll(async () => {
    ({ grid, adam } = await startAdministered());
    for (const [name, member, more] of [
      ['else_user', 'carol', { vo: 'else' }],
      ['free_user', 'bob', {}],
    ] as const) {
      const json = { name, properties: ['NormalUser'], members: [member], ...more };
      expect((await adam.post('/admin/groups', { json })).status).toBe(201);
    }
    alice = await grid.as('alice');
    carol = await grid.as('carol', 'else_user');
    bob = await grid.as('bob', 'free_user');
  });
  afterAll(() => grid?.remove());

  // Until then its site has a fault.
  beforeAll(() =>
    eventually(async () => {
      const { body } = await adam.get('/admin/sites/LOCAL.demo');
      return body.fault === undefined;
    }, 'the worker of the service'),
  );

  const change = async (site: string, json: object): Promise<unknown> => {
    const { status, body } = await adam.patch(`/admin/sites/${site}`, { json });
    return status === 200 ? body.changes : told({ status, body } as never);
  };
  const sleeper = { Executable: '/bin/sleep', Arguments: '600' };
  const explained = async (client: GridClient, jid: number): Promise<Explained> => {
    const { body } = await client.get<Explained>(`/jobs/${jid}/explain`);
    return { waitsFor: body.waitsFor, sites: body.sites };
  };
  const awaitNowhere = (client: GridClient, jid: number) =>
    eventually(async () => {
      const { status, minorStatus, appStatus } = await show(client, jid);
      return minorStatus === 'No candidate sites available' && { status, appStatus };
    }, `job ${jid} to be found to fit nowhere`);
  const conflict = (faults: string): unknown[] => [
    ...[409, 'registry.conflict', `The registry does not allow it: ${faults}`],
  ];

  it('are those that the registry names, each a virtual organisation of a group', async () => {
    expect(await change('LOCAL.demo', { vos: ['vo', 'none'] })).toEqual(
      conflict('sites.LOCAL.demo.vos[1]: no group is of the virtual organisation none'),
    );
    const empty = await adam.patch('/admin/sites/LOCAL.demo', { json: { vos: [] } });
    expect([empty.status, empty.body.violations]).toEqual([
      400,
      [{ field: 'vos', problem: 'names none; leave it out for all virtual organisations' }],
    ]);
    expect(await change('LOCAL.demo', { vos: ['vo'] })).toEqual([
      '~ sites.LOCAL.demo: vos (none) -> ["vo"]',
    ]);
    expect((await adam.get('/admin/sites/LOCAL.demo')).body).toEqual({
      ...{ name: 'LOCAL.demo', backend: 'local-process', state: 'open', vos: ['vo'] },
    });
    expect(await change('LOCAL.spare', { vos: ['else'] })).toHaveLength(1);
  });

  it('keep their virtual organisations in the registry', async () => {
    const fault = 'sites.LOCAL.spare.vos[0]: no group is of the virtual organisation else';
    const { status, body } = await adam.patch('/admin/groups/else_user', { json: { vo: null } });
    expect(told({ status, body } as never)).toEqual(conflict(fault));
    await adam.delete('/admin/groups/else_user/members/carol');
    expect(told(await adam.delete('/admin/groups/else_user'))).toEqual(conflict(fault));
    await adam.patch('/admin/groups/else_user', { json: { members: ['carol'] } });
    // The one from before she left opens nothing any more; `as` would give it again.
    carol = grid.bearer(await grid.token('carol', 'else_user'));
  });

  it('get no jobs of others, which wait while those of their own run, and go elsewhere', async () => {
    // Everybody may use LOCAL.spare, where one job has a place.
    await change('LOCAL.spare', { vos: null, slots: 1 });
    const spare = { ...sleeper, Sites: 'LOCAL.spare' };
    const [first = 0] = await submit(alice, [spare]);
    await awaitStatus(alice, first, ['Running']);
    const [theirs = 0] = await submit(carol, [sleeper]);
    const [free = 0] = await submit(bob, [sleeper]);
    const [hers = 0] = await submit(alice, [{ ...sleeper, Sites: 'LOCAL.demo' }]);
    expect((await awaitStatus(alice, hers, ['Running'])).site).toBe('LOCAL.demo');
    for (const [client, jid] of [
      [carol, theirs],
      [bob, free],
    ] as const) {
      expect((await show(client, jid)).status).toBe('Waiting');
      const { sites, waitsFor } = await explained(client, jid);
      expect(Object.keys(sites)).toEqual(['LOCAL.spare']);
      expect(waitsFor).toMatch(/^A free place at LOCAL\.spare; /);
    }
    await alice.delete(`/jobs/${first}`);
    const other = await eventually(async () => {
      const both = [await show(carol, theirs), await show(bob, free)];
      return both.find(({ status }) => status === 'Running');
    }, 'one of the others to run');
    expect([other.site, (await show(alice, hers)).status]).toEqual(['LOCAL.spare', 'Running']);
    for (const [client, jid] of [
      [alice, hers],
      [carol, theirs],
      [bob, free],
    ] as const) {
      await client.delete(`/jobs/${jid}`);
    }
  });

  it('are not known to others: not to a submit, not to a ban, not to a limit, not to explain', async () => {
    await change('LOCAL.spare', { vos: ['else'], slots: null });
    await change('LOCAL.demo', { limits: { waiting: 1 } });
    const named = { ...sleeper, Sites: 'LOCAL.demo' };
    const unknown = { ...sleeper, Sites: 'LOCAL.none' };
    const asUnknown = (text: string): string => text.replaceAll('LOCAL.none', 'LOCAL.demo');
    for (const path of ['/jobs?dryRun=true', '/jobs']) {
      // As many as its limit of waiting jobs refuses to those whom it takes, and a few that are written with others.
      for (const count of [2, 12]) {
        const answers = [];
        for (const manifest of [named, unknown]) {
          const json = { manifests: Array(count).fill(manifest) };
          const { status, body } = await carol.post(path, { json });
          answers.push({ status, warnings: body.warnings });
        }
        expect(answers[0]).toEqual(JSON.parse(asUnknown(JSON.stringify(answers[1]))));
        const detail = 'LOCAL.demo is not a known site; the job does not run there';
        expect([answers[0]?.status, answers[0]?.warnings[0]]).toEqual([
          200,
          { code: 'manifest.unknown-site', detail, pointer: '/manifests/0/Sites' },
        ]);
      }
    }
    const banned = await carol.post('/jobs', { json: { ...sleeper, BannedSites: 'LOCAL.demo' } });
    expect([banned.status, banned.body.violations]).toEqual([
      400,
      [{ field: 'BannedSites', problem: 'LOCAL.demo: is not a known site' }],
    ]);
    const [jid = 0] = await submit(carol, [named]);
    expect(await awaitNowhere(carol, jid)).toEqual({ status: 'Waiting', appStatus: NOWHERE });
    const spare = 'It is not among the Sites of the job';
    expect(await explained(carol, jid)).toEqual({
      waitsFor: `A site that can run it (LOCAL.spare: ${spare}, LOCAL.demo: ${NO_SUCH})`,
      sites: { 'LOCAL.spare': spare, 'LOCAL.demo': NO_SUCH },
    });
    // Jobs that it does not run take no room from those that it runs.
    const own = await alice.post('/jobs', { json: named });
    expect([own.status, own.body.warnings]).toEqual([200, undefined]);
    await awaitStatus(alice, own.body.jids[0], ['Running']);
    await alice.delete(`/jobs/${own.body.jids[0]}`);
    await change('LOCAL.demo', { limits: { waiting: 0 } });
    expect(told(await alice.post('/jobs', { json: named }))).toEqual([
      ...[429, 'job.limit', 'The limit of site LOCAL.demo is 0 waiting jobs: 1 more is too many'],
    ]);
    await grid.sql("update jobs set status = 'Failed' where jid = $1", [jid]);
    expect((await carol.post(`/jobs/${jid}/reschedule`)).status).toBe(200);
    await change('LOCAL.demo', { limits: {} });
  });

  it('get the jobs that wait once they take them', async () => {
    const [jid = 0] = await submit(bob, [sleeper]);
    expect(await awaitNowhere(bob, jid)).toEqual({ status: 'Waiting', appStatus: NOWHERE });
    expect(await explained(bob, jid)).toEqual({
      waitsFor: 'A site: there is none for its setup and virtual organisation',
      sites: {},
    });
    await change('LOCAL.spare', { vos: null });
    expect((await awaitStatus(bob, jid, ['Running'])).site).toBe('LOCAL.spare');
    await bob.delete(`/jobs/${jid}`);
  });

  it('hold apart the jobs of a group that has gone over to another virtual organisation', async () => {
    await change('LOCAL.spare', { vos: ['else'] });
    const [before = 0] = await submit(bob, [sleeper]);
    await adam.patch('/admin/groups/free_user', { json: { vo: 'else' } });
    bob = await grid.as('bob', 'free_user');
    const [after = 0] = await submit(bob, [sleeper]);
    expect((await awaitStatus(bob, after, ['Running'])).site).toBe('LOCAL.spare');
    const rows = await grid.sql<{ vo: string; status: string }>(
      'select vo, status from jobs where jid in ($1, $2) order by jid',
      [before, after],
    );
    expect(rows).toEqual([
      { vo: '', status: 'Waiting' },
      { vo: 'else', status: 'Running' },
    ]);
  });
});
