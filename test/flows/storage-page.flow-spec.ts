import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { blocksOf, faultsOf, isShown } from '../support/documentation.js';
import { describeOn, describeWith, has } from '../support/missing.js';
import { runPage, type PageResult } from '../support/page-shell.js';
import { freePorts } from '../support/ports.mjs';
import { namespaces, packages } from '../support/storage/xrootd-storage.js';
import { databaseUrl, onServer } from '../support/testbed.js';

const PAGE = 'docs/how-to/storage.md';
const XROOTD = fileURLToPath(new URL('../support/storage/own-network-xrootd.mjs', import.meta.url));
const clients = {
  met: packages.met && ['gfal-copy', 'davix-get', 'rclone'].every(has),
  name: `${packages.name}, gfal2-util-scripts, gfal2-plugin-http, davix, rclone, python3-venv`,
};

const hasPackages = describeWith(clients);
const withStorages = hasPackages === describe ? describeOn(namespaces) : hasPackages;

withStorages('storage servers, as their page says', () => {
  const blocks = blocksOf(PAGE);
  const name = `t_page_${randomBytes(6).toString('hex')}`;
  let gridHome: string;
  let programs: string;
  let result: PageResult;
  beforeAll(async () => {
    gridHome = await mkdtemp(join(tmpdir(), 'grid-home-'));
    programs = await mkdtemp(join(tmpdir(), 'grid-programs-'));
    await symlink(XROOTD, join(programs, 'xrootd'));
    await onServer(`create database "${name}" template template_grid`);
    const ending = new AbortController();
    const aging = ageFiles(ending.signal);
    const [port = 0, a, b, s3] = await freePorts(4);
    const own = { GRID_PORT: `${port}`, DATABASE_URL: databaseUrl(name), GRID_DEMO: 'true' };
    const env = { ...own, A: `localhost:${a}`, B: `localhost:${b}`, STORE: `localhost:${s3}` };
    try {
      result = await runPage(blocks, { gridHome, port, programs, env, deadlineMs: 200_000 });
    } finally {
      ending.abort();
      await aging;
    }
  });
  afterAll(async () => {
    await onServer(`drop database if exists "${name}" with (force)`);
    for (const each of [gridHome, programs]) await rm(each, { recursive: true, force: true });
  });

  /** Files of the database are always two hours old, so that bytes need not be waited for. */
  async function ageFiles(signal: AbortSignal): Promise<void> {
    const client = new pg.Client({ connectionString: databaseUrl(name) });
    await client.connect();
    while (!signal.aborted) {
      await client.query(
        `update catalogue_file set created_at = now() - interval '2 hours'
         where stored is not null and created_at > now() - interval '1 hour'`,
      );
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    await client.end();
  }

  it('start, have the pictures of ten jobs, and serve a workflow', () => {
    expect(faultsOf(blocks)).toEqual([]);
    expect(result.complaint).toBeUndefined();
    for (const [index, { mark, text, line }] of blocks.entries()) {
      if (mark?.kind !== 'output') continue;
      const told = result.outputs.get(blocks[index - 1]?.line ?? 0) ?? '';
      const matches = isShown(text, told, mark.words === 'exact');
      expect({ line, text: matches ? text : told }).toEqual({ line, text });
    }
    const jobs = ['draw-s3.json', 'draw.json', 'draw.sh'];
    expect(result.left).toEqual(['.snakemake/', 'Snakefile', ...jobs, 'storage/']);
  });
});
