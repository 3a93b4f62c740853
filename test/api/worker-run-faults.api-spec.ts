import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { show, submit } from '../support/jobs.js';
import { StartedWorker } from '../support/started-worker.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, support, type Grid, type GridClient } from '../support/testbed.js';

describe('the directory that a worker is given', () => {
  it('is left as it is when it has anything else', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gridgate-other-'));
    try {
      await mkdir(join(directory, 'spool'));
      await writeFile(join(directory, 'spool', 'mail'), 'of somebody');
      await writeFile(join(directory, 'other'), '');
      const { mode } = statSync(directory);
      const words = ['worker', 'run', '--server', 'https://127.0.0.1:9', '--site', 'S'];
      const program = join(support().root, 'bin/gridgate.mjs');
      const { status, stderr } = spawnSync(
        process.execPath,
        [program, ...words, '--directory', directory],
        { encoding: 'utf8' },
      );
      expect([status, stderr]).toEqual([2, expect.stringContaining('has files of others')]);
      expect(existsSync(join(directory, 'spool', 'mail'))).toBe(true);
      expect(statSync(directory).mode).toBe(mode);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('a worker', () => {
  let grid: Grid;
  let alice: GridClient;
  let worker: StartedWorker;
  const site = 'FAULTS.s1';

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'info' } });
    alice = await grid.as('alice');
    await addWorkerSite(grid, site);
    worker = await StartedWorker.start(grid, site);
  });
  afterAll(async () => {
    await worker?.remove();
    await grid?.remove();
  });

  const claims = async (): Promise<number> => {
    const [row] = await grid.sql<{ seq: string }>('select seq from worker where id = $1', [
      worker.id,
    ]);
    return Number(row?.seq);
  };

  it('tells how long a program ran that ended while the worker was away', async () => {
    const [jid = 0] = await submit(alice, [
      { Executable: '/bin/sh', Arguments: '-c "sleep 4"', Site: site },
    ]);
    await eventually(
      async () => (await show(alice, jid)).status === 'Running' || undefined,
      'a running job',
    );
    await worker.kill();
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await worker.again();
    await eventually(
      async () => (await show(alice, jid)).status === 'Done' || undefined,
      'its end',
    );
    const [row] = await grid.sql<{ seconds: number }>(
      `select extract(epoch from end_execution - start_execution)::float8 as seconds from jobs where jid = $1`,
      [jid],
    );
    expect(row?.seconds).toBeGreaterThan(3);
    expect(row?.seconds).toBeLessThan(5);
  });

  it('does not ask again and again about a killed run whose output is on its way', async () => {
    const [jid = 0] = await submit(alice, [
      {
        Executable: '/bin/sh',
        Arguments: '-c "head -c 40000000 /dev/urandom > big"',
        OutputSandbox: ['big'],
        Site: site,
      },
    ]);
    await eventually(
      async () => (await show(alice, jid)).status === 'Running' || undefined,
      'a running job',
    );
    await eventually(
      () => Promise.resolve(readdirSync(join(worker.directory, 'spool')).length > 0),
      'output on its way',
    );
    const before = await claims();
    expect((await alice.call('DELETE', `/jobs/${jid}`)).status).toBe(200);
    await eventually(async () => {
      const [row] = await grid.sql('select 1 from jobs where jid = $1 and executor is null', [jid]);
      return row;
    }, 'the end');
    expect(await show(alice, jid)).toMatchObject({ status: 'Killed' });
    expect((await claims()) - before).toBeLessThan(20);
  });
});
