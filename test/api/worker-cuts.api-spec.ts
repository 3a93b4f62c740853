import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { TcpProxy } from '../support/tcp-proxy.js';
import { markedProcesses } from '../support/faults/job-processes.js';
import { awaitFinal, sandboxOf, submit } from '../support/jobs.js';
import { freePorts } from '../support/ports.mjs';
import { StartedWorker } from '../support/started-worker.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, GridClient, startGrid, type Grid } from '../support/testbed.js';

const SITE = 'CUT.example';
const JOBS = 40;
const WORKERS = 2;
/** Of cuts; some go with a service that is away, and some with kill -9 of a worker. */
const ROUNDS = 24;
/** Every third has more output than goes with a report. */
const LARGE = 3;

describe('workers whose connections are cut and who are killed', () => {
  let grid: Grid;
  let proxy: TcpProxy;
  let shared: string;
  let agent: Agent;
  let alice: GridClient;
  const workers: StartedWorker[] = [];

  beforeAll(async () => {
    const [port = 0, open = 0] = await freePorts(2);
    const env = { GRID_PORT: String(port), GRID_PUBLIC_URL: `https://localhost:${open}` };
    grid = await startGrid({ ownProcess: true, env });
    proxy = await TcpProxy.start([port], open);
    shared = mkdtempSync(join(tmpdir(), 'grid-lines-'));
    chmodSync(shared, 0o777);
    writeFileSync(join(shared, 'lines'), '');
    chmodSync(join(shared, 'lines'), 0o666);
    await addWorkerSite(grid, SITE);
    // She does not go through the proxy.
    const token = await grid.token('alice', 'grid_user');
    agent = new Agent({ connect: { ca: grid.ca } });
    alice = new GridClient(`https://localhost:${port}`, agent, token);
    for (let count = 0; count < WORKERS; count += 1) {
      const server = `https://localhost:${open}`;
      const options = ['--processors', '3', '--bind', `${shared}:rw`];
      workers.push(await StartedWorker.start(grid, SITE, options, { server }));
    }
  });
  afterAll(async () => {
    for (const worker of workers) await worker.remove();
    await agent?.destroy();
    await proxy?.close();
    await grid?.remove();
    rmSync(shared, { recursive: true, force: true });
  });

  it('run each job once, bring its output, and leave nothing', async () => {
    const script = (index: number): string =>
      `echo "$JOBID" >>${shared}/lines; sleep 0.${index % 10}; echo "end of $JOBID"` +
      (index % LARGE === 0 ? '; head -c 200000 /dev/urandom | base64 >big' : '');
    const jids = await submit(
      alice,
      Array.from({ length: JOBS }, (_, index) => ({
        ...{ Executable: '/bin/sh', Arguments: ['-c', script(index)], Site: SITE },
        OutputSandbox: ['std.out', ...(index % LARGE === 0 ? ['big'] : [])],
      })),
    );
    for (let round = 1; round <= ROUNDS; round += 1) {
      await setTimeout(150 + Math.random() * 500);
      proxy.cut();
      if (round % 5 === 0) {
        proxy.down = true;
        await setTimeout(300 + Math.random() * 1_500);
        proxy.down = false;
      }
      if (round % 8 === 0) {
        const worker = workers[(round / 8) % WORKERS];
        await worker?.kill();
        await worker?.begin();
      }
    }
    const ends = await awaitFinal(alice, jids);
    const states = ends.map(({ jid, status, appStatus }) => [jid, status, appStatus]);
    expect(states).toEqual(jids.map((jid) => [jid, 'Done', expect.anything()]));
    const lines = readFileSync(join(shared, 'lines'), 'utf8').trim().split('\n').map(Number);
    expect(lines.toSorted((a, b) => a - b)).toEqual(jids);
    for (const [index, jid] of jids.entries()) {
      const { 'std.out': text, big } = await sandboxOf(alice, jid);
      expect(text).toBe(`end of ${jid}\n`);
      expect(big?.length).toBe(index % LARGE === 0 ? 270_177 : undefined);
    }
    expect(proxy.cuts).toBeGreaterThan(10);
    const executors = new Set(workers.map(({ executor }) => executor));
    await eventually(
      () => Promise.resolve(workers.every(({ runs }) => runs.length === 0)),
      'the last run to be removed',
    );
    expect(markedProcesses(executors)).toEqual([]);
  });
});
