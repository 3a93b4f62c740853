import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { CommandUser } from '../support/command.js';
import { freePorts } from '../support/ports.mjs';
import { startDebianPostgres, type DebianPostgres } from '../support/database/debian-postgres.mjs';
import { blocksOf, faultsOf, isShown } from '../support/documentation.js';
import { awaitFinal, submit } from '../support/jobs.js';
import { describeWith, has } from '../support/missing.js';
import { runPage, type PageResult } from '../support/page-shell.js';
import { portalTokens, renew } from '../support/portal.js';
import { postgresPrograms } from '../support/programs.mjs';
import { startServerProcess, type ServerProcess } from '../support/server-process.mjs';
import { startOnDatabase, support, type Grid, type GridClient } from '../support/testbed.js';

const PAGE = 'docs/how-to/backup-and-restore.md';
const FINISHED = 12;

const met = postgresPrograms() !== undefined && has('pg_dump') && has('pg_restore');
const databases = describeWith({ met, name: 'PostgreSQL and its client: restore of a backup' });

/** Everything that users can see of a service, to compare two of them. */
async function seen(client: GridClient, jids: number[]): Promise<object> {
  const jobs = await Promise.all(
    jids.map(async (jid) => {
      const [record, manifest, history, output] = await Promise.all(
        ['', '/manifest', '/history', '/outputsandbox'].map((part) =>
          client.get(`/jobs/${jid}${part}`),
        ),
      );
      const hash = createHash('sha256').update(output!.bytes).digest('hex');
      return { record: record!.body, manifest: manifest!.body, history: history!.body, hash };
    }),
  );
  const tree = Buffer.from('/demo').toString('base64url');
  const fields = await client.get('/filecatalogue/metadata');
  const found = await client.get(`/filecatalogue/directory/${tree}/search`);
  return { jobs, fields: fields.body as object, found: found.body as object };
}

databases('a service that is backed up while it works, and restored', () => {
  let postgres: DebianPostgres;
  let original: Grid;
  let restored: Grid | undefined;
  let page: PageResult;
  let folder: string;
  let before: object;
  let finished: number[];
  let tokens: Awaited<ReturnType<typeof portalTokens>>;
  let access: string;
  const env: Record<string, string> = {
    GRID_KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'grid-backup-'));
    postgres = await startDebianPostgres({ user: 'gridgate', password: 'pass word & more' });
    await statement('create database original');
    await statement('create database restored');
    const [port = 0] = await freePorts(1);
    // Both have the address that users know; the original is reached by its own port meanwhile.
    env['GRID_PUBLIC_URL'] = `https://localhost:${port}`;
    const store = join(folder, 'sandboxes');
    const own = { url: postgres.url('original'), name: 'original' };
    const [first = 0] = await freePorts(1);
    original = await startOnDatabase(own, {
      ...env,
      GRID_PORT: String(first),
      GRID_SANDBOX_STORE: store,
    });
    Object.assign(original.server, { url: `https://localhost:${first}` });
    await work();
    const home = join(folder, 'home');
    await cp(join(original.home, 'pki'), join(home, 'pki'), { recursive: true });
    page = await whileWorking(() =>
      runPage(blocksOf(PAGE), {
        gridHome: home,
        port,
        env: {
          ...env,
          GRID_PORT: String(port),
          GRID_DEMO: 'true',
          GRID_SANDBOX_STORE: store,
          NEW_SANDBOX_STORE: join(folder, 'restored'),
          DATABASE_URL: postgres.url('original'),
          NEW_DATABASE_URL: postgres.url('restored'),
        },
      }),
    );
  });

  afterAll(async () => {
    await restored?.stop();
    await original?.stop();
    await postgres?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  async function statement(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.url('postgres') });
    await client.connect();
    await client.query(text);
    await client.end();
  }

  /** What is there before the backup begins. */
  async function work(): Promise<void> {
    const alice = await original.as('alice');
    const manifests = Array.from({ length: FINISHED }, (_, index) => ({
      Executable: '/bin/echo',
      Arguments: `number ${index}`,
      JobName: `before ${index}`,
    }));
    finished = await submit(alice, manifests);
    await awaitFinal(alice, finished);
    tokens = await portalTokens(original, 'alice');
    access = await original.token('alice', 'grid_user');
    await seen(alice, finished); // fetching a sandbox marks it as retrieved
    before = await seen(alice, finished);
  }

  /** Submits go on until the page is at its end. */
  async function whileWorking(run: () => Promise<PageResult>): Promise<PageResult> {
    const alice = await original.as('alice');
    let isOver = false;
    const writer = (async () => {
      const job = { Executable: '/bin/true', JobName: 'meanwhile' };
      while (!isOver) await awaitFinal(alice, await submit(alice, [job, job, job, job]));
    })();
    const result = await run();
    isOver = true;
    await writer;
    return result;
  }

  const again = async (): Promise<Grid> =>
    (restored ??= await startOnDatabase(
      { url: postgres.url('restored'), name: 'restored' },
      {
        ...env,
        GRID_PORT: new URL(env['GRID_PUBLIC_URL'] ?? '').port,
        GRID_SANDBOX_STORE: join(folder, 'restored'),
        GRID_JOB_LEASE: '5', // so soon jobs of the instance that is gone are looked after
      },
    ));

  it('does what its page says, and shows what it says', () => {
    const blocks = blocksOf(PAGE);
    expect(faultsOf(blocks)).toEqual([]);
    expect(page.complaint).toBeUndefined();
    for (const [index, block] of blocks.entries()) {
      if (block.mark?.kind !== 'output') continue;
      const text = page.outputs.get(blocks[index - 1]?.line ?? 0) ?? '';
      const isRight = isShown(block.text, text, block.mark.words === 'exact');
      expect({ line: block.line, text: isRight ? '' : text }).toEqual({
        line: block.line,
        text: '',
      });
    }
  });

  it('has every job, manifest, history and sandbox, and the whole catalogue, as they were', async () => {
    const alice = await (await again()).as('alice');
    expect(await seen(alice, finished)).toEqual(before);
  });

  it('takes the tokens that were given before, and renews them', async () => {
    const grid = await again();
    expect((await grid.bearer(access).get('/jobs')).status).toBe(200);
    expect((await grid.bearer(tokens.access_token).get('/jobs')).status).toBe(200);
    const renewed = await renew(grid, tokens.refresh_token);
    expect({ status: renewed.status, group: renewed.body.group }).toEqual({
      status: 200,
      group: 'grid_user',
    });
    const keys = async (of: Grid) => (await of.anonymous.get('/.well-known/jwks.json')).body;
    expect(await keys(grid)).toEqual(await keys(original));
  });

  it('ends what the dump caught under way, and numbers new jobs behind all of them', async () => {
    const alice = await (await again()).as('alice');
    const { body } = await alice.get<{ jobs: { jid: number; name: string }[] }>('/jobs', {
      query: { maxJobs: 10_000 },
    });
    const jids = body.jobs.map(({ jid }) => jid);
    await awaitFinal(alice, jids);
    const [next = 0] = await submit(alice, [{ Executable: '/bin/true' }]);
    expect(next).toBeGreaterThan(Math.max(...jids));
    await awaitFinal(alice, [next]);
  });
});

describe('a home with the embedded database that is copied while it is stopped', () => {
  const homes: string[] = [];
  let server: ServerProcess | undefined;

  afterAll(async () => {
    await server?.stop();
    for (const home of homes) await rm(home, { recursive: true, force: true });
  });

  it('is a home like the first: same jobs, same login', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'grid-homes-'));
    homes.push(folder);
    const [port = 0] = await freePorts(1);
    const start = (home: string): Promise<ServerProcess> =>
      startServerProcess({
        root: support().root,
        env: { GRID_HOME: home, GRID_PORT: String(port) },
      });
    const [first, second] = [join(folder, 'first'), join(folder, 'second')] as const;
    server = await start(first);
    const user = new CommandUser(folder);
    const pki = (file: string): string => join(first, 'pki', file);
    const words = ['--ca', pki('ca.crt'), '--cert', pki('alice.crt'), '--key', pki('alice.key')];
    const login = await user.run(['login', '--server', server.url, ...words]);
    expect(login).toMatchObject({ code: 0 });
    const job = await user.run(['submit', '--exec', '/bin/echo', '--args', 'kept', '--wait']);
    expect(job).toMatchObject({ code: 0 });
    const before = await user.run(['status', '--json']);
    await server.stop();
    await promisify(execFile)('cp', ['-a', first, second]);
    server = await start(second);
    expect(await user.run(['status', '--json'])).toEqual(before);
    expect(await user.run(['output', '1', '-C', 'output'])).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, 'output/std.out'), 'utf8')).toBe('kept\n');
  });
});
