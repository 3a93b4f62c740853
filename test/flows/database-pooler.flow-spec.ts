import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import type { DatabaseConnection } from '#src/config/index.js';
import {
  withKeyedLock,
  ChangeFeed,
  Database,
  dataSourceOptions,
  directClient,
  poolerRules,
  SessionLock,
  type PoolerRules,
} from '#src/database/index.js';
import { startDebianPostgres, type DebianPostgres } from '../support/database/debian-postgres.mjs';
import { startPgBouncer, type PgBouncer } from '../support/database/pgbouncer.mjs';
import { describeWith, has } from '../support/missing.js';
import { postgresPrograms } from '../support/programs.mjs';
import { startServerProcess } from '../support/server-process.mjs';
import { eventually, support } from '../support/testbed.js';

const LOGIN = { user: 'gridgate', password: 'a:b/c' };
const LIMITS = { statementTimeoutSeconds: 7, connectTimeoutSeconds: 3 };

let postgres: DebianPostgres;
let pgbouncer: PgBouncer;
let connection: DatabaseConnection;
const closers: (() => Promise<unknown>)[] = [];

const need = {
  met: postgresPrograms() !== undefined && has('pgbouncer'),
  name: 'PostgreSQL and PgBouncer (packages postgresql, pgbouncer)',
};

/** The pool of one instance. */
async function open(): Promise<Database> {
  const input = {
    connection: () => connection,
    poolSize: 8,
    ...LIMITS,
    entities: [],
    migrations: [],
  };
  const source = await new DataSource(dataSourceOptions(input)).initialize();
  const rules = poolerRules(connection, { ...LIMITS, sessions: 4 }) as PoolerRules;
  closers.push(async () => {
    await rules.sessions.end();
    await source.destroy();
  });
  return new Database(
    () => source,
    undefined,
    undefined,
    () => rules,
  );
}

describeWith(need)('behind PgBouncer in transaction mode', () => {
  beforeAll(async () => {
    postgres = await startDebianPostgres(LOGIN);
    // Two connections for all: whoever counts on its own one meets another's at once.
    pgbouncer = await startPgBouncer({ ...postgres, settings: ['default_pool_size = 2'] });
    connection = { url: pgbouncer.url('postgres'), directUrl: postgres.url('postgres') };
  });

  afterAll(async () => {
    await Promise.all(closers.map((close) => close()));
    await pgbouncer?.stop();
    await postgres?.stop();
  });

  it('named statements, cursors and bigint work on connections that change hands', async () => {
    const database = await open();
    const numbers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        database.query({ name: `n${n % 7}`, text: `select $1::int8 + ${n % 7} as n`, values: [n] }),
      ),
    );
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, n) => [{ n: n + (n % 7) }]));
    const rows = await database.transaction(async (transaction) => {
      await transaction.execute({
        text: 'declare c no scroll cursor for select generate_series(1, $1::int) as i',
        values: [5],
      });
      const first = await transaction.query({ name: 'fetch', text: 'fetch 2 from c' });
      return [...first, ...(await transaction.query({ name: 'fetch', text: 'fetch 2 from c' }))];
    });
    expect(rows).toEqual([{ i: 1 }, { i: 2 }, { i: 3 }, { i: 4 }]);
  });

  it('a transaction has the settings of a session, and leaves none behind', async () => {
    const database = await open();
    const text = `select current_setting('TimeZone') as zone, current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('jit') as jit`;
    const within = { zone: 'UTC', statement: '7s', idle: '1min', jit: 'off' };
    expect(await database.transaction((it) => it.query({ text }))).toEqual([within]);
    expect(await database.snapshot((it) => it.query({ text }))).toEqual([within]);
    expect(await database.query({ text })).toEqual([
      { zone: 'UTC', statement: '0', idle: '0', jit: 'on' },
    ]);
  });

  it('locks of sessions exclude another instance, however long they last', async () => {
    const [one, other] = [await open(), await open()];
    const leader = new SessionLock(one, 'slurm');
    const follower = new SessionLock(other, 'slurm');
    expect([await leader.claim(), await follower.claim()]).toEqual([true, false]);
    leader.release();
    await eventually(() => follower.claim(), 'the lock of the one who has gone');
    follower.release();

    const order: string[] = [];
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const first = withKeyedLock(one, 'k', async () => {
      order.push('first');
      await one.query({ text: 'select 1' });
      await held;
      order.push('first ends');
    });
    await eventually(() => Promise.resolve(order.length === 1), 'the first to work');
    const second = withKeyedLock(other, 'k', () => {
      order.push('second');
      return Promise.resolve();
    });
    const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
    await eventually(
      async () => (await one.query({ text: waiting })).length === 1,
      'the second to wait',
    );
    go();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'first ends', 'second']);
  });

  it('changes are heard that another instance tells inside a transaction', async () => {
    const [one, other] = [await open(), await open()];
    const feed = new ChangeFeed(() => directClient(connection, 'test'), one);
    closers.unshift(() => feed.stop());
    const heard: (string | undefined)[] = [];
    feed.listen('pooler_test', (payload) => heard.push(payload));
    feed.start();
    await eventually(() => Promise.resolve(feed.live && heard.length === 1), 'the feed');
    await other.transaction(async (transaction) => {
      await transaction.query(ChangeFeed.notification('pooler_test', 'from afar'));
    });
    await eventually(() => Promise.resolve(heard.includes('from afar')), 'the change');
  });

  describe('a server', () => {
    let home: string;
    const start = (env: Record<string, string>): ReturnType<typeof startServerProcess> => {
      const own = { GRID_HOME: home, GRID_PORT: '0', GRID_ROLE: 'api', GRID_DEMO: 'true' };
      return startServerProcess({ root: support().root, env: { ...own, ...env } });
    };
    const refusal = async (env: Record<string, string>): Promise<string> => {
      const server = await start(env).catch((error: unknown) => (error as Error).message);
      if (typeof server === 'string') return server;
      await server.kill();
      return 'it has started';
    };

    beforeAll(async () => {
      home = await mkdtemp(join(tmpdir(), 'grid-pooler-'));
    });

    afterAll(() => rm(home, { recursive: true, force: true }));

    it('migrates, starts, and advises about the role', async () => {
      const server = await start({
        DATABASE_URL: pgbouncer.url('postgres'),
        GRID_DATABASE_DIRECT_URL: postgres.url('postgres'),
      });
      await server.stop();
      expect(server.log()).toContain(`alter role gridgate set statement_timeout = '30000'`);
      expect(server.log()).not.toContain(`set timezone`);
    });

    it('is refused without the direct URL', async () => {
      const message = await refusal({ DATABASE_URL: pgbouncer.url('postgres') });
      expect(message).toContain(
        'gridgate: DATABASE_URL: leads to a connection pooler (PgBouncer): set GRID_DATABASE_DIRECT_URL to the PostgreSQL behind it',
      );
    });

    it('is refused without it also where PgBouncer ignores what it does not know', async () => {
      const ignore = 'statement_timeout,idle_in_transaction_session_timeout,options';
      const settings = [`ignore_startup_parameters = ${ignore}`];
      const lenient = await startPgBouncer({ ...postgres, settings });
      const message = await refusal({ DATABASE_URL: lenient.url('postgres') }).finally(() =>
        lenient.stop(),
      );
      expect(message).toContain(
        'gridgate: DATABASE_URL leads to a connection pooler (PgBouncer), ',
      );
      expect(message).toContain('set GRID_DATABASE_DIRECT_URL to the PostgreSQL behind it');
    });

    it('is refused when the direct URL leads to a pooler too, or elsewhere', async () => {
      const through = pgbouncer.url('postgres');
      expect(await refusal({ DATABASE_URL: through, GRID_DATABASE_DIRECT_URL: through })).toContain(
        'gridgate: GRID_DATABASE_DIRECT_URL: leads to a connection pooler',
      );
      expect(
        await refusal({
          DATABASE_URL: through,
          GRID_DATABASE_DIRECT_URL: postgres.url('template1'),
        }),
      ).toContain('gridgate: GRID_DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
    });

    it('is refused for a wrong password of the pooler', async () => {
      const wrong = pgbouncer.url('postgres').replace(/:[^:@/]*@/, ':geheim@');
      const message = await refusal({
        DATABASE_URL: wrong,
        GRID_DATABASE_DIRECT_URL: postgres.url('postgres'),
      });
      expect(message).toMatch(/gridgate: DATABASE_URL: .*authentication failed/);
      expect(message).not.toContain('geheim');
    });
  });
});
