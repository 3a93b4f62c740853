/**
 * One PostgreSQL for the whole run, which demands a password (database/test-database.mjs), and in it a template database: migrated, with the demo registry and
 * the demo catalogue. Every test server gets a copy of its own.
 */
import { mkdtemp, mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startTestDatabase } from './database/test-database.mjs';
import { startServerHosts } from './server-hosts.mjs';
import { startServerProcess } from './server-process.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export default async function setUp({ maxWorkers }, { displayName }) {
  const entry = join(root, 'dist/src/main.js');
  if (!existsSync(entry)) throw new Error('dist/ is missing: npm run build');
  const home = await mkdtemp(join(tmpdir(), 'gridgate-test-'));
  const postgres = await startTestDatabase({ home });
  globalThis.gridTestPostgres = postgres;
  globalThis.gridTestHome = home;
  const url = postgres.urlOf;
  // Nobody needs this database after a crash of the machine.
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    await sql(url('postgres'), `alter system set ${name} = off`);
  }
  await sql(url('postgres'), 'select pg_reload_conf()');
  await sql(url('postgres'), 'create database template_grid');
  const pki = join(home, 'pki');
  await mkdir(pki, { recursive: true });
  const server = await startServerProcess({
    root,
    env: {
      GRID_HOME: home,
      DATABASE_URL: url('template_grid'),
      GRID_DEMO: 'true',
      GRID_PORT: '0',
      GRID_ROLE: 'api',
    },
  });
  await server.stop();
  // however long the run takes, no key becomes old enough for signing in its middle: they all are
  for (const table of ['signing_key', 'id_token_key']) {
    await sql(
      url('template_grid'),
      `update ${table} set created_at = created_at - interval '1 hour',
        active_from = active_from - interval '1 hour'`,
    );
  }
  // Flows are about processes: each server of theirs has its own.
  const hasHosts = displayName?.name !== 'flows';
  if (hasHosts) globalThis.gridTestHosts = await startServerHosts(home, maxWorkers);
  process.env.GRID_TEST_SUPPORT = JSON.stringify({
    ...(hasHosts && { hosts: home }),
    root,
    home,
    admin: url('postgres'),
    pki,
    url: url('DATABASE'),
    pooler: postgres.pooler,
  });
}

async function sql(connection, text) {
  const client = new pg.Client({ connectionString: connection });
  await client.connect();
  await client.query(text);
  await client.end();
}
