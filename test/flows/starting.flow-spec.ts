import pg from 'pg';
import { freePorts } from '../support/ports.mjs';
import { OwnPostgres } from '../support/own-postgres.js';
import { eventually, startGrid, support, type Answer, type Grid } from '../support/testbed.js';

/** The lock under which migrations run (src/database/lock-names.ts). */
const MIGRATIONS_LOCK = [0x67726964, 1];

describe('a server that is starting', () => {
  let grid: Grid;
  let token: string;
  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    grid = await startGrid({ env: { GRID_PORT: String(port) } });
    token = await grid.token('alice', 'grid_user');
    await grid.stop();
  });
  afterAll(() => grid?.remove());

  /** What is answered as soon as anything is; a connection that is refused is tried again, as a load balancer does. */
  async function answered(path: string): Promise<Answer> {
    return eventually(async () => {
      try {
        return await grid.bearer(token).get(path);
      } catch (error) {
        if ((error as { code?: string }).code === 'ECONNREFUSED') return undefined;
        throw error;
      }
    }, 'the listener');
  }

  it('answers its probes at once, and a request when the start is complete, without an error', async () => {
    const holder = new pg.Client({ connectionString: grid.database.url });
    await holder.connect();
    await holder.query('select pg_advisory_lock($1, $2)', MIGRATIONS_LOCK);
    const starting = grid.again();
    const request = answered('/jobs?maxJobs=5');
    let isAnswered = false;
    void request.finally(() => (isAnswered = true));
    const ready = await answered('/health/ready');
    expect([ready.status, ready.body.checks.start]).toEqual([503, 'the service is starting']);
    expect((await answered('/health/live')).status).toBe(200);
    await eventually(async () => {
      const text = 'select 1 from pg_stat_activity where wait_event_type = $1 and datname = $2';
      return (await holder.query(text, ['Lock', grid.database.name])).rowCount === 1;
    }, 'the migrations to wait');
    expect(isAnswered).toBe(false);
    await holder.end();
    expect((await request).status).toBe(200);
    grid = await starting;
    await grid.stop();
  });

  it('does not let requests wait for a database that is away, and starts when it comes', async () => {
    const postgres = await OwnPostgres.create(support().root);
    try {
      await postgres.stop();
      const starting = grid.again({ DATABASE_URL: postgres.url });
      const refused = await answered('/jobs?maxJobs=5');
      const { code, detail } = refused.body;
      expect([refused.status, code, detail, refused.headers['retry-after']]).toEqual([
        503,
        'service.unavailable',
        'The service is starting',
        '2',
      ]);
      await postgres.start();
      grid = await starting;
      expect((await answered('/health/ready')).status).toBe(200);
      await grid.stop();
    } finally {
      await postgres.remove();
    }
  });
});
