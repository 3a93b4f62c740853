import type { DataSource, EntityManager } from 'typeorm';
import type pg from 'pg';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';

/** What TypeORM's statements need of the database. */
export interface StatementWay {
  /** A connection from behind the queue. */
  take(): Promise<pg.PoolClient>;
  /** Does the work under a span with the statement's name; errors of the driver come out as Problems. */
  watched<T>(text: string, work: () => Promise<T>): Promise<T>;
}

/**
 * TypeORM's statements go the way of all others. A connection counts as that of a single statement: what TypeORM does
 * with it (a query, or a small transaction of its own around `save`) never asks for a second one on the way.
 */
class EntityQueryRunner extends PostgresQueryRunner {
  constructor(
    driver: PostgresDriver,
    private readonly way: StatementWay,
  ) {
    super(driver, 'master');
  }

  /** For statements inside of a transaction that is open on the connection. */
  within(client: pg.PoolClient): this {
    this.databaseConnection = client;
    this.databaseConnectionPromise = Promise.resolve(client);
    this.isTransactionActive = true;
    this.transactionDepth = 1;
    return this;
  }

  override connect(): Promise<pg.PoolClient> {
    this.databaseConnectionPromise ??= this.way.take().then((client) => {
      this.databaseConnection = client;
      this.releaseCallback = (fault: Error | undefined) => client.release(fault);
      return client;
    });
    return this.databaseConnectionPromise as Promise<pg.PoolClient>;
  }

  override query(
    ...[text, ...rest]: Parameters<PostgresQueryRunner['query']>
  ): ReturnType<PostgresQueryRunner['query']> {
    return this.way.watched(text, () => super.query(text, ...rest));
  }
}

/** From now on what repositories ask goes through the queue in front of the pool, and fails with Problems. */
export function routeEntityStatements(dataSource: DataSource, way: StatementWay): void {
  const driver = dataSource.driver as PostgresDriver;
  driver.createQueryRunner = () => new EntityQueryRunner(driver, way);
}

/** TypeORM's manager for the transaction that is open on the connection. */
export function managerWithin(
  dataSource: DataSource,
  client: pg.PoolClient,
  way: StatementWay,
): EntityManager {
  const runner = new EntityQueryRunner(dataSource.driver as PostgresDriver, way).within(client);
  const manager = dataSource.createEntityManager(runner);
  return Object.assign(runner, { manager }).manager;
}
