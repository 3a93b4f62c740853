/** What the search of the site looks through: an entry for each section of each page, indexed when the site is built. */
import MiniSearch from 'minisearch';
import { SECTIONS } from './contents.mjs';
import { SEARCH } from './search-options.mjs';

/** Of a section: the table of all settings is one. */
const MOST_CHARACTERS = 60_000;
const SHOWN_CHARACTERS = 150;

function kindOf(source) {
  return SECTIONS.find(({ pages }) => pages.includes(source))?.title ?? 'Reference';
}

/** The index as JSON, which the browser loads when somebody begins to search. */
export function searchIndex(pages) {
  const search = new MiniSearch(SEARCH);
  let id = 0;
  for (const { source, address, title, parts } of pages) {
    for (const part of parts) {
      const text = part.text.replace(/\s+/g, ' ').slice(0, MOST_CHARACTERS);
      search.add({
        id: (id += 1),
        title: part.title || title,
        page: title,
        kind: kindOf(source),
        address: part.level > 1 && part.anchor ? `${address}#${part.anchor}` : address,
        shown: text.slice(0, SHOWN_CHARACTERS),
        text,
      });
    }
  }
  return JSON.stringify(search);
}
