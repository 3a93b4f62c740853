import { readdir, readFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { CommandUser } from '../support/command.js';
import {
  databaseUrl,
  eventually,
  onServer,
  startOnDatabase,
  support,
  type Grid,
} from '../support/testbed.js';

/** What version 0.1.0 left: its database as SQL, and its sandbox store. */
const LEFT = 'test/support/upgrade';

let grid: Grid;
let name: string;
let home: string;

beforeAll(async () => {
  name = `t_upgrade_${randomBytes(4).toString('hex')}`;
  await onServer(`create database "${name}" template template0`);
  const url = databaseUrl(name);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(await readFile(join(support().root, LEFT, '0.1.0.sql'), 'utf8'));
  await client.end();
  home = await mkdtemp(join(tmpdir(), 'grid-upgrade-'));
  const store = join(home, 'sandboxes');
  for (const file of await readdir(join(support().root, LEFT, 'sandboxes'))) {
    await mkdir(join(store, file.slice(0, 2)), { recursive: true });
    await cp(join(support().root, LEFT, 'sandboxes', file), join(store, file.slice(0, 2), file));
  }
  grid = await startOnDatabase({ url, name }, { GRID_DEMO: 'false', GRID_SANDBOX_STORE: store });
});

afterAll(async () => {
  await grid?.remove();
  if (home) await rm(home, { recursive: true, force: true });
});

interface Listed {
  jid: number;
  status: string;
  name: string;
}

describe('a database of version 0.1.0', () => {
  it('has all its jobs, and runs the one that waited', async () => {
    const alice = await grid.as('alice');
    const jobs = await eventually(async () => {
      const { body } = await alice.get<{ entries: number; jobs: Listed[] }>('/jobs');
      return body.jobs.every(({ status }) => status === 'Done') && body;
    }, 'job 5 to end');
    expect(jobs.entries).toBe(5);
    expect(jobs.jobs.map(({ jid, status, name: title }) => [jid, status, title])).toEqual([
      [5, 'Done', 'waits'],
      [4, 'Done', 'sweep_2'],
      [3, 'Done', 'sweep_1'],
      [2, 'Done', 'sweep_0'],
      [1, 'Done', 'first'],
    ]);
  });

  it('has manifests, histories and sandboxes as they were', async () => {
    const alice = await grid.as('alice');
    const manifest = await alice.get('/jobs/3/manifest');
    expect(manifest.body).toMatchObject({ Executable: '/bin/echo', JobName: 'sweep_1' });
    const history = await alice.get<{ history: { status: string }[] }>('/jobs/1/history');
    expect(history.body.history.at(-1)).toMatchObject({ status: 'Done' });
    const output = await alice.get('/jobs/1/outputsandbox/files/std.out');
    expect({ status: output.status, text: output.bytes.toString() }).toEqual({
      status: 200,
      text: 'hello\n',
    });
    const after = await alice.get('/jobs/5/outputsandbox/files/std.out');
    expect(after.bytes.toString()).toBe('after the upgrade\n');
  });

  it('knows what jobs ask for, which 0.1.0 had in manifests alone', async () => {
    const client = new pg.Client({ connectionString: grid.database.url });
    await client.connect();
    const { rows } = await client.query<Record<string, number>>(
      'select jid::integer, processors, max_ram_mb from jobs where jid < 6 order by jid',
    );
    await client.end();
    expect(rows).toEqual([
      { jid: 1, processors: 3, max_ram_mb: 4096 },
      { jid: 2, processors: 1, max_ram_mb: 0 },
      { jid: 3, processors: 2, max_ram_mb: 0 },
      { jid: 4, processors: 1, max_ram_mb: 0 },
      { jid: 5, processors: 1, max_ram_mb: 0 },
    ]);
  });

  it('is of this version to the doctor', async () => {
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url };
    const { stdout } = await new CommandUser(home).run(['doctor'], env);
    expect(stdout).toMatch(/^ok +schema +the schema is of this version \(2 migrations\)$/m);
  });

  it('gives new jobs numbers that follow', async () => {
    const alice = await grid.as('alice');
    const made = await alice.post('/jobs', { json: { Executable: '/bin/true' } });
    expect(made.body).toMatchObject({ jids: [6] });
  });

  it('has its catalogue, whose totals are exact', async () => {
    const fred = await grid.as('fred');
    const found = await fred.get(
      `/filecatalogue/directory/${Buffer.from('/vo').toString('base64url')}/search`,
      {
        query: { energy: '=|40' },
      },
    );
    expect(found.body).toEqual({
      f: 0,
      s: 0,
      d: { a: { f: 2, s: 5555, d: { run1: { f: 2, s: 5555 } } } },
    });
    const user = new CommandUser(home);
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url };
    expect(await user.run(['catalogue', 'verify', '--json'], env)).toMatchObject({ code: 0 });
  });
});
