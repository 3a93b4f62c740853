import { h } from '../parts/dom.js';
import { faultBox } from '../parts/pieces.js';
import { directoryForms, fileForms, type Changed } from './catalogue/change.js';
import { facetList } from './catalogue/facets.js';
import { fileSection } from './catalogue/file.js';
import { Listing } from './catalogue/listing.js';
import { queryOf, type CataloguePlace } from './catalogue/place.js';
import { registerForms } from './catalogue/register.js';
import { searchResults } from './catalogue/results.js';
import type { Page, PageInput } from './page.js';

/** The catalogue: facets on one side, on the other what is found, or what is in the directory. */
export const cataloguePage: Page = async (input) => {
  const { client, root, query, signal } = input;
  const place = queryOf(query);
  const file = query.get('file');
  const isSearch = Object.keys(place.chosen).length > 0;
  // What is wrong with one half hides the other one not: it may be where it is mended.
  const [facets, found] = await Promise.all([
    facetList(client, place, signal).catch(fault),
    (file !== null
      ? fileAt(input, place, file)
      : isSearch
        ? searchResults(client, place, signal)
        : contents(input, place)
    ).catch((error: unknown) => [fault(error)]),
  ]);
  if (signal.aborted) return;
  const clear = h('a', { class: 'button plain small', href: place.hash({ chosen: {} }) }, 'Clear');
  const run = h(
    'a',
    { class: 'button plain', href: place.hash({}).replace('#/catalogue', '#/run') },
    'Run on these',
  );
  const noRun = h('small', { class: 'soft' }, 'To run a job on files, open a directory first.');
  const hasFault = facets.classList.contains('fault');
  root.replaceChildren(
    h(
      'div',
      { class: 'head' },
      h('h1', {}, 'File catalogue'),
      isSearch && hasFault && clear,
      input.may('jobs:submit') && file === null && (place.at === '/' ? noRun : run),
    ),
    crumbs(place),
    h(
      'div',
      { class: 'catalogue' },
      facets,
      h('section', { class: 'found', 'aria-label': 'Found' }, found),
    ),
  );
};

function fault(error: unknown): HTMLElement {
  return faultBox(error);
}

/** What is in the directory, and the forms to add to it. */
async function contents(input: PageInput, place: CataloguePlace): Promise<HTMLElement[]> {
  const { client, signal } = input;
  const listing = new Listing(client, place, signal);
  await listing.begin();
  const mayWrite = input.may('catalogue:write') && place.at !== '/';
  return [
    h('h2', { id: 'total' }, place.at),
    ...listing.elements,
    ...(mayWrite
      ? [
          registerForms(client, { at: place.at, signal }, () => show(input)),
          directoryForms(
            client,
            changedAt(input, place.at, (at) => place.hash({ at })),
          ),
        ]
      : []),
  ];
}

/** What is known of a file, and the forms to change it. */
async function fileAt(
  input: PageInput,
  place: CataloguePlace,
  file: string,
): Promise<HTMLElement[]> {
  const { client, signal } = input;
  const found = await fileSection(client, file, signal);
  if (!input.may('catalogue:write')) return found;
  const hashOf = (path: string): string =>
    path === place.at || file.startsWith(`${path}/`)
      ? place.hash({ at: path })
      : `${place.hash({})}&file=${encodeURIComponent(path)}`;
  return [...found, fileForms(client, changedAt(input, file, hashOf))];
}

function changedAt(input: PageInput, path: string, hashOf: (path: string) => string): Changed {
  return {
    path,
    stays: () => show(input),
    leaves: (to) => (location.hash = hashOf(to)),
  };
}

function show(input: PageInput): void {
  cataloguePage(input).catch(() => undefined);
}

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
