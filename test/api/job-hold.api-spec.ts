import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { awaitFinal, awaitStatus, show, submit } from '../support/jobs.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

describe('held jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  let adam: GridClient;
  let blocker: number;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_LOCAL_SLOTS: '1' } });
    alice = await grid.as('alice');
    adam = await grid.as('adam');
    [blocker = 0] = await submit(alice, [sleeper]);
    await awaitStatus(alice, blocker, ['Running']);
  });
  afterAll(() => grid?.remove());

  const sleeper = { Executable: '/bin/sleep', Arguments: '600' };
  const waiting = async (): Promise<number> => {
    const [jid = 0] = await submit(alice, [{ Executable: '/bin/true', Tags: ['nowhere'] }]);
    await awaitStatus(alice, jid, ['Waiting']);
    return jid;
  };
  const post = async (client: GridClient, jid: number, verb: string) => {
    const { status, body } = await client.post(`/jobs/${jid}/${verb}`);
    return [status, body.code ?? body.jid];
  };
  const minor = async (jid: number): Promise<string[]> => {
    const { status, minorStatus } = await show(alice, jid);
    return [status, minorStatus];
  };

  it('are held from the start where the manifest says so, and run when they are released', async () => {
    const held = { Executable: '/bin/true', Hold: true };
    const after = { ...held, After: [{ jid: blocker, on: 'end' }] };
    const InputData = ['/vo/a/run1/f1'];
    const [first = 0, second = 0, third = 0] = await submit(alice, [
      held,
      { ...held, InputData },
      after,
    ]);
    await awaitStatus(alice, second, ['Waiting']);
    for (const jid of [first, second, third])
      expect(await minor(jid)).toEqual(['Waiting', 'Held by its owner']);
    expect(await post(alice, third, 'release')).toEqual([200, third]);
    expect(await minor(third)).toEqual(['Waiting', 'Waiting for other jobs']);
    for (const jid of [first, second]) {
      expect(await post(alice, jid, 'release')).toEqual([200, jid]);
      const { body } = await alice.get(`/jobs/${jid}/explain`);
      expect(body.waitsFor).not.toContain('held');
    }
    await alice.delete('/jobs', { query: { jid: [first, second, third].map(String) } });
    const { body } = await alice.get(`/jobs/${first}/manifest`);
    expect(body).toMatchObject({ Hold: true });
  });

  it('wait until their owner releases them', async () => {
    const jid = await waiting();
    expect(await post(alice, jid, 'hold')).toEqual([200, jid]);
    expect(await post(alice, jid, 'hold')).toEqual([200, jid]);
    expect(await minor(jid)).toEqual(['Waiting', 'Held by its owner']);
    const { body } = await alice.get(`/jobs/${jid}/explain`);
    expect(body).toEqual({
      jid,
      status: 'Waiting',
      waitsFor: 'Its release: it is held by its owner',
      sites: { 'LOCAL.demo': 'The job is held', 'LOCAL.spare': 'The job is held' },
    });
    expect(await post(alice, jid, 'reschedule')).toEqual([409, 'job.state-conflict']);
    await grid.sql(`update jobs set tags = '{}' where jid = $1`, [jid]);
    await alice.delete(`/jobs/${blocker}`);
    const [passing = 0] = await submit(alice, [{ Executable: '/bin/true' }]);
    await awaitFinal(alice, [passing]);
    expect(await minor(jid)).toEqual(['Waiting', 'Held by its owner']);
    expect(await post(alice, jid, 'release')).toEqual([200, jid]);
    await awaitFinal(alice, [jid]);
    const { body: past } = await alice.get<{ history: { minorStatus: string }[] }>(
      `/jobs/${jid}/history`,
    );
    const minors = past.history.map(({ minorStatus }) => minorStatus);
    const held = minors.indexOf('Held by its owner');
    expect(minors.slice(held, held + 3)).toEqual([
      'Held by its owner',
      'Pilot Agent Submission',
      'Job Received by Agent',
    ]);
  });

  it('of an administrator are released by an administrator only', async () => {
    const jid = await waiting();
    expect(await post(alice, jid, 'hold')).toEqual([200, jid]);
    expect(await post(adam, jid, 'hold')).toEqual([200, jid]);
    expect(await minor(jid)).toEqual(['Waiting', 'Held by an administrator']);
    expect(await post(alice, jid, 'hold')).toEqual([200, jid]);
    expect(await minor(jid)).toEqual(['Waiting', 'Held by an administrator']);
    expect(await post(alice, jid, 'release')).toEqual([403, 'job.forbidden']);
    expect(await post(alice, jid, 'reschedule')).toEqual([409, 'job.state-conflict']);
    expect(await post(adam, jid, 'release')).toEqual([200, jid]);
    expect(await post(adam, jid, 'release')).toEqual([200, jid]);
    expect((await minor(jid))[1]).not.toMatch(/Held/);
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    expect(await post(alice, jid, 'hold')).toEqual([409, 'job.state-conflict']);
    expect(await post(alice, jid, 'release')).toEqual([409, 'job.state-conflict']);
  });

  it('are nothing for strangers', async () => {
    const jid = await waiting();
    for (const verb of ['hold', 'release']) {
      expect(await post(await grid.as('bob'), jid, verb)).toEqual([403, 'job.forbidden']);
      expect(await post(alice, 4242424242, verb)).toEqual([404, 'job.not-found']);
      expect((await post(grid.anonymous, jid, verb))[0]).toBe(401);
    }
    await alice.delete(`/jobs/${jid}`);
  });
});
