/** Where the links of pages lead. */
import { posix } from 'node:path';
import { addressOf, ASSETS } from './contents.mjs';

const OUTSIDE = /^(?:https?:|mailto:)/;

/** Where a link of a page leads in the sources: `{ path, anchor }`. */
function targetOf(source, href) {
  const [path = '', anchor = ''] = decodeURIComponent(href).split('#');
  if (path === '') return { path: source, anchor };
  return { path: posix.normalize(posix.join(posix.dirname(source), path)), anchor };
}

/** From a page of the site to another. */
export function relative(from, to) {
  return posix.relative(posix.dirname(from), to) || posix.basename(to);
}

/**
 * The links of a page: `link` is asked for each while it is rendered, `faults` judges them when all pages are there.
 * `pages` are the sources of the site; `exists` says whether the project has a file.
 */
export function linksOf(source, { pages, exists }) {
  const own = addressOf(source);
  const inside = [];
  const broken = [];
  const assets = [];
  const link = (href, isImage) => {
    if (OUTSIDE.test(href)) {
      if (isImage) broken.push(`${source}: the picture ${href} is of another server`);
      return href;
    }
    const { path, anchor } = targetOf(source, href);
    const page = [path, posix.join(path, 'README.md')].find((each) => pages.has(each));
    if (page !== undefined && !isImage) {
      if (anchor !== '') inside.push({ href, page, anchor });
      return `${relative(own, addressOf(page))}${anchor && `#${anchor}`}`;
    }
    if (!exists(path)) broken.push(`${source}: ${href} leads nowhere`);
    else if (ASSETS.test(path)) {
      assets.push(path);
      return relative(own, addressOf(path));
    } else if (isImage) broken.push(`${source}: the picture ${href} is not in docs/pictures`);
    return undefined;
  };
  /** `anchors` are those of each page. */
  const faults = (anchors) => [
    ...broken,
    ...inside
      .filter(({ page, anchor }) => !anchors.get(page)?.has(anchor))
      .map(({ href }) => `${source}: ${href} names a heading that is not there`),
  ];
  return { link, faults, assets };
}
