import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { routes } from '../support/catalogue/http-catalogue.js';
import { CommandUser } from '../support/command.js';
import { startServerProcess } from '../support/server-process.mjs';
import { databaseUrl, eventually, Grid, support } from '../support/testbed.js';

const FILES = 19_800;
const name = `t_${randomBytes(6).toString('hex')}`;
let url: string;
let home: string;
let database: pg.Client;

beforeAll(async () => {
  await onServer(`create database "${name}"`);
  url = databaseUrl(name);
  home = await mkdtemp(join(tmpdir(), 'grid-demo-'));
  await cp(support().pki, join(home, 'pki'), { recursive: true });
  database = new pg.Client({ connectionString: url });
  await database.connect();
});

afterAll(async () => {
  await database?.end();
  await onServer(`drop database if exists "${name}" with (force)`);
  await rm(home, { recursive: true, force: true });
});

async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: support().admin });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

const environment = (): Record<string, string> => ({
  GRID_HOME: home,
  DATABASE_URL: url,
  GRID_PORT: '0',
  GRID_DEMO: 'true',
});

async function demoFiles(): Promise<number> {
  const { rows } = await database.query(
    `select count(*)::integer as n from catalogue_file f join catalogue_directory d on d.id = f.directory_id
     where d.path like '/demo/%'`,
  );
  return (rows as { n: number }[])[0]?.n ?? 0;
}

describe('a first start that is killed while it loads the demo catalogue', () => {
  it('is completed by the next one', async () => {
    const killed = spawn(process.execPath, [join(support().root, 'dist/src/main.js')], {
      env: { PATH: process.env['PATH'], ...environment() },
      stdio: 'ignore',
    });
    const loaded = await eventually(
      async () => (await demoFiles().catch(() => 0)) || false,
      'the first files of the demo catalogue',
      60_000,
    );
    killed.kill('SIGKILL');
    if (killed.exitCode === null && killed.signalCode === null) await once(killed, 'exit');
    expect(loaded).toBeLessThan(FILES);

    const server = await startServerProcess({ root: support().root, env: environment() });
    const ca = await readFile(join(home, 'pki/ca.crt'), 'utf8');
    const grid = new Grid(server, home, { url, name }, ca, {});
    try {
      expect(await demoFiles()).toBe(FILES);
      const alice = await grid.as('alice');
      const { body } = await alice.get(`${routes.directory('/demo')}/search`);
      expect(body.f).toBe(FILES);
      const { body: small } = await alice.get(`${routes.directory('/vo/a')}/search`);
      expect(small).toMatchObject({ f: 3, s: 60 });
      const { code, stdout } = await new CommandUser(home).run(['catalogue', 'verify', '--json'], {
        DATABASE_URL: url,
        GRID_HOME: home,
      });
      expect([code, JSON.parse(stdout).descriptions]).toEqual([0, []]);
    } finally {
      await grid.stop();
    }
  });
});
