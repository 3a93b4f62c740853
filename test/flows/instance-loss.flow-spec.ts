import { randomUUID } from 'node:crypto';
import { BalancedGrid } from '../support/balanced-grid.js';
import type { Balancer } from '../support/load-balancers.js';
import { Load } from '../support/load.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, type GridClient } from '../support/testbed.js';

const BALANCERS: Balancer[] = ['nginx', 'haproxy'];
const WORKERS = 12;
const MANIFEST = { Executable: '/bin/true', JobName: 'load' };
const PATIENCE_MS = 15_000;

/** Submits one job; answers its jid. Throws for any other answer than 200. */
async function submit(client: GridClient, key?: string): Promise<number> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await client.post('/jobs', { json: MANIFEST, headers });
  if (answer.status !== 200) throw new Error(`POST /jobs: ${answer.status}`);
  return (answer.body as { jids: number[] }).jids[0] ?? 0;
}

async function read(client: GridClient, path: string): Promise<void> {
  const answer = await client.get(path);
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status}`);
}

/** As clients do that retry idempotent requests: again after any failure, up to 15 s. */
async function withRetries<T>(action: () => Promise<T>): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function storedJobs(site: BalancedGrid): Promise<number[]> {
  const rows = await site.grid.sql<{ jid: number | string }>('select jid from jobs order by jid');
  return rows.map(({ jid }) => Number(jid));
}

for (const balancer of BALANCERS) {
  describeWith({ met: has(balancer), name: balancer })(`two instances behind ${balancer}`, () => {
    let site: BalancedGrid;
    beforeAll(async () => {
      site = await BalancedGrid.start(balancer, 'terminate', {
        GRID_ROLE: 'api',
        GRID_LOG_LEVEL: 'warn',
      });
    });
    afterAll(() => site?.remove());

    async function moreThan(load: Load, count: number): Promise<void> {
      await eventually(() => Promise.resolve(load.done > count), `more than ${count} actions`);
    }

    it('shows clients no error when one is stopped by SIGTERM under load, and nothing is lost', async () => {
      const alice = await site.grid.as('alice');
      const acknowledged: number[] = [];
      const load = new Load(WORKERS, async (worker) => {
        if (worker % 3 === 0) acknowledged.push(await submit(alice));
        else await read(alice, worker % 3 === 1 ? '/jobs?maxJobs=5' : '/filecatalogue/metadata');
      });
      await moreThan(load, 200);
      const [first] = site.instances;
      const atStop = load.done;
      const end = await first.grid.server.stop();
      expect(end).toEqual({ code: 0, signal: null });
      await moreThan(load, atStop + 200);
      await site.restartFirst();
      await moreThan(load, load.done + 200);
      const report = await load.stop();
      expect(report.failures).toEqual([]);
      expect(await storedJobs(site)).toEqual(acknowledged.sort((a, b) => a - b));
    });

    it('loses nothing to kill -9 under load; idempotent requests that are retried see no error', async () => {
      const alice = await site.grid.as('alice');
      const before = new Set(await storedJobs(site));
      const acknowledged: number[] = [];
      const load = new Load(WORKERS, async (worker) => {
        if (worker % 2 === 1) return withRetries(() => read(alice, '/jobs?maxJobs=5'));
        const key = randomUUID();
        acknowledged.push(await withRetries(() => submit(alice, key)));
      });
      await moreThan(load, 200);
      await site.instances[0].grid.server.kill();
      await moreThan(load, load.done + 200);
      await site.restartFirst();
      await moreThan(load, load.done + 200);
      const report = await load.stop();
      expect(report.failures).toEqual([]);
      const added = (await storedJobs(site)).filter((jid) => !before.has(jid));
      expect(added).toEqual(acknowledged.sort((a, b) => a - b));
    });
  });
}
