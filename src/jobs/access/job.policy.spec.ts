import type { Property } from '#src/auth/index.js';
import { JobPolicy } from './job.policy.js';

const caller = (user: string, group: string, properties: Property[], vo = 'vo') => ({
  user,
  group,
  setup: 'Prod',
  ...(vo !== '' && { vo }),
  properties: new Set(properties),
});

const alice = caller('alice', 'grid_user', ['NormalUser']);
const aliceShare = caller('alice', 'grid_share', ['NormalUser', 'JobSharing']);
const bob = caller('bob', 'grid_user', ['NormalUser']);
const bobShare = caller('bob', 'grid_share', ['NormalUser', 'JobSharing']);
const sharerElsewhere = caller('sam', 'grid_share', ['NormalUser', 'JobSharing'], 'else');
const sharerFree = caller('sam', 'grid_share', ['NormalUser', 'JobSharing'], '');
const mona = caller('mona', 'grid_mon', ['JobMonitor']);
const adam = caller('adam', 'grid_adm', ['JobAdministrator', 'ServiceAdministrator']);

const free = caller('fay', 'free', ['NormalUser'], '');
const freeSharer = caller('fay', 'free_share', ['NormalUser', 'JobSharing'], '');
const carol = caller('carol', 'else_user', ['NormalUser'], 'else');
const monaElsewhere = caller('mona', 'else_mon', ['JobMonitor'], 'else');
const monaFree = caller('mona', 'free_mon', ['JobMonitor'], '');
const adamElsewhere = caller('adam', 'else_adm', ['JobAdministrator'], 'else');
const adamFree = caller('adam', 'free_adm', ['JobAdministrator'], '');
const service = caller('adam', 'srv', ['JobAdministrator', 'ServiceAdministrator'], 'else');
const serviceOnly = caller('adam', 'srv', ['ServiceAdministrator'], '');

const job = { owner: 'alice', ownerGroup: 'grid_user', setup: 'Prod', vo: 'vo' };
const shared = { owner: 'alice', ownerGroup: 'grid_share', setup: 'Prod', vo: 'vo' };
const ofNone = { owner: 'alice', ownerGroup: 'free', setup: 'Prod', vo: '' };
const ofMona = { owner: 'mona', ownerGroup: 'grid_user', setup: 'Prod', vo: 'vo' };

describe('JobPolicy', () => {
  const open = new JobPolicy('true');
  const bordered = new JobPolicy('vo');
  const closed = new JobPolicy('false');

  it.each([
    ['owner', alice, job, [true, true, true, true]],
    ['owner with another group', aliceShare, job, [true, true, true, true]],
    ['stranger', bob, job, [false, false, false, false]],
    ['sharer of another group', bobShare, job, [false, false, false, false]],
    ['sharer of the group', bobShare, shared, [true, true, true, true]],
    ['sharer of its name in another VO', sharerElsewhere, shared, [false, false, false, false]],
    ['sharer of its name without VO', sharerFree, shared, [false, false, false, false]],
    ['member of the group without sharing', bob, shared, [false, false, false, false]],
    ['monitor', mona, job, [true, true, true, false]],
    ['administrator', adam, job, [true, true, true, true]],
    ['monitor of another VO', monaElsewhere, job, [false, false, false, false]],
    ['monitor of another VO, own job', monaElsewhere, ofMona, [true, true, true, true]],
    ['monitor of a VO, job without', mona, ofNone, [false, false, false, false]],
    ['monitor without VO', monaFree, job, [true, true, true, false]],
    ['administrator of another VO', adamElsewhere, job, [false, false, false, false]],
    ['administrator of a VO, job without', adamElsewhere, ofNone, [false, false, false, false]],
    ['administrator without VO', adamFree, job, [true, true, true, true]],
    ['administrator of jobs and service', service, job, [true, true, true, true]],
    ['administrator of the service alone', serviceOnly, job, [false, false, false, false]],
  ] as const)('%s', (_who, who, what, [read, manifest, sandbox, control]) => {
    expect(closed.mayRead(who, what)).toBe(read);
    expect(open.mayRead(who, what)).toBe(true);
    for (const policy of [open, bordered, closed]) {
      expect(policy.mayReadManifest(who, what)).toBe(manifest);
      expect(policy.mayReadSandbox(who, what)).toBe(sandbox);
      expect(policy.mayControl(who, what)).toBe(control);
    }
  });

  it.each([
    ['of the VO', bob, [true, false, false]],
    ['of the VO, monitor', mona, [true, false, false]],
    ['of another VO', carol, [false, false, true]],
    ['of another VO, monitor', monaElsewhere, [false, false, true]],
    ['of another VO, administrator of the service', service, [true, true, true]],
    ['without VO', free, [false, true, false]],
    ['without VO, sharing jobs', freeSharer, [true, true, true]],
    ['without VO, monitor', monaFree, [true, true, true]],
    ['without VO, administrator of the service', serviceOnly, [true, true, true]],
  ] as const)('with `vo` shows somebody %s the records of jobs of these VOs', (_who, who, seen) => {
    const jobs = [job, ofNone, { ...job, vo: 'else' }].map((one) => ({ ...one, owner: 'zoe' }));
    expect(jobs.map((one) => bordered.mayRead(who, one))).toEqual(seen);
    const { vo, owner } = bordered.visibility(who, true);
    const isListed = (one: typeof job): boolean => owner === undefined || one.vo === vo;
    expect(jobs.map(isListed)).toEqual(seen);
    expect(jobs.map((one) => bordered.mayRead(who, { ...one, owner: who.user }))).toEqual(
      jobs.map(() => true),
    );
  });

  it.each([alice, mona, adam])('lets nobody see or change a job of another setup', (who) => {
    const other = { ...job, setup: 'Test' };
    expect(open.mayRead(who, other)).toBe(false);
    expect(open.mayReadManifest(who, other)).toBe(false);
    expect(open.mayReadSandbox(who, other)).toBe(false);
    expect(open.mayControl(who, other)).toBe(false);
  });

  it.each([
    ['owner', alice, job, [false, false, false]],
    ['sharer of the group', bobShare, shared, [false, false, false]],
    ['monitor', mona, job, [true, true, false]],
    ['administrator', adam, job, [true, true, false]],
    ['monitor, own job', monaElsewhere, ofMona, [false, false, false]],
  ] as const)('tells what %s reads by privilege alone', (_who, who, what, expected) => {
    expect([
      closed.readsByPrivilege(who, what, 'record'),
      open.readsByPrivilege(who, what, 'inside'),
      open.readsByPrivilege(who, what, 'record'),
    ]).toEqual(expected);
    expect(closed.readsByPrivilege(who, what, 'inside')).toBe(expected[1]);
  });

  it('with `vo` takes for privilege what reaches beyond the VO of the group alone', () => {
    const elsewhere = { ...job, vo: 'else' };
    const seen = [
      [mona, job],
      [service, elsewhere],
      [free, ofNone],
      [service, job],
      [monaFree, job],
      [freeSharer, job],
    ] as const;
    expect(seen.map(([who, what]) => bordered.readsByPrivilege(who, what, 'record'))).toEqual([
      ...[false, false, false],
      ...[true, true, true],
    ]);
    expect(bordered.readsByPrivilege(mona, job, 'inside')).toBe(true);
  });

  it('tells whose jobs count in figures', () => {
    const callers = [bob, mona, free, monaFree, service];
    expect(callers.map((who) => open.borderOf(who))).toEqual(callers.map(() => undefined));
    for (const policy of [bordered, closed]) {
      expect(callers.map((who) => policy.borderOf(who))).toEqual([
        ...['vo', 'vo', '', undefined, undefined],
      ]);
    }
  });

  it.each([
    ['administrator', adam, job, true],
    ['administrator without VO', adamFree, job, true],
    ['administrator, own job', adam, { ...job, owner: 'adam' }, true],
    ['owner', alice, job, false],
    ['sharer of the group', bobShare, shared, false],
    ['monitor, own job', mona, ofMona, false],
    ['administrator of another VO, own job', adamElsewhere, { ...job, owner: 'adam' }, false],
  ] as const)('tells whether %s releases what an administrator holds', (_who, who, what, may) => {
    expect(open.mayControl(who, what)).toBe(true);
    expect(open.mayOverrule(who, what)).toBe(may);
  });

  it('lets only normal users submit', () => {
    expect([alice, bobShare].every((who) => open.maySubmit(who))).toBe(true);
    expect([mona, adam].some((who) => open.maySubmit(who))).toBe(false);
  });

  it('shows in lists what is visible', () => {
    expect(open.visibility(bob, false)).toEqual({ setup: 'Prod', owner: 'bob' });
    expect(open.visibility(bob, true)).toEqual({ setup: 'Prod' });
    expect(closed.visibility(bob, true)).toEqual({ setup: 'Prod', owner: 'bob' });
    expect(closed.visibility(bobShare, true)).toEqual({
      setup: 'Prod',
      owner: 'bob',
      group: { name: 'grid_share', vo: 'vo' },
    });
    expect(bordered.visibility(bob, false)).toEqual({ setup: 'Prod', owner: 'bob' });
    expect(bordered.visibility(bobShare, true)).toEqual({
      ...{ setup: 'Prod', owner: 'bob', group: { name: 'grid_share', vo: 'vo' }, vo: 'vo' },
    });
    expect(open.visibility(monaElsewhere, true)).toEqual({ setup: 'Prod' });
    expect(closed.visibility(mona, true)).toEqual({ setup: 'Prod', owner: 'mona', vo: 'vo' });
    expect(closed.visibility(mona, false)).toEqual({ setup: 'Prod', owner: 'mona' });
    for (const who of [adam, monaFree, adamFree, service]) {
      expect(closed.visibility(who, true)).toEqual({ setup: 'Prod' });
    }
    expect(closed.visibility(serviceOnly, true)).toEqual({ setup: 'Prod', owner: 'adam' });
  });
});
