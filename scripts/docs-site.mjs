/**
 * npm run docs:site [FOLDER]: writes the site of documentation into a folder of its version below reports/site (or
 * FOLDER). Versions that lie there stay and are named by all. A link that leads nowhere is named, and nothing is written.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import semver from 'semver';
import { apiPages } from './documentation/api-pages.mjs';
import { addressOf } from './documentation/contents.mjs';
import { entryOf, pageOf } from './documentation/layout.mjs';
import { pythonPages } from './documentation/python-pages.mjs';
import { searchIndex } from './documentation/search-index.mjs';
import { siteOf } from './documentation/site.mjs';
import { typescriptPages } from './documentation/typescript-pages.mjs';
import { root } from './run.mjs';

const read = (path) => readFileSync(join(root, path), 'utf8');
const { version } = JSON.parse(read('package.json'));
const target = resolve(process.argv[2] ?? join(root, 'reports/site'));

/** Pages that are written by hand. */
function written() {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true }).map((path) => `docs/${path}`);
  const beside = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
  const ofParts = ['bench', 'examples/portal', 'packages/gridgate-client'];
  return [
    ...beside,
    ...[...ofParts, 'packages/gridgate-oauth2', 'python'].map((folder) => `${folder}/README.md`),
    ...inDocs.filter((path) => path.endsWith('.md')),
  ].map((path) => [path, read(path)]);
}

async function sources() {
  return new Map([
    ...written(),
    ...apiPages(JSON.parse(read('docs/openapi.json'))),
    ...pythonPages(root),
    ...(await typescriptPages()),
  ]);
}

async function writeSite({ pages, assets }) {
  const folder = join(target, version);
  rmSync(folder, { recursive: true, force: true });
  const titles = new Map(pages.map(({ source, title }) => [source, title]));
  const write = (path, text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const page of pages) write(page.address, pageOf(page, { titles, version }));
  write('search.json', searchIndex(pages));
  for (const path of assets) cpSync(join(root, path), join(folder, addressOf(path)));
  cpSync(join(root, 'scripts/documentation/site.css'), join(folder, 'assets/site.css'));
  cpSync(join(root, 'examples/portal/icon.svg'), join(folder, 'assets/icon.svg'));
  await build({
    entryPoints: [join(root, 'scripts/documentation/browser.mjs')],
    outfile: join(folder, 'assets/site.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    logLevel: 'warning',
  });
  const versions = readdirSync(target).filter((name) => semver.valid(name));
  const newestFirst = versions.sort(semver.rcompare);
  writeFileSync(join(target, 'versions.json'), JSON.stringify(newestFirst));
  writeFileSync(join(target, 'index.html'), entryOf(newestFirst[0]));
}

const site = siteOf(await sources(), (path) => existsSync(join(root, path)));
if (site.faults.length > 0) {
  process.stderr.write(`${site.faults.join('\n')}\n`);
  process.exitCode = 1;
} else {
  await writeSite(site);
  process.stdout.write(`${site.pages.length} pages of ${version}: ${join(target, 'index.html')}\n`);
}
