import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { submit } from '../support/jobs.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const AS_OF = '2026-11-27T09:00:00.000Z';
const START = '2026-12-04T10:00:00.000Z';

/** What a real Slurm says is in `slurm-queue.flow-spec.ts`; here stands in the row what it has said. */
describe('GET /jobs/<jid>/explain of a job in the queue of a batch system', () => {
  let grid: Grid;
  let alice: GridClient;
  let jid: number;
  let directory: string;
  const away = 'No slurm executor is running';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'grid-queue-'));
    const registry = join(directory, 'registry.yaml');
    const sites = { NORTH: { backend: 'slurm' }, SOUTH: { backend: 'slurm' } };
    await writeFile(registry, JSON.stringify({ sites }));
    grid = await startGrid({
      env: { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true', GRID_ROLE: 'api' },
    });
    alice = await grid.as('alice');
    [jid = 0] = await submit(alice, [{ Executable: '/bin/true', Sites: ['NORTH', 'SOUTH'] }]);
    await grid.sql(
      `update jobs set status = 'Matched', site = 'NORTH', executor = 'slurm' where jid = $1`,
      [jid],
    );
  });

  afterAll(async () => {
    await grid?.remove();
    await rm(directory, { recursive: true });
  });

  const explained = async (wait: object | null): Promise<object> => {
    await grid.sql('update jobs set batch_wait = $2 where jid = $1', [jid, JSON.stringify(wait)]);
    const { status, body } = await alice.get(`/jobs/${jid}/explain`);
    expect(status).toBe(200);
    return body;
  };

  const queued = (told: string, more: object = {}): object => ({
    ...{ jid, status: 'Matched', waitsFor: `Its start: it is queued at NORTH. ${told}`, ...more },
    sites: { NORTH: `The job is queued here. ${told}`, SOUTH: 'The job is Matched' },
  });

  it('says the reason, what it means, and the expected start', async () => {
    const wait = {
      reason: 'Resources',
      meaning: 'What it needs is in use by other jobs',
      expectedStart: START,
      asOf: AS_OF,
    };
    const told =
      `Slurm said at ${AS_OF}: Resources. What it needs is in use by other jobs. ` +
      `It is expected to start at ${START}. ${away}`;
    expect(await explained(wait)).toEqual(queued(told, { batchQueue: wait }));
  });

  it('quotes a reason that is not known', async () => {
    const wait = { reason: 'SomethingNew', asOf: AS_OF };
    const told = `Slurm said at ${AS_OF}: SomethingNew. ${away}`;
    expect(await explained(wait)).toEqual(queued(told, { batchQueue: wait }));
  });

  it('says that Slurm was not asked yet', async () => {
    const told = `Slurm has not been asked about it yet. ${away}`;
    expect(await explained(null)).toEqual(queued(told));
  });

  it('is refused to who may not read the job, and to who is not known', async () => {
    expect((await grid.anonymous.get(`/jobs/${jid}/explain`)).status).toBe(401);
    await grid.sql(`update jobs set vo = 'elsewhere', owner = 'somebody' where jid = $1`, [jid]);
    const { status, body } = await alice.get(`/jobs/${jid}/explain`);
    expect([status, body.code]).toEqual([404, 'job.not-found']);
    await grid.sql(`update jobs set vo = '', owner = 'alice' where jid = $1`, [jid]);
  });

  it('forgets the reason when the job moves on', async () => {
    await explained({ reason: 'Resources', asOf: AS_OF });
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    const rows = await grid.sql('select status, batch_wait from jobs where jid = $1', [jid]);
    expect(rows).toEqual([{ status: 'Killed', batch_wait: null }]);
    expect((await alice.get(`/jobs/${jid}/explain`)).body).not.toHaveProperty('batchQueue');
  });
});
