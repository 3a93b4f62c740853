import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { awaitStatus, submit } from '../support/jobs.js';
import { eventually, startGrid, support, type Grid, type GridClient } from '../support/testbed.js';

describe('gridgate site', () => {
  let grid: Grid;
  let alice: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_LOCAL_SLOTS: '4' } });
    alice = await grid.as('alice');
  });
  afterAll(() => grid?.remove());

  const site = (...words: string[]): Promise<{ code: number; text: string }> => {
    const child = spawn(
      process.execPath,
      [join(support().root, 'dist/src/cli/main.js'), 'site', ...words],
      {
        env: { ...process.env, GRID_HOME: grid.home, DATABASE_URL: grid.database.url },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    return new Promise((resolve) => {
      child.once('close', (code) => resolve({ code: code ?? -1, text }));
    });
  };
  const sleeper = { Executable: '/bin/sleep', Arguments: '600', Sites: 'LOCAL.demo' };
  const drained = {
    ...{ name: 'LOCAL.demo', backend: 'local-process', state: 'drained' },
    ...{ since: expect.any(String), by: expect.any(String), reason: 'new kernel' },
  };
  const spare = { name: 'LOCAL.spare', backend: 'local-process', state: 'open' };

  it('keeps new jobs from a drained site, and what runs there goes on', async () => {
    const [running = 0] = await submit(alice, [sleeper]);
    await awaitStatus(alice, running, ['Running']);
    const done = await site('drain', 'LOCAL.demo', '--reason', 'new kernel', '--json');
    expect([done.code, JSON.parse(done.text)]).toEqual([0, { sites: [drained] }]);
    const all = await site('show', '--json');
    expect(JSON.parse(all.text)).toEqual({ sites: [drained, spare] });
    const detail = 'Every site that can hold the job is drained (LOCAL.demo)';
    const warned = await eventually(async () => {
      const answer = await alice.post<{ jids: number[]; warnings?: object[] }>('/jobs', {
        json: { ...sleeper, Executable: '/bin/sleep' },
      });
      return answer.body.warnings ? answer.body : undefined;
    }, 'the drain to be known');
    expect(warned.warnings).toEqual([{ code: 'manifest.sites-drained', detail, pointer: '' }]);
    const [jid = 0] = warned.jids;
    const since = (JSON.parse(all.text) as { sites: { since: string }[] }).sites[0]?.since;
    const reason = `It is drained since ${since}: new kernel`;
    const explained = await alice.get<{ waitsFor: string; sites: object }>(`/jobs/${jid}/explain`);
    expect(explained.body.waitsFor).toContain(`LOCAL.demo: ${reason}`);
    expect(explained.body.sites).toMatchObject({ 'LOCAL.demo': reason });
    const [elsewhere = 0] = await submit(alice, [{ ...sleeper, Sites: 'LOCAL.spare' }]);
    await awaitStatus(alice, elsewhere, ['Running']);
    expect((await alice.get<{ status: string }>(`/jobs/${jid}`)).body.status).toBe('Waiting');
    expect((await alice.get<{ status: string }>(`/jobs/${running}`)).body.status).toBe('Running');
    const back = await site('resume', 'LOCAL.demo', '--json');
    expect(JSON.parse(back.text)).toEqual({ sites: [{ ...spare, name: 'LOCAL.demo' }] });
    await awaitStatus(alice, jid, ['Running']);
    expect((await site('resume', 'LOCAL.demo')).code).toBe(0);
  });

  it.each([
    [['drain', 'nowhere'], 'there is no site nowhere'],
    [['resume', 'nowhere'], 'there is no site nowhere'],
    [['show', 'nowhere'], 'there is no site nowhere'],
    [
      ['drain', 'LOCAL.demo', '--reason', 'x'.repeat(501)],
      'the reason has more than 500 characters',
    ],
    [['drain', 'LOCAL.demo', '--reason', 'a\nb'], 'the reason has more than 500 characters, or'],
  ])('refuses %j', async (words, fault) => {
    const answer = await site(...words);
    expect([answer.code, answer.text]).toEqual([2, expect.stringContaining(fault)]);
  });
});
