import { faultBox } from '../parts/pieces.js';
import { h } from '../parts/dom.js';

const POINTS: [string, string][] = [
  ['Submit', 'Send a program and its files to any site of the grid.'],
  ['Watch', 'See every job move from Waiting to Done, and why it waits.'],
  ['Find', 'Search the file catalogue by what the files are about.'],
];

/** What a visitor sees who is not signed in. */
export function showWelcome(root: HTMLElement, signIn: () => void, fault?: unknown): void {
  root.replaceChildren(
    h(
      'section',
      { class: 'welcome' },
      h('h1', {}, 'Your work on the grid, from the browser'),
      h(
        'p',
        { class: 'lead' },
        'Sign in with your certificate or your institution. You decide which group this portal may act for.',
      ),
      fault !== undefined && faultBox(fault),
      h('button', { type: 'button', class: 'big', onClick: signIn }, 'Sign in'),
      h(
        'ul',
        { class: 'points' },
        POINTS.map(([title, text]) => h('li', {}, h('h2', {}, title), h('p', {}, text))),
      ),
    ),
  );
}
