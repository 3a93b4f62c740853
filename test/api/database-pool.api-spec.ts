import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server, type Socket } from 'node:net';
import { DataSource } from 'typeorm';
import { Database, dataSourceOptions } from '#src/database/index.js';
import { eventually, support } from '../support/testbed.js';

/** `statement` and `connect`: seconds that a statement and connecting may take. */
function dataSource(url: string, limits: { statement: number; connect: number }): DataSource {
  return new DataSource(
    dataSourceOptions({
      connection: () => ({ url }),
      poolSize: 2,
      statementTimeoutSeconds: limits.statement,
      connectTimeoutSeconds: limits.connect,
      entities: [],
      migrations: [],
    }),
  );
}

describe('waiting for a connection of the pool', () => {
  /** Works while both connections are taken; `release` gives them back. */
  async function whileBusy(
    statement: number,
    work: (database: Database, release: () => void) => Promise<void>,
  ): Promise<void> {
    const source = await dataSource(support().admin, { statement, connect: 1 }).initialize();
    const database = new Database(() => source);
    let release = (): void => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    let taken = 0;
    const holders = [1, 2].map(() =>
      database.transaction(async () => {
        taken += 1;
        await until;
      }),
    );
    await eventually(() => Promise.resolve(taken === 2), 'both connections to be taken');
    try {
      await work(database, release);
    } finally {
      release();
      await Promise.all(holders);
      await source.destroy();
    }
  }

  it('may take longer than connecting may: the database is busy, not away', async () => {
    await whileBusy(60, async (database, release) => {
      const waiting = database.query({ text: 'select 1 as one' });
      const later = new Promise((resolve) => setTimeout(resolve, 1_500, 'later'));
      expect(await Promise.race([waiting, later])).toBe('later');
      release();
      expect(await waiting).toEqual([{ one: 1 }]);
    });
  });

  it('ends with 503 service.overloaded after the time of one statement', async () => {
    await whileBusy(1, async (database) => {
      await expect(database.query({ text: 'select 1' })).rejects.toMatchObject({
        ...{ status: 503, code: 'service.overloaded' },
      });
    });
  });
});

describe('a process that is busy while it connects', () => {
  it('does not take the database for away', async () => {
    const source = dataSource(support().admin, { statement: 30, connect: 1 });
    const connected = source.initialize();
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    await connected;
    await source.destroy();
  });
});

describe('a database that takes connections and never answers', () => {
  let server: Server;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is away after the time that connecting may take', async () => {
    const { port } = server.address() as { port: number };
    const outcome = (name: string, limits: { statement: number; connect: number }) =>
      dataSource(`postgres://x@127.0.0.1:${port}/x`, limits)
        .initialize()
        .then(
          () => 'connected',
          () => name,
        );
    const first = outcome('the hasty one', { statement: 30, connect: 1 });
    const second = outcome('the patient one', { statement: 5, connect: 5 });
    expect(await Promise.race([first, second])).toBe('the hasty one');
    await second;
  });
});
