import type { Property } from '#src/auth/index.js';
import { JobPolicy } from './job.policy.js';

const caller = (user: string, group: string, properties: Property[], setup = 'Prod') => ({
  user,
  group,
  setup,
  properties: new Set(properties),
});

const alice = caller('alice', 'grid_user', ['NormalUser']);
const aliceShare = caller('alice', 'grid_share', ['NormalUser', 'JobSharing']);
const bob = caller('bob', 'grid_user', ['NormalUser']);
const bobShare = caller('bob', 'grid_share', ['NormalUser', 'JobSharing']);
const mona = caller('mona', 'grid_mon', ['JobMonitor']);
const adam = caller('adam', 'grid_adm', ['JobAdministrator', 'ServiceAdministrator']);

const job = { owner: 'alice', owner_group: 'grid_user', setup: 'Prod' };
const shared = { owner: 'alice', owner_group: 'grid_share', setup: 'Prod' };

describe('JobPolicy', () => {
  const open = new JobPolicy(true);
  const closed = new JobPolicy(false);

  it.each([
    ['owner', alice, job, [true, true, true, true]],
    ['owner with another group', aliceShare, job, [true, true, true, true]],
    ['stranger', bob, job, [false, false, false, false]],
    ['sharer of another group', bobShare, job, [false, false, false, false]],
    ['sharer of the group', bobShare, shared, [true, true, true, true]],
    ['member of the group without sharing', bob, shared, [false, false, false, false]],
    ['monitor', mona, job, [true, true, true, false]],
    ['administrator', adam, job, [true, true, true, true]],
  ] as const)('%s', (_who, who, what, [read, manifest, sandbox, control]) => {
    expect(closed.mayRead(who, what)).toBe(read);
    expect(open.mayRead(who, what)).toBe(true);
    for (const policy of [open, closed]) {
      expect(policy.mayReadManifest(who, what)).toBe(manifest);
      expect(policy.mayReadSandbox(who, what)).toBe(sandbox);
      expect(policy.mayControl(who, what)).toBe(control);
    }
  });

  it.each([alice, mona, adam])('lets nobody see or change a job of another setup', (who) => {
    const other = { ...job, setup: 'Test' };
    expect(open.mayRead(who, other)).toBe(false);
    expect(open.mayReadManifest(who, other)).toBe(false);
    expect(open.mayReadSandbox(who, other)).toBe(false);
    expect(open.mayControl(who, other)).toBe(false);
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
      group: 'grid_share',
    });
    expect(closed.visibility(mona, true)).toEqual({ setup: 'Prod' });
    expect(closed.visibility(adam, true)).toEqual({ setup: 'Prod' });
  });
});
