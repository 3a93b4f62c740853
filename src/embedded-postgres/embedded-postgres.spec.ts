import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './embedded-postgres.js';
import { chooseLayout, makeSocketDirectory } from './postgres-layout.js';
import { PostgresServer } from './postgres-server.js';
import { postgresProcesses } from './postmaster-file.js';

/** What initdb, or a checkpoint, may take on a slow disk. */
const SLOW_MS = 180_000;

let home: string;
let running: EmbeddedPostgres | undefined;

const data = (): string => join(home, 'postgres', 'data');

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  running = await startEmbeddedPostgres({ home, ...options });
  return running;
}

async function query(server: EmbeddedPostgres, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const isNoSocket = (path: string): boolean => !statSync(path).isSocket();

/** What `cp --archive` does: the owner of the data too. */
function copyPostgres(from: string, to: string): void {
  const [own, copied] = [from, to].map((home) => join(home, 'postgres')) as [string, string];
  cpSync(own, copied, { recursive: true, preserveTimestamps: true, filter: isNoSocket });
  const { uid, gid } = statSync(join(own, 'data'));
  if (process.getuid?.() === 0)
    execFileSync('chown', ['-R', `${uid}:${gid}`, join(copied, 'data')]);
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 25_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition did not come true in 25 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('the embedded PostgreSQL', () => {
  beforeAll(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'gridgate-pg-')));
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it(
    'makes its database and listens on a private unix socket only',
    async () => {
      const server = await start();
      expect(server).toMatchObject({
        connection: { port: 5432, user: 'gridgate', database: 'gridgate' },
        adopted: false,
      });
      expect(statSync(server.connection.host).mode & 0o777).toBe(0o700);
      const settings = `SELECT name, setting FROM pg_settings WHERE name IN
      ('fsync', 'listen_addresses', 'jit', 'server_encoding', 'full_page_writes') ORDER BY name`;
      expect(await query(server, settings)).toEqual([
        { name: 'fsync', setting: 'on' },
        { name: 'full_page_writes', setting: 'on' },
        { name: 'jit', setting: 'off' },
        { name: 'listen_addresses', setting: '' },
        { name: 'server_encoding', setting: 'UTF8' },
      ]);
      expect(await query(server, `SELECT 'a' < 'B' AS is_dictionary_order`)).toEqual([
        { is_dictionary_order: false },
      ]);
      await query(server, 'CREATE TABLE kept AS SELECT 1 AS row');
    },
    SLOW_MS,
  );

  it('demands its password, also from who owns the socket', async () => {
    const server = await start();
    const url = server.url.replace(/:[^:@/]+@/, ':guess@');
    await expect(new pg.Client({ connectionString: url }).connect()).rejects.toThrow(
      'password authentication failed for user "gridgate"',
    );
    const password = join(home, 'postgres', 'password');
    expect(statSync(password).mode & 0o777).toBe(0o600);
    expect(readFileSync(password, 'utf8')).toBe(`${server.connection.password}\n`);
  });

  it('closes a data directory of an earlier version, which asked for none', async () => {
    const rules = join(data(), 'pg_hba.conf');
    writeFileSync(rules, readFileSync(rules, 'utf8').replace(/scram-sha-256$/gm, 'trust'));
    unlinkSync(join(home, 'postgres', 'password'));
    const server = await start();
    expect(await query(server, 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
    expect(readFileSync(rules, 'utf8')).not.toMatch(/^local.*trust/m);
    await until(() => readFileSync(join(home, 'logs/postgres.log'), 'utf8').includes('SIGHUP'));
    const url = server.url.replace(/:[^:@/]+@/, ':guess@');
    await expect(new pg.Client({ connectionString: url }).connect()).rejects.toThrow('password');
  });

  it('makes a new password when the file is lost, and says so when it is another one', async () => {
    const password = join(home, 'postgres', 'password');
    writeFileSync(password, 'another\n');
    await expect(startEmbeddedPostgres({ home })).rejects.toThrow(
      `The password in ${password} is not that of the database beside it: remove the file`,
    );
    unlinkSync(password);
    expect(await query(await start(), 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
  });

  it('tells others where it runs, and that it does not', async () => {
    expect(await runningEmbeddedPostgres({ home })).toBeUndefined();
    const server = await start();
    expect(await runningEmbeddedPostgres({ home })).toEqual(server.connection);
    await server.stop();
    expect(await runningEmbeddedPostgres({ home })).toBeUndefined();
    expect(postgresProcesses(data())).toEqual([]);
    expect(readdirSync(join(home, 'postgres')).sort()).toEqual(['data', 'password', 'socket']);
  });

  it('refuses a second launcher on the same home and leaves the first alone', async () => {
    const server = await start();
    await expect(startEmbeddedPostgres({ home })).rejects.toThrow(
      `is run by another process (pid ${process.pid})`,
    );
    expect(await query(server, 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
  });

  it('comes back by itself on the same address when its postmaster is killed', async () => {
    const events: string[] = [];
    const server = await start({
      onExit: (reason) => events.push(reason),
      onRestart: () => events.push('restarted'),
    });
    process.kill(server.pid ?? 0, 'SIGKILL');
    await until(() => events.length === 2);
    expect(events).toEqual(['SIGKILL', 'restarted']);
    expect(await query(server, 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
  });

  it('comes back when its socket was cleaned away', async () => {
    let isBack = false;
    const server = await start({ onRestart: () => (isBack = true) });
    unlinkSync(join(server.connection.host, '.s.PGSQL.5432'));
    await until(() => isBack);
    expect(await query(server, 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
  });

  it('takes over from a PostgreSQL that nobody looks after any more', async () => {
    const layout = await chooseLayout(join(home, 'postgres'));
    const orphan = await PostgresServer.start(layout, {
      socketDirectory: await makeSocketDirectory(layout),
      logPath: join(home, 'logs', 'postgres.log'),
      log: () => undefined,
    });
    expect(await runningEmbeddedPostgres({ home })).toBeDefined();
    const server = await start();
    expect([server.adopted, orphan.pid]).toEqual([true, undefined]);
    expect(await query(server, 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
  });

  it('starts in spite of a lock file that names a stranger, and of drafts of a crash', async () => {
    const lines = [String(process.pid), data(), '1', '5432', '/tmp/none', '', '0 0', 'ready'];
    writeFileSync(join(data(), 'postmaster.pid'), lines.join('\n'));
    writeFileSync(join(home, 'postgres', 'socket', '.s.PGSQL.5432.lock'), `${process.pid}\n`);
    mkdirSync(join(home, 'postgres', 'initdb-0123'));
    expect(await runningEmbeddedPostgres({ home })).toBeUndefined();
    const server = await start();
    expect(server.adopted).toBe(false);
    expect(existsSync(join(home, 'postgres', 'initdb-0123'))).toBe(false);
  });

  it('refuses a data directory of another major version and does not touch it', async () => {
    const path = join(data(), 'PG_VERSION');
    const version = readFileSync(path, 'utf8');
    writeFileSync(path, '12\n');
    try {
      await expect(startEmbeddedPostgres({ home })).rejects.toThrow('was made by PostgreSQL 12');
    } finally {
      writeFileSync(path, version);
    }
    expect(await query(await start(), 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
  });

  it(
    'puts a data directory aside that is none, and finds a short socket for a deep home',
    async () => {
      const deep = join(home, 'd'.repeat(60), 'e'.repeat(60));
      mkdirSync(join(deep, 'postgres', 'data'), { recursive: true });
      writeFileSync(join(deep, 'postgres', 'data', 'precious'), 'x');
      const server = await start({ home: deep });
      expect(Buffer.byteLength(server.connection.host)).toBeLessThan(90);
      expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      const names = readdirSync(join(deep, 'postgres'));
      const aside = names.find((name) => name.startsWith('data.broken-')) ?? '';
      expect(readdirSync(join(deep, 'postgres', aside))).toEqual(['precious']);
      await server.stop();
      expect(existsSync(server.connection.host)).toBe(false);
    },
    SLOW_MS,
  );

  it(
    'runs on a copy of its home beside the original, and leaves the original alone',
    async () => {
      const deep = join(home, 'f'.repeat(60), 'g'.repeat(60)); // its socket lies below /tmp
      copyPostgres(home, deep);
      const original = await startEmbeddedPostgres({ home: deep });
      try {
        await query(original, 'CHECKPOINT');
        const copy = join(home, 'copy');
        copyPostgres(deep, copy);
        const before = original.pid;
        const server = await start({ home: copy });
        expect(await query(server, 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
        expect(await query(original, 'SELECT * FROM kept')).toEqual([{ row: 1 }]);
        expect([server.adopted, original.pid]).toEqual([false, before]);
      } finally {
        await original.stop();
      }
    },
    SLOW_MS,
  );
});
