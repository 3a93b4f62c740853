import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server, type Socket } from 'node:net';
import { DataSource } from 'typeorm';
import { Database, dataSourceOptions } from '#src/platform/index.js';
import { support } from '../support/testbed.js';

function dataSource(url: string, statementTimeoutSeconds: number): DataSource {
  return new DataSource(
    dataSourceOptions({
      connection: () => ({ url }),
      poolSize: 2,
      statementTimeoutSeconds,
      connectTimeoutSeconds: 1,
      entities: [],
      migrations: [],
    }),
  );
}

describe('waiting for a connection of the pool', () => {
  let source: DataSource;
  let database: Database;

  beforeAll(async () => {
    source = await dataSource(support().admin, 3).initialize();
    database = new Database(() => source);
  });

  afterAll(() => source?.destroy());

  const sleep = (seconds: number): Promise<unknown> =>
    database.query({ text: 'select pg_sleep($1)', values: [seconds] });

  it('may take longer than connecting may: the database is busy, not away', async () => {
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => sleep(0.4)));
    expect(all.map(({ status }) => status)).toEqual(Array(8).fill('fulfilled'));
  });

  it('ends with 503 service.overloaded after the time of one statement', async () => {
    const all = await Promise.allSettled(Array.from({ length: 6 }, () => sleep(2)));
    const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const reason of refused) {
      expect(reason).toMatchObject({ status: 503, code: 'service.overloaded' });
    }
  }, 20_000);
});

describe('a process that is busy while it connects', () => {
  it('does not take the database for away', async () => {
    const source = dataSource(support().admin, 30);
    const connected = source.initialize();
    await new Promise((resolve) => setImmediate(resolve));
    const until = Date.now() + 1_500;
    while (Date.now() < until);
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
    const began = Date.now();
    const source = dataSource(`postgres://x@127.0.0.1:${port}/x`, 30);
    await expect(source.initialize()).rejects.toThrow();
    expect(Date.now() - began).toBeLessThan(10_000);
  }, 20_000);
});
