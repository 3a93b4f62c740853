import pg from 'pg';
import { BalancedGrid } from '../support/balanced-grid.js';
import { Load } from '../support/load.js';
import { describeWith, has } from '../support/missing.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { eventually, support, type Answer, type GridClient } from '../support/testbed.js';

const WORKERS = 8;
const MANIFEST = { Executable: '/bin/true', JobName: 'outage' };

interface Sight {
  at: number;
  status: number;
  retryAfter: string | undefined;
}

describeWith({ met: has('nginx'), name: 'nginx' })(
  'PostgreSQL stopped and started under load',
  () => {
    let postgres: OwnPostgres;
    let site: BalancedGrid;
    beforeAll(async () => {
      postgres = await OwnPostgres.create(support().root);
      site = await BalancedGrid.start('nginx', 'terminate', {
        DATABASE_URL: postgres.url,
        GRID_ROLE: 'api',
        GRID_LOG_LEVEL: 'warn',
      });
    });
    afterAll(async () => {
      await site?.remove();
      await postgres?.remove();
    });

    async function ready(client: GridClient): Promise<Answer> {
      return client.get('/health/ready');
    }

    it('is answered 503 with Retry-After, recovers, and loses nothing', async () => {
      const alice = await site.grid.as('alice');
      const seen: Sight[] = [];
      const acknowledged: number[] = [];
      const load = new Load(WORKERS, async (worker) => {
        const at = Date.now();
        const answer =
          worker % 2 === 0
            ? await alice.post('/jobs', { json: MANIFEST })
            : await alice.get('/jobs?maxJobs=5');
        const { 'retry-after': retryAfter } = answer.headers;
        seen.push({ at, status: answer.status, retryAfter: retryAfter?.toString() });
        if (worker % 2 === 0 && answer.status === 200) {
          acknowledged.push(...(answer.body as { jids: number[] }).jids);
        }
        if (answer.status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
      });
      const of = (from: number, to = Infinity): Sight[] =>
        seen.filter(({ at }) => at >= from && at < to);
      await eventually(() => Promise.resolve(seen.length > 100), 'load');

      await postgres.stop();
      const away = Date.now();
      await eventually(() => Promise.resolve(of(away).length > 100), 'answers without a database');
      expect((await ready(site.grid.anonymous)).status).toBe(503);

      await postgres.start();
      const back = Date.now();
      await eventually(async () => (await ready(site.grid.anonymous)).status === 200, 'ready');
      await eventually(() => {
        const latest = of(back).slice(-100);
        return Promise.resolve(latest.length === 100 && latest.every((one) => one.status === 200));
      }, 'a hundred answers without a fault');
      const { failures } = await load.stop();

      expect(failures).toEqual([]);
      const without = of(away, back).filter(({ status }) => status !== 200);
      expect(new Set(without.map(({ status }) => status))).toEqual(new Set([503]));
      expect(without.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true);
      const stored = await storedIn(postgres.url);
      expect(acknowledged.filter((jid) => !stored.has(jid))).toEqual([]);
    });

    it('does not end an instance whose sessions are ended again and again between their statements', async () => {
      const alice = await site.grid.as('alice');
      const load = new Load(WORKERS, async (worker) => {
        const manifests = Array.from({ length: 20 }, () => MANIFEST);
        await (worker % 2 === 0
          ? alice.post('/jobs', { json: { manifests } })
          : alice.get('/jobs?maxJobs=5'));
      });
      for (let round = 0; round < 40; round += 1) {
        const { done } = load;
        await endSessions(postgres.url);
        await eventually(() => Promise.resolve(load.done > done + 5), 'answers');
      }
      expect((await load.stop()).failures).toEqual([]);
      for (const { grid } of site.instances) {
        const { exitCode } = grid.server.child;
        expect({ exitCode, log: exitCode === null ? '' : grid.server.log() }).toEqual({
          exitCode: null,
          log: '',
        });
      }
    });

    it('keeps the liveness probe well, so that no orchestrator restarts the instances', async () => {
      await postgres.stop();
      const { anonymous } = site.grid;
      const [live, notReady] = [await anonymous.get('/health/live'), await ready(anonymous)];
      await postgres.start();
      expect(live.status).toBe(200);
      expect([notReady.status, notReady.headers['retry-after']]).toEqual([503, '2']);
      expect(notReady.body.checks.database).not.toBe('ok');
      await eventually(async () => (await ready(anonymous)).status === 200, 'ready');
    });
  },
);

async function storedIn(url: string): Promise<Set<number>> {
  const rows = await rowsOf<{ jid: string }>(url, 'select jid from jobs');
  return new Set(rows.map(({ jid }) => Number(jid)));
}

/** Ends every session of the service. */
async function endSessions(url: string): Promise<void> {
  const own = "application_name like 'gridgate%' and pid <> pg_backend_pid()";
  await rowsOf(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${own}`);
}

async function rowsOf<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
