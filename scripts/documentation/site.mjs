/** Makes the pages of the site from those of the sources, and says what is wrong with them. */
import { addressOf, LISTED_ELSEWHERE, SECTIONS } from './contents.mjs';
import { linksOf } from './links.mjs';
import { rendered } from './markdown.mjs';

/**
 * `sources` is a Map of page (path in the project) to Markdown; `exists` says whether the project has a file.
 * Answers `{ pages, assets, faults }`: faults are sentences, and a site with one of them is not written.
 */
export function siteOf(sources, exists) {
  const pages = [];
  const links = [];
  for (const [source, text] of sources) {
    const own = linksOf(source, { pages: sources, exists });
    pages.push({ source, address: addressOf(source), ...rendered(text, own.link) });
    links.push(own);
  }
  const anchors = new Map(pages.map((page) => [page.source, page.anchors]));
  const faults = [
    ...links.flatMap((each) => each.faults(anchors)),
    ...pages.filter(({ title }) => title === '').map(({ source }) => `${source} has no heading`),
    ...contentsFaults(sources),
  ];
  return { pages, assets: new Set(links.flatMap(({ assets }) => assets)), faults };
}

function contentsFaults(sources) {
  const listed = SECTIONS.flatMap(({ pages }) => pages);
  const isListed = (source) =>
    source === 'docs/README.md' ||
    listed.includes(source) ||
    LISTED_ELSEWHERE.some((place) => source.startsWith(place));
  return [
    ...listed.filter((source) => !sources.has(source)).map((source) => `${source} is missing`),
    ...[...sources.keys()]
      .filter((source) => !isListed(source))
      .map((source) => `${source} is in no section of scripts/documentation/contents.mjs`),
  ];
}
