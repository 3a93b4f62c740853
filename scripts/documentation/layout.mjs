/** The frame of each page: search, menu, outline, version. */
import { addressOf, FIRST_PAGE, SECTIONS } from './contents.mjs';
import { relative } from './links.mjs';

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign]);

const POLICY = [
  "default-src 'none'",
  ...['script', 'style', 'img', 'connect'].map((kind) => `${kind}-src 'self'`),
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function menu(page, titles) {
  const entry = (source) => {
    const isHere = source === page.source;
    const address = relative(page.address, addressOf(source));
    return `<li><a href="${address}"${isHere ? ' aria-current="page"' : ''}>${escaped(titles.get(source) ?? source)}</a></li>`;
  };
  return SECTIONS.map(({ title, pages }) => {
    const isOpen = pages.some((source) => source === page.source || belongsTo(page.source, source));
    const list = `<ul>${pages.map(entry).join('')}</ul>`;
    return `<details${isOpen || page.source === FIRST_PAGE ? ' open' : ''}><summary>${title}</summary>${list}</details>`;
  }).join('\n');
}

/** A class belongs to the reference that names it. */
function belongsTo(source, listing) {
  if (listing === 'README.md' || !listing.endsWith('/README.md')) return false;
  return source.startsWith(listing.slice(0, -'README.md'.length));
}

function outline(parts) {
  const shown = parts.filter(({ level, anchor }) => level === 2 && anchor !== '');
  if (shown.length < 2) return '';
  const items = shown.map(
    ({ anchor, title }) => `<li><a href="#${anchor}">${escaped(title)}</a></li>`,
  );
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`;
}

/** The whole of a page. `titles` are those of all sources. */
export function pageOf(page, { titles, version }) {
  const up = relative(page.address, 'index.html').replace(/index\.html$/, '');
  const isFirst = page.source === FIRST_PAGE;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta http-equiv="Content-Security-Policy" content="${POLICY}" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${escaped(page.title)}${isFirst ? '' : ' · Gridgate'}</title>
<link rel="icon" href="${up}assets/icon.svg" />
<link rel="stylesheet" href="${up}assets/site.css" />
<script defer src="${up}assets/site.js" data-up="${up}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${up}index.html">Gridgate</a>
<form class="search" role="search" hidden>
<label for="words">Search</label>
<input id="words" type="search" autocomplete="off" placeholder="Search ( / )" />
<div class="found" hidden><p role="status"></p><ol></ol></div>
</form>
<p class="version"><label for="version">Version</label> <select id="version"><option selected>${version}</option></select></p>
</header>
<nav class="menu" aria-label="Documentation"><details class="all" open><summary>Contents</summary>
${menu(page, titles)}
</details></nav>
<main id="content" tabindex="-1">
${page.html}</main>
${outline(page.parts)}
</body>
</html>
`;
}

/** Sends readers of the site's root to the newest version; works without scripts. */
export function entryOf(version) {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8" /><title>Gridgate</title>
<meta http-equiv="refresh" content="0; url=${version}/index.html" /></head>
<body><main><h1>Gridgate</h1><p><a href="${version}/index.html">Documentation of ${version}</a></p></main></body></html>
`;
}
