import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { submit } from '../support/jobs.js';
import { PlayedWorker } from '../support/played-worker.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const site = 'READS.example';

describe('a claim', () => {
  let grid: Grid;
  let alice: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api' } });
    alice = await grid.as('alice');
    await addWorkerSite(grid, site);
  });
  afterAll(() => grid?.remove());

  it('brings what somebody wants to see of the output of a run, which its worker alone can answer', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const stranger = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [{ Executable: '/bin/true', Site: site }]);
    const [{ run } = { run: '' }] = await worker.take(1);
    await worker.report({ run, kind: 'starting' });
    const waiting = worker.claim({ holding: [run], wait: 25 });
    await eventually(async () => {
      const [row] = await grid.sql('select seq from worker where id = $1', [worker.id]);
      return row.seq === String(worker.seq);
    }, 'the claim to wait');
    const peek = alice.get(`/jobs/${jid}/peek`);
    const asked: Record<string, object> = {};
    let claim = waiting;
    while (Object.keys(asked).length < 2) {
      const { body } = await claim;
      for (const read of body.reads ?? []) {
        asked[read.name] = read;
        const part = (text: string): object => ({
          ...{ sizeBytes: text.length, file: '1.2', modifiedMs: 1, start: 0 },
          content: Buffer.from(text).toString('base64'),
        });
        for (const [who, text] of [
          [stranger, 'forged'],
          [worker, `of ${read.name}`],
        ] as const) {
          const { status } = await who.call('POST', 'reads', {
            json: { id: read.id, part: part(text) },
          });
          expect(status).toBe(204);
        }
      }
      if (Object.keys(asked).length < 2) claim = worker.claim({ holding: [run] });
    }
    const wish = (name: string): object => ({
      ...{ id: expect.stringMatching(/^\d+$/), run, name, start: -8192, mostBytes: 8192 },
    });
    expect(asked).toEqual({ 'std.out': wish('std.out'), 'std.err': wish('std.err') });
    expect((await peek).body).toMatchObject({ stdout: 'of std.out', stderr: 'of std.err' });
    const bad = { sizeBytes: 1, file: '', modifiedMs: 1, start: 0, content: '?' };
    const refusal = await worker.call('POST', 'reads', { json: { id: 'x', part: bad } });
    expect([refusal.status, refusal.body.violations]).toEqual([
      400,
      [
        { field: 'id', problem: 'is no id' },
        { field: 'part.content', problem: 'is no base64' },
      ],
    ]);
  });
});
