import { finished } from 'node:stream/promises';
import { currentCaller, Problem } from '#src/kernel/index.js';
import type { DataSource, EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { isDatabaseAway, isRetryable, sqlState } from './connection-error.js';
import { batched } from './batch.js';
import { ConnectionPermits, type Use } from './connection-permits.js';
import { managerWithin, routeEntityStatements, type StatementWay } from './entity-statements.js';
import type { PoolerRules } from './pooler.js';

/**
 * One SQL statement. With a `name` it is prepared once per connection and costs about half
 * (measured: 22 µs instead of 40 µs of server time); give a name to every statement whose text is constant.
 */
export interface Statement {
  text: string;
  values?: unknown[];
  name?: string;
}

/** What runs statements: the pool, or one transaction. */
export interface Queryable {
  /** Rows of the statement; bigint columns are number, or bigint beyond 2^53. */
  query<Row = Record<string, unknown>>(statement: Statement): Promise<Row[]>;
  /** Number of rows the statement changed. */
  execute(statement: Statement): Promise<number>;
  /** Does the work once what was written before can be seen by all: at once outside of a transaction; never after a rollback. */
  afterCommit(work: () => void): void;
}

/** A transaction under way: statements, entities, and the raw client for COPY and cursors. */
export interface Transaction extends Queryable {
  readonly client: pg.PoolClient;
  /** Sends rows (text format) to a `copy … from stdin`. */
  copy(text: string, rows: string): Promise<void>;
  /** TypeORM's manager inside of this transaction: `transaction.manager.getRepository(SomeEntity)`. */
  readonly manager: EntityManager;
}

const DEFAULT_LIMITS = {
  connections: 10,
  maxWaiting: 1_000,
  maxWaitMs: 10_000,
  maxWaitWhileSilentMs: 1_500,
};

/** Records statements as spans; while it is off nothing is recorded. */
export interface StatementTracing {
  readonly isOn: boolean;
  within<T>(name: string, attributes: Record<string, string>, work: () => Promise<T>): Promise<T>;
}

const UNTRACED: StatementTracing = { isOn: false, within: (_name, _attributes, work) => work() };

/** More batched writes at once would each join fewer. */
const MOST_BATCHED_WRITES = 2;

/**
 * The database as repositories see it: named statements on the driver's pool, and transactions; entities that are not
 * hot go through TypeORM's injected `Repository<Entity>`. While the database is away every call throws Problem
 * `service.unavailable` (503 with Retry-After) and never hangs.
 */
export class Database implements Queryable {
  /** `source` gives the data source once there is one; before that every call answers 503. */
  constructor(
    private readonly source: () => DataSource | undefined,
    private readonly tracing: StatementTracing = UNTRACED,
    /** The queue in front of the pool; for metrics, and for whoever notices that the database is silent. */
    readonly permits: ConnectionPermits = new ConnectionPermits(DEFAULT_LIMITS),
    /** How to work through the pooler that stands before the database, if one does. */
    private readonly pooler: () => PoolerRules | undefined = () => undefined,
  ) {}

  /** The connected data source. Throws 503 before the first connection. */
  get dataSource(): DataSource {
    const dataSource = this.source();
    if (!dataSource?.isInitialized) throw databaseAway();
    return dataSource;
  }

  /** The driver's pool, for streams and COPY in repositories. Throws 503 before the first connection. */
  get pool(): pg.Pool {
    return (this.dataSource.driver as PostgresDriver).master as pg.Pool;
  }

  async query<Row>(statement: Statement): Promise<Row[]> {
    return (await this.alone(statement)).rows as Row[];
  }

  async execute(statement: Statement): Promise<number> {
    return (await this.alone(statement)).rowCount ?? 0;
  }

  afterCommit(work: () => void): void {
    work();
  }

  /** Runs the work in one transaction; on serialization failure or deadlock up to three times. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(work);
      } catch (error) {
        if (attempt >= 3 || !isRetryable(error)) throw error;
      }
    }
  }

  /**
   * Runs one statement that writes many rows. In a transaction, which is tried again, only where that is needed: it costs two
   * exchanges more.
   */
  async write<Row>(statement: Statement): Promise<Row[]> {
    try {
      return await this.query<Row>(statement);
    } catch (error) {
      if (!isRetryable(error)) throw error;
      return this.transaction((transaction) => transaction.query<Row>(statement));
    }
  }

  /**
   * Runs reading work on one unchanging state of the database (repeatable read). The transaction's end is not waited
   * for: everything has been read by then, and the connection goes back to the pool only after it.
   */
  async snapshot<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await this.connect();
    try {
      await this.begin(client, 'begin isolation level repeatable read read only');
      const result = await work(this.on(client));
      void client.query('commit').then(
        () => client.release(),
        (fault: unknown) => client.release(fault as Error),
      );
      return result;
    } catch (error) {
      client.release(await rolledBack(client));
      throw error;
    }
  }

  /** Runs work whose statements need one permit of their caller together, which is waited for before it begins. */
  async withinPermit<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.permits.acquireOfCaller();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Joins point reads of all callers into few statements, which have together what one caller may have of the database. */
  batchedReads<Key, Row>(
    read: (keys: Key[]) => Promise<Map<Key, Row>>,
  ): (key: Key) => Promise<Row | undefined> {
    return batched(this.permits.queue(this.permits.ofOneCaller), read);
  }

  /** Joins writes of all callers into few statements, of which at most two are under way: while one commits the next one gathers. */
  batchedWrites<Item, Result>(
    write: (items: Item[]) => Promise<Map<Item, Result>>,
  ): (item: Item) => Promise<Result> {
    const permits = Math.min(MOST_BATCHED_WRITES, this.permits.ofOneCaller);
    const batch = batched(this.permits.queue(permits), write) as (item: Item) => Promise<Result>;
    return (item) => {
      const caller = currentCaller();
      if (caller) caller.hasBegun = caller.mayChange;
      return batch(item);
    };
  }

  private async attempt<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await this.connect();
    let broken: Error | undefined;
    try {
      await this.begin(client, 'begin');
      const afterwards: (() => void)[] = [];
      const result = await work(this.on(client, afterwards));
      await this.run(client, { text: 'commit' });
      for (const each of afterwards) each();
      return result;
    } catch (error) {
      broken = await rolledBack(client);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  private async begin(client: pg.PoolClient, text: string): Promise<void> {
    await this.run(client, { text: text + (this.pooler()?.settings ?? '') });
  }

  private on(client: pg.PoolClient, afterwards: (() => void)[] = []): Transaction {
    let manager: EntityManager | undefined;
    const made = (): EntityManager => managerWithin(this.dataSource, client, this.way);
    return {
      client,
      get manager() {
        return (manager ??= made());
      },
      query: async <Row>(statement: Statement) => (await this.run(client, statement)).rows as Row[],
      execute: async (statement) => (await this.run(client, statement)).rowCount ?? 0,
      copy: (text, rows) => this.copyInto(client, text, rows),
      afterCommit: (work) => void afterwards.push(work),
    };
  }

  private async copyInto(client: pg.PoolClient, text: string, rows: string): Promise<void> {
    try {
      await this.spanned({ text }, async () => {
        const stream = client.query(copyFrom(text));
        stream.end(rows);
        await finished(stream);
      });
    } catch (error) {
      throw translate(error);
    }
  }

  /** A connection of the pool, for cursors and COPY; the caller releases it. */
  async connect(use: Use = 'session'): Promise<pg.PoolClient> {
    const { pool } = this;
    const release = await this.permits.acquire(use);
    try {
      const client = await pool.connect();
      const returnClient = client.release.bind(client);
      client.release = (fault) => {
        returnClient(fault);
        release();
      };
      return client;
    } catch (error) {
      release();
      throw translate(error);
    }
  }

  /** Repositories of entities go through the same queue, spans and errors as statements; call it once migrated. */
  serveEntities(): void {
    routeEntityStatements(this.dataSource, this.way);
  }

  private readonly way: StatementWay = {
    take: () => this.connect('statement'),
    watched: async (text, work) => {
      try {
        return await this.spanned({ text }, work);
      } catch (error) {
        throw translate(error);
      }
    },
  };

  /** A session that is the caller's until it is released, for locks that outlive transactions. */
  async session(): Promise<pg.PoolClient> {
    const pooler = this.pooler();
    if (pooler === undefined) return this.connect();
    try {
      return await pooler.sessions.connect();
    } catch (error) {
      throw translate(error);
    }
  }

  private async alone(statement: Statement): Promise<pg.QueryResult> {
    const { pool } = this;
    const release = await this.permits.acquire('statement');
    try {
      return await this.run(pool, statement);
    } finally {
      release();
    }
  }

  private async run(
    target: pg.Pool | pg.PoolClient,
    statement: Statement,
  ): Promise<pg.QueryResult> {
    // Behind a pooler the next statement may be another server's, which has not prepared it.
    const { text, values } = statement;
    const query = (this.pooler() ? { text, values } : statement) as pg.QueryConfig;
    try {
      if (!this.tracing.isOn) return await target.query(query);
      return await this.spanned(statement, () => target.query(query));
    } catch (error) {
      throw translate(error);
    }
  }

  private async spanned<T>({ name, text }: Statement, work: () => Promise<T>): Promise<T> {
    if (!this.tracing.isOn) return work();
    const known = name ?? /^\s*(\w+)/.exec(text)?.[1] ?? 'statement';
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': known };
    return this.tracing.within(`sql ${known}`, attributes, work);
  }
}

/** Ends a failed transaction; the fault of a connection that cannot be used again. */
async function rolledBack(client: pg.PoolClient): Promise<Error | undefined> {
  return client.query('rollback').then(
    () => undefined,
    (fault: unknown) => fault as Error,
  );
}

function databaseAway(cause?: unknown): Problem {
  return Problem.unavailable('The database is not available', { cause });
}

/** What the pool says when no connection becomes free in time. */
const POOL_IS_BUSY = 'timeout exceeded when trying to connect';

function translate(error: unknown): unknown {
  if (error instanceof Error && error.message === POOL_IS_BUSY) {
    const detail = 'Too many requests are waiting for the database';
    return new Problem('service.overloaded', detail, { cause: error, retryAfterSeconds: 2 });
  }
  if (isDatabaseAway(error)) return databaseAway(error);
  if (sqlState(error) === '57014') {
    return Problem.unavailable('The request took longer than the database allows', {
      cause: error,
    });
  }
  return error;
}
