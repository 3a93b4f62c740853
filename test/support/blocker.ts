import pg from 'pg';
import { eventually, type Grid } from './testbed.js';

/** A transaction of somebody else that keeps the service's statements waiting. */
export class Blocker {
  private constructor(
    private readonly client: pg.Client,
    private readonly grid: Grid,
  ) {}

  static async hold(grid: Grid, lock: string): Promise<Blocker> {
    const client = new pg.Client({ connectionString: grid.database.url });
    await client.connect();
    await client.query('begin');
    await client.query(lock);
    return new Blocker(client, grid);
  }

  /** Waits until so many statements of requests wait for what is locked; the totals are aggregated meanwhile. */
  async keeps(expected: number): Promise<void> {
    const text = `select count(*)::integer as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query !~ 'catalogue_delta'`;
    await eventually(async () => {
      const [row] = await this.grid.sql<{ n: number }>(text);
      return row?.n === expected;
    }, `${expected} statements to be kept waiting`);
  }

  async end(): Promise<void> {
    await this.client.end();
  }
}
