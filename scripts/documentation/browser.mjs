/* global document, location */
/** What a page of the documentation does by itself: search, and the choice of the version. */
import MiniSearch from 'minisearch';
import { SEARCH } from './search-options.mjs';

const MOST_FOUND = 12;
/** A phone begins with the page, not with the menu. */
const NARROW = 900;
const up = document.currentScript.dataset.up;
const find = (selector) => document.querySelector(selector);
const element = (name, text, properties = {}) =>
  Object.assign(document.createElement(name), { textContent: text, ...properties });

let index;
async function loaded() {
  index ??= fetch(`${up}search.json`)
    .then((answer) => answer.text())
    .then((text) => MiniSearch.loadJSON(text, SEARCH));
  return index;
}

function entryOf({ title, page, kind, address, shown }) {
  const link = element('a', '', { href: up + address });
  link.append(
    element('strong', title),
    element('small', `${kind}${page === title ? '' : ` · ${page}`}`),
    element('span', shown),
  );
  const item = element('li', '');
  item.append(link);
  return item;
}

async function search(words) {
  const box = find('.found');
  if (words.trim() === '') return void (box.hidden = true);
  const found = (await loaded()).search(words);
  if (find('#words').value !== words) return; // somebody has typed on
  const shown = found.slice(0, MOST_FOUND);
  const rest = found.length > shown.length ? `, the best ${shown.length} of them here` : '';
  find('.found p').textContent =
    found.length === 0 ? `Nothing has “${words.trim()}”` : `${found.length} found${rest}`;
  find('.found ol').replaceChildren(...shown.map(entryOf));
  box.hidden = false;
}

function startSearch() {
  const form = find('.search');
  const input = find('#words');
  form.hidden = false;
  input.addEventListener('focus', () => void loaded());
  input.addEventListener('input', () => void search(input.value));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    find('.found a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !/^(?:INPUT|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Escape') find('.found').hidden = true;
  });
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) find('.found').hidden = true;
  });
}

/** Other versions lie beside this one; the list of them is made anew with each. */
async function startVersions() {
  const select = find('#version');
  const own = select.value;
  const here = new URL(up || '.', location.href).href;
  const answer = await fetch(new URL('../versions.json', here));
  if (!answer.ok) return;
  const versions = await answer.json();
  select.replaceChildren(
    ...versions.map((each) => element('option', each, { value: each, selected: each === own })),
  );
  select.addEventListener('change', () =>
    location.assign(new URL(`../${select.value}/index.html`, here).href),
  );
}

document.addEventListener('DOMContentLoaded', () => {
  if (document.documentElement.clientWidth < NARROW) find('.all').open = false;
  startSearch();
  startVersions().catch(() => undefined); // the label of this version stays
});
