import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { freePorts } from '../support/ports.mjs';
import { blocksOf, faultsOf, isShown } from '../support/documentation.js';
import { startIdProvider, type TestIdProvider } from '../support/id-provider.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { runPage, type PageResult, type PageSetting } from '../support/page-shell.js';
import { databaseUrl, startGrid, support, type Grid, onServer } from '../support/testbed.js';

/** Pages whose commands are run, and how. Those of `docs/client.md` are run by client-examples.api-spec.ts. */
const FIRST = ['README.md', 'docs/tutorial-portal.md', 'examples/portal/README.md'];
const SECOND = [
  'docs/tutorial-scientist.md',
  'docs/registry.md',
  'docs/administration.md',
  'docs/how-to/migrate-from-restdirac.md',
  'docs/how-to/add-a-site.md',
  'docs/how-to/operate.md',
  'docs/how-to/wait-for-other-jobs.md',
  'docs/how-to/from-slurm.md',
];
const DEPLOY = 'docs/how-to/deploy.md';
const PROVIDER = 'docs/how-to/connect-an-identity-provider.md';
const PAGES = [...FIRST, ...SECOND, DEPLOY, PROVIDER];
/** Pages whose commands other tests run. */
const ELSEWHERE = [
  'docs/how-to/everyday-tasks.md',
  'docs/client.md',
  'docs/how-to/backup-and-restore.md',
  'docs/how-to/open-a-storage.md',
  'docs/how-to/storage.md',
];
/** Pages with blocks that are read, not run. */
const READ_ONLY = [
  'docs/deployment.md',
  'docs/command.md',
  'docs/ARCHITECTURE.md',
  'docs/how-to/kubernetes.md',
  'docs/how-to/register-an-application.md',
  'docs/how-to/sign-in-with-openid-connect.md',
  'docs/how-to/webhooks.md',
  'docs/tokens.md',
  'docs/audit.md',
];

const RUN = new Set(['sh', 'bash', 'js', 'ts', 'python']);

const blocks = new Map(PAGES.map((page) => [page, blocksOf(page)]));
const results = new Map<string, PageResult>();
const closers: (() => Promise<unknown>)[] = [];

async function opened<T>(what: Promise<T>, close: (it: T) => Promise<unknown>): Promise<T> {
  const it = await what;
  closers.unshift(() => close(it));
  return it;
}

function demo(grid: Grid, env: Record<string, string> = {}): PageSetting {
  return {
    gridHome: grid.home,
    port: Number(new URL(grid.url).port),
    env: { DATABASE_URL: grid.database.url, ...env },
    visit: (address) => visitPortal(grid, address),
  };
}

/** Does what a visitor of the portal does: goes to the grid, allows, comes back and reads. */
async function visitPortal(grid: Grid, address: string): Promise<void> {
  const portal = new Agent();
  try {
    const begun = await request(address, { dispatcher: portal });
    await begun.body.dump();
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const place = new URL(String(begun.headers['location']));
    const page = await visitor.open(`${place.pathname}${place.search}`);
    expect(page.body).toContain('My portal');
    const allowed = await visitor.send(formOf(page.body), { decision: 'allow' });
    const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? '';
    const back = String(allowed.headers['location']);
    const shown = await request(back, { dispatcher: portal, headers: { cookie } });
    expect(await shown.body.text()).toMatch(/^job \d+: hello from /);
  } finally {
    await portal.close();
  }
}

/** Pages on one demo server, one after the other. */
async function onGrid(pages: string[]): Promise<void> {
  const grid = await opened(startGrid(), (it) => it.remove());
  const env = { PORT: String((await freePorts(1))[0]), GRID: grid.url };
  for (const page of pages) await run(page, demo(grid, env));
}

/** A page that starts a server of its own, on a copy of a database. */
async function onDatabase(
  page: string,
  template: string,
  env: Record<string, string>,
): Promise<void> {
  const { pki } = support();
  const name = `t_page_${randomBytes(6).toString('hex')}`;
  await onServer(`create database "${name}" template ${template}`);
  closers.unshift(() => onServer(`drop database "${name}" with (force)`));
  const gridHome = await mkdtemp(join(tmpdir(), 'grid-home-'));
  closers.unshift(() => rm(gridHome, { recursive: true, force: true }));
  await cp(pki, join(gridHome, 'pki'), { recursive: true });
  const [port = 0] = await freePorts(1);
  const own = { GRID_PORT: String(port), DATABASE_URL: databaseUrl(name), ...env };
  await run(page, { gridHome, port, env: own });
}

async function run(page: string, setting: PageSetting): Promise<void> {
  results.set(page, await runPage(blocks.get(page) ?? [], setting));
}

async function onProvider(): Promise<void> {
  const pki: TestPki = await opened(createTestPki(), (it) => it.remove());
  const idp: TestIdProvider = await opened(startIdProvider(pki), (it) => it.stop());
  await onDatabase(PROVIDER, 'template_grid', {
    GRID_DEMO: 'true',
    ISSUER: idp.issuer,
    CLIENT_ID: 'conf',
    CLIENT_SECRET: 'secret of conf: 100% & more',
    REQUESTS_CA_BUNDLE: pki.ca.certPath,
  });
}

beforeAll(async () => {
  await Promise.all([
    onGrid(FIRST).then(() => onDatabase(DEPLOY, 'template0', {})),
    onGrid(SECOND),
    onProvider(),
  ]);
});

afterAll(async () => {
  for (const close of closers) await close();
});

describe('the documentation', () => {
  it('has a mark at every block that a reader would run', () => {
    expect([...blocks.values()].flatMap(faultsOf)).toEqual([]);
  });

  it('is complete: no page with commands is forgotten', () => {
    const pages = ['docs', 'docs/how-to', 'docs/explanation'].flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
    );
    const known = new Set([...PAGES, ...READ_ONLY, ...ELSEWHERE]);
    const forgotten = pages.filter(
      (page) => !known.has(page) && blocksOf(page).some(({ language }) => RUN.has(language)),
    );
    expect(forgotten).toEqual([]);
  });

  it('may write npx before the command in a checkout', async () => {
    const { root } = support();
    const look = promisify(execFile)('npx', ['--offline', 'gridgate', '--version'], { cwd: root });
    expect((await look).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each(PAGES)('%s: what a reader has written is not taken for a part of the project', (page) => {
    const left = results.get(page)?.left ?? [];
    const words = ['check-ignore', '--no-index', '--', ...left];
    const ignored = left.length === 0 ? '' : spawnSync('git', words, { encoding: 'utf8' }).stdout;
    expect(ignored.split('\n').filter(Boolean).sort()).toEqual(left);
  });

  it.each(PAGES)('%s: every command succeeds and shows what the page says', (page) => {
    const { outputs, complaint } = results.get(page) ?? {};
    expect(complaint).toBeUndefined();
    const own = blocks.get(page) ?? [];
    for (const [index, block] of own.entries()) {
      if (block.mark?.kind !== 'output') continue;
      const text = outputs?.get(own[index - 1]?.line ?? 0) ?? '';
      const matches = isShown(block.text, text, block.mark.words === 'exact');
      expect({ line: block.line, text: matches ? block.text : text }).toEqual({
        line: block.line,
        text: block.text,
      });
    }
  });
});
