import { encodePath, type GridClient } from 'gridgate/client';
import { h, say } from '../parts/dom.js';
import { bytes, count, plural } from '../parts/format.js';
import { conditionsOf, queryOf, type CataloguePlace } from './catalogue-place.js';
import { facetList } from './facets.js';
import { fileSection } from './catalogue-file.js';
import type { Page } from './page.js';

const SHOWN = 200;

/** The catalogue: facets on one side, on the other what is found, or what is in the directory. */
export const cataloguePage: Page = async ({ client, root, query, signal }) => {
  const place = queryOf(query);
  const file = query.get('file');
  const [facets, found] = await Promise.all([
    facetList(client, place, signal),
    file !== null
      ? fileSection(client, file, signal)
      : Object.keys(place.chosen).length > 0
        ? searchResults(client, place, signal)
        : directoryContents(client, place, signal),
  ]);
  const hadFocus = document.activeElement?.id;
  root.replaceChildren(
    h('div', { class: 'head' }, h('h1', {}, 'File catalogue')),
    crumbs(place),
    h(
      'div',
      { class: 'catalogue' },
      facets,
      h('section', { class: 'found', 'aria-label': 'Found' }, found),
    ),
  );
  if (hadFocus) document.getElementById(hadFocus)?.focus();
};

function crumbs(place: CataloguePlace): HTMLElement {
  const names = place.at.split('/').filter((name) => name !== '');
  const steps = [
    { name: 'Catalogue', path: '/' },
    ...names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` })),
  ];
  return h(
    'nav',
    { 'aria-label': 'Directory', class: 'crumbs' },
    h(
      'ol',
      {},
      steps.map(({ name, path }) => h('li', {}, h('a', { href: place.hash({ at: path }) }, name))),
    ),
  );
}

interface FoundLine {
  path: string;
  files: number;
  size: number;
}

async function searchResults(
  client: GridClient,
  place: CataloguePlace,
  signal: AbortSignal,
): Promise<HTMLElement[]> {
  const lines = await search(client, place, signal);
  const top = lines.filter(({ path }) => !lines.some((other) => path.startsWith(`${other.path}/`)));
  const files = top.reduce((sum, line) => sum + line.files, 0);
  const size = top.reduce((sum, line) => sum + line.size, 0);
  const total = lines.length === 1 ? '1 directory' : `${count(lines.length)} directories`;
  const summary = `${total}, ${plural(files, 'file')}, ${bytes(size)}`;
  say(`Found ${summary}`);
  const rows = lines
    .slice(0, SHOWN)
    .map((line) =>
      h(
        'li',
        {},
        h('a', { class: 'file', href: place.hash({ at: line.path, chosen: {} }) }, line.path),
        h('span', { class: 'soft' }, `${plural(line.files, 'file')}, ${bytes(line.size)}`),
      ),
    );
  return [
    h('h2', { id: 'total' }, summary),
    h('ul', { class: 'files' }, rows),
    ...(lines.length > SHOWN ? [h('p', { class: 'soft' }, `The first ${SHOWN} are shown.`)] : []),
  ];
}

/** Every directory that matches, a line each: the stream of the service, not its tree. */
async function search(
  client: GridClient,
  place: CataloguePlace,
  signal: AbortSignal,
): Promise<FoundLine[]> {
  const request = {
    method: 'GET',
    path: `/filecatalogue/directory/${encodePath(place.at)}/search`,
    query: { conditions: conditionsOf(place.chosen) },
    answer: 'json',
  } as const;
  const headers = { Accept: 'application/x-ndjson' };
  const { answer } = await client.raw(request, { headers, signal });
  const text = await answer.text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FoundLine);
}

async function directoryContents(
  client: GridClient,
  place: CataloguePlace,
  signal: AbortSignal,
): Promise<HTMLElement[]> {
  const contents = await client.listDirectory(encodePath(place.at), { limit: SHOWN }, { signal });
  const base = place.at === '/' ? '' : place.at;
  const directories = Object.keys(contents.SubDirs);
  const files = Object.entries(contents.Files);
  const rows = [
    ...directories.map((name) =>
      h(
        'li',
        {},
        h('a', { class: 'file', href: place.hash({ at: `${base}/${name}` }) }, `${name}/`),
      ),
    ),
    ...files.map(([name, { MetaData }]) =>
      h(
        'li',
        {},
        h(
          'a',
          {
            class: 'file',
            href: `${place.hash({})}&file=${encodeURIComponent(`${base}/${name}`)}`,
          },
          name,
        ),
        h('span', { class: 'soft' }, bytes(MetaData.Size)),
      ),
    ),
  ];
  const isPart = rows.length >= SHOWN;
  return [
    h('h2', { id: 'total' }, place.at),
    rows.length === 0
      ? h('p', { class: 'empty' }, 'Nothing here.')
      : h('ul', { class: 'files' }, rows),
    ...(isPart ? [h('p', { class: 'soft' }, `The first ${SHOWN} entries are shown.`)] : []),
  ];
}
