import { SchedulerRegistry } from '@nestjs/schedule';
import pg from 'pg';
import { AuditEventsRepository, type AuditWriter } from '#src/audit/index.js';
import { createLogger, Scheduler } from '#src/runtime/index.js';
import { AuditKeeper } from '../../src/audit/audit-keeper.js';
import { leastIdOf } from '../../src/audit/time-ordered-id.js';
import { FullLog } from '../support/full-log.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { scratchDatabase } from '../support/scratch-database.js';
import { eventually, startGrid, support, type Answer, type Grid } from '../support/testbed.js';

const DAY_MS = 86_400_000;

/** A request that leaves a line and asks no database. */
const malformed = (grid: Grid): Promise<Answer> =>
  grid.anonymous.post('/oauth2/token', { form: { grant_type: 'refresh_token', client_id: 'x' } });

const idOf = ({ headers }: Answer): string => String(headers['x-request-id']);

describe('the audit trail while its database is away', () => {
  let postgres: OwnPostgres;
  let grid: Grid;

  beforeAll(async () => {
    postgres = await OwnPostgres.create(support().root);
    const env = { DATABASE_URL: postgres.url, GRID_ROLE: 'api', GRID_LOG_LEVEL: 'debug' };
    grid = await startGrid({ env });
  });
  afterAll(async () => {
    await grid?.remove();
    await postgres?.remove();
  });

  /** Of these requests those whose lines are kept, in the order of the lines. */
  async function kept(ids: string[]): Promise<string[]> {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const text = `select details ->> 'requestId' as id from audit_events
      where details ->> 'requestId' = any($1::text[]) order by audit_events.id`;
    const { rows } = await client.query<{ id: string }>(text, [ids]);
    await client.end();
    return rows.map(({ id }) => id);
  }

  it('keeps its lines and writes them when it is back, each once and in their order', async () => {
    const ids = [idOf(await malformed(grid))];
    const log = new FullLog(grid);
    await postgres.stop();
    for (let count = 0; count < 20; count += 1) {
      const answer = await malformed(grid);
      expect(answer.status).toBe(400);
      ids.push(idOf(answer));
    }
    await log.line(({ task, msg }) => task === 'audit.keep' && msg === 'background work failed');
    await postgres.start();
    await eventually(async () => (await kept(ids)).length === ids.length, 'the lines');
    expect(await kept(ids)).toEqual(ids);
  });

  it('lets no request wait for a database that does not answer', async () => {
    const holder = new pg.Client({ connectionString: postgres.url });
    await holder.connect();
    await holder.query('begin; lock table audit_events in access exclusive mode');
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push(idOf(await malformed(grid)));
    await eventually(async () => {
      const text = `select from pg_stat_activity where wait_event_type = 'Lock'`;
      return (await holder.query(text)).rowCount === 1;
    }, 'a statement to be under way');
    await holder.query('commit');
    await holder.end();
    await eventually(async () => (await kept(ids)).length === ids.length, 'the lines');
    expect(await kept(ids)).toEqual(ids);
  });

  it('ends without it, and says how many lines are in the log only', async () => {
    const log = new FullLog(grid);
    await postgres.stop();
    await malformed(grid);
    await malformed(grid);
    await grid.stop();
    const text = 'lines of the audit trail are in the log only';
    const line = await log.line(({ msg }) => msg === text);
    expect(line['lines']).toBeGreaterThanOrEqual(2);
    await postgres.start();
  });
});

describe('the audit trail in the database', () => {
  it('is removed after its days, the oldest first, a part at a time', async () => {
    const scratch = await scratchDatabase();
    try {
      const database = await scratch.open();
      const logger = createLogger('error');
      const scheduler = new Scheduler(new SchedulerRegistry(), database, logger);
      const now = Date.now();
      new AuditKeeper({
        ...{ config: { auditRetention: 3 }, clock: { now: () => now }, scheduler },
        writer: { write: () => Promise.resolve(undefined) } as unknown as AuditWriter,
        repository: new AuditEventsRepository(database),
      }).onApplicationBootstrap();
      const insert = (first: number, last: number, at: number): Promise<number> =>
        database.execute({
          text: `insert into audit_events (id, time, instance, event, outcome, details)
            select (left($3, 24) || lpad(to_hex(n), 12, '0'))::uuid, $4, 'i', 'job.held', 'done', '{}'
            from generate_series($1::integer, $2::integer) n`,
          values: [first, last, leastIdOf(at), new Date(at)],
        });
      await insert(1, 6_000, now - 3 * DAY_MS - 1);
      await insert(6_001, 6_002, now - 3 * DAY_MS);
      const clean = scheduler.get('audit.clean');
      const left = async (): Promise<unknown> =>
        database.query({ text: 'select count(*)::integer as n from audit_events' });
      expect(await clean?.runNow()).toBe('more');
      expect(await left()).toEqual([{ n: 1_002 }]);
      expect(await clean?.runNow()).toBe(undefined);
      expect(await left()).toEqual([{ n: 2 }]);
      await scheduler.onModuleDestroy();
    } finally {
      await scratch.remove();
    }
  });

  it('is not kept at all with GRID_AUDIT_RETENTION=0', async () => {
    const grid = await startGrid({
      env: { GRID_ROLE: 'api', GRID_AUDIT_RETENTION: '0', GRID_LOG_LEVEL: 'warn' },
    });
    try {
      const log = new FullLog(grid);
      const id = idOf(await malformed(grid));
      await log.line(({ requestId, channel }) => requestId === id && channel === 'audit');
      await grid.stop();
      const text = `select event from audit_events where details ->> 'requestId' = $1`;
      expect(await grid.sql(text, [id])).toEqual([]);
    } finally {
      await grid.remove();
    }
  });
});
