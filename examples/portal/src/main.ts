import { GridError, parseJson, type Application } from 'gridgate/client';
import { byId, h, update } from './parts/dom.js';
import { openPalette, type Command } from './parts/palette.js';
import { faultBox } from './parts/pieces.js';
import { adminPage } from './pages/admin.js';
import { arrayPage } from './pages/array.js';
import { cataloguePage } from './pages/catalogue.js';
import { comparePage } from './pages/compare.js';
import { jobPage } from './pages/job.js';
import { jobsPage } from './pages/jobs.js';
import type { Page } from './pages/page.js';
import { runPage } from './pages/run.js';
import { submitPage } from './pages/submit.js';
import { usagePage } from './pages/usage.js';
import { webhooksPage } from './pages/webhooks.js';
import { showWelcome } from './pages/welcome.js';
import { Session } from './session.js';

/** A page, the scope without which there is nothing to do on it, for whom it is, and whether it stands in the bar. */
interface Entry {
  name: string;
  title: string;
  page: Page;
  scope?: string;
  isForAdministrators?: true;
  isElsewhere?: true;
}

const PAGES: Entry[] = [
  { name: 'jobs', title: 'Jobs', page: jobsPage },
  { name: 'submit', title: 'New job', page: submitPage, scope: 'jobs:submit' },
  { name: 'catalogue', title: 'Catalogue', page: cataloguePage },
  { name: 'usage', title: 'Usage', page: usagePage },
  { name: 'webhooks', title: 'Webhooks', page: webhooksPage, scope: 'webhooks' },
  { name: 'admin', title: 'Administration', page: adminPage, isForAdministrators: true },
  { name: 'run', title: 'Run on files', page: runPage, scope: 'jobs:submit', isElsewhere: true },
  { name: 'compare', title: 'Two jobs', page: comparePage, isElsewhere: true },
  { name: 'arrays', title: 'Array', page: arrayPage, isElsewhere: true },
];
/** Everything of the portal lives below this path. */
const HOME = new URL('.', location.href).pathname;

let leave = new AbortController();
let shown: string | undefined;
/** Whether who is signed in may administer the service, as far as it is known. */
let isAdministrator = false;

async function start(): Promise<void> {
  const answer = await fetch('./config.json');
  const application = parseJson(await answer.text()) as unknown as Application;
  if (new URL(application.redirectUri).origin !== location.origin) {
    location.replace(application.redirectUri); // another name of this host: the service answers only its own
    return;
  }
  const session = new Session(application, (fault) => void show(session, fault));
  const fault = await takeAnswer(session);
  if (fault === 'left') return;
  await session.join();
  window.addEventListener('hashchange', () => {
    // A question of the page that was left is not answered on another one.
    document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
    void show(session);
  });
  window.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (session.who) openCommands(session);
  });
  await show(session, fault);
}

/** The browser may come from the service. Answers a fault, or `left` when it is on its way there again. */
async function takeAnswer(session: Session): Promise<unknown> {
  const query = new URLSearchParams(location.search);
  if (!query.has('state')) return undefined;
  try {
    const back = await session.complete(query);
    if (back === undefined) return 'left';
    history.replaceState(null, '', `${HOME}${back}`);
    return undefined;
  } catch (error) {
    history.replaceState(null, '', HOME);
    return error instanceof GridError && error.code === 'access_denied'
      ? new Error('You have not allowed the portal to act for you, so there is nothing to show.')
      : error;
  }
}

async function show(session: Session, fault?: unknown): Promise<void> {
  leave.abort();
  leave = new AbortController();
  const root = byId('main');
  const { who } = session;
  showBar(session);
  void noteAdministrator(session);
  root.ariaBusy = null;
  if (!who) {
    shown = undefined;
    const back = location.hash;
    showWelcome(root, () => void session.signIn(back === '' ? '#/jobs' : back), fault);
    return;
  }
  const [address = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name = '', ...path] = address.split('/').map(decoded);
  const entry = PAGES.find((page) => page.name === (name || 'jobs'));
  if (!entry) {
    shown = address;
    root.replaceChildren(
      h('h1', {}, 'No such page'),
      h('p', {}, h('a', { href: '#/jobs' }, 'Go to your jobs')),
    );
    return;
  }
  const page = entry.name === 'jobs' && path[0] ? jobPage : entry.page;
  const isSame = shown === address;
  const focused = document.activeElement;
  shown = address;
  const title = page === jobPage ? 'Job' : entry.title;
  document.title = `${[title, path[0]].filter(Boolean).join(' ')} · Grid portal`;
  const { signal } = leave;
  for (const left of root.children) left.toggleAttribute('inert', true); // what is shown until the page has come
  root.ariaBusy = 'true';
  try {
    const may = (scope: string): boolean => mayWith(who.scope, scope);
    const asked = { root, path, query: new URLSearchParams(query) };
    const administration = {
      isPossible: () => session.mayAdminister(),
      begin: () => session.beginAdministration(location.hash),
      end: () => session.endAdministration('#/jobs'),
    };
    const input = { client: session.client, ...asked, signal, user: who.user, may, administration };
    await page(input);
  } catch (error) {
    if (signal.aborted) return;
    shown = undefined; // whatever comes here next is a new page
    root.replaceChildren(h('h1', {}, entry.title), faultBox(error));
    if (mayPass(error)) {
      root.append(h('button', { type: 'button', onClick: () => void show(session) }, 'Try again'));
    }
  }
  if (signal.aborted) return;
  root.ariaBusy = null;
  focusAgain(root, focused, isSame);
}

/**
 * A new page has the focus, one that was drawn anew what had it before; what somebody went to while the page was loading
 * keeps it.
 */
function focusAgain(root: HTMLElement, before: Element | null, isSame: boolean): void {
  const now = document.activeElement;
  const hasMoved = now !== document.body && now !== before && (!now?.id || now.id !== before?.id);
  if (hasMoved) return;
  if (!isSame) {
    root.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  } else if (before?.id) document.getElementById(before.id)?.focus({ preventScroll: true });
}

/** Whether the same may be answered well in a while. */
function mayPass(error: unknown): boolean {
  return error instanceof GridError && ([0, 429].includes(error.status) || error.status >= 500);
}

/** Whether a token of that scope is good for a page. */
function mayWith(scope: string, needed: string | undefined): boolean {
  return needed === undefined || scope.split(' ').includes(needed);
}

/** Whether the bar and the palette have it. */
function isOffered({ scope, isElsewhere, isForAdministrators }: Entry, granted: string): boolean {
  if (isElsewhere || (isForAdministrators && !isAdministrator)) return false;
  return mayWith(granted, scope);
}

/** The service is asked once; the bar is drawn anew only when it says something else than was known. */
async function noteAdministrator(session: Session): Promise<void> {
  const isOne = await session.mayAdminister();
  if (isOne === isAdministrator) return;
  isAdministrator = isOne;
  showBar(session);
}

/** Part of an address; what is no encoding stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function openCommands(session: Session): void {
  const { scope } = session.who ?? { scope: '' };
  const go = (hash: string) => () => void (location.hash = hash);
  const pages = PAGES.filter((page) => isOffered(page, scope));
  const commands: Command[] = [
    ...pages.map(({ name, title }) => ({ title, run: go(`#/${name}`) })),
    { title: 'Failed jobs', run: go('#/jobs?status=Failed') },
    { title: 'Running jobs', run: go('#/jobs?status=Running') },
    { title: 'Waiting jobs', run: go('#/jobs?status=Waiting') },
    { title: 'Jobs of all owners', run: go('#/jobs?all=true') },
    { title: 'Access of applications', run: () => void window.open(accessOf(session), '_blank') },
    { title: 'Sign out', run: () => void session.end() },
  ];
  openPalette(commands, (jid) => `#/jobs/${jid}`);
}

/** The page of the service on which applications are looked at and withdrawn. */
function accessOf({ application }: Session): string {
  return `${application.url}/oauth2/applications`;
}

function showBar(session: Session): void {
  const { who } = session;
  const nav = byId('nav');
  const place = byId('who');
  nav.hidden = place.hidden = !who;
  if (!who) return;
  const here = location.hash.replace(/^#\/?/, '').split(/[/?]/)[0] || 'jobs';
  update(
    nav,
    ...PAGES.filter((page) => isOffered(page, who.scope)).map(({ name, title }) =>
      h(
        'a',
        {
          ...{ id: `to-${name}`, href: `#/${name}` },
          'aria-current': name === here ? 'page' : undefined,
        },
        title,
      ),
    ),
  );
  update(
    place,
    h('span', {}, h('b', {}, who.user), h('small', {}, `${who.group}, ${who.setup}`)),
    h(
      'button',
      {
        ...{ type: 'button', class: 'plain small', 'aria-label': 'Commands' },
        ...{ title: 'Ctrl+K', onClick: () => openCommands(session) },
      },
      'Ctrl K',
    ),
    h('a', { href: accessOf(session), target: '_blank' }, 'Access'),
    h(
      'button',
      { type: 'button', class: 'plain small', onClick: () => void session.end() },
      'Sign out',
    ),
  );
}

start().catch((error: unknown) => byId('main').replaceChildren(faultBox(error)));
