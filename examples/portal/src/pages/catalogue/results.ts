import { encodePath, type GridClient } from 'gridgate/client';
import { h, say, update } from '../../parts/dom.js';
import { bytes, count, plural } from '../../parts/format.js';
import { faultBox } from '../../parts/pieces.js';
import { fileLink } from './listing.js';
import { conditionsOf, type CataloguePlace } from './place.js';

const PAGE_SIZE = 200;
/** Files of a result that are named there; all of them are in its directory. */
const MOST_FILES = 100;

interface FoundLine {
  path: string;
  files: number;
  size: number;
}

/** Every directory that matches, each with its files when they are wanted. */
export async function searchResults(
  client: GridClient,
  place: CataloguePlace,
  signal: AbortSignal,
): Promise<HTMLElement[]> {
  const lines: FoundLine[] = [];
  const asked = client.findDirectories(place.at, conditionsOf(place.chosen), { signal });
  for await (const line of asked) lines.push(line);
  const top = topmost(lines);
  const files = top.reduce((sum, line) => sum + line.files, 0);
  const size = top.reduce((sum, line) => sum + Number(line.size), 0);
  const total = lines.length === 1 ? '1 directory' : `${count(lines.length)} directories`;
  const summary = `${total}, ${plural(files, 'file')}, ${bytes(size)}`;
  say(`Found ${summary}`);
  const list = h('ul', { class: 'files' });
  const more = h('button', { type: 'button', class: 'plain' }, 'Show more');
  const add = (): void => {
    const start = list.childElementCount;
    list.append(
      ...lines.slice(start, start + PAGE_SIZE).map((line) => row(client, place, line, signal)),
    );
    more.hidden = list.childElementCount >= lines.length;
  };
  more.addEventListener('click', add);
  add();
  return [h('h2', { id: 'total' }, summary), list, more];
}

/** Without those inside of others, so that nothing is counted twice. Lines of a directory come before those inside. */
function topmost(lines: readonly FoundLine[]): FoundLine[] {
  const paths = new Set(lines.map(({ path }) => path));
  const isInside = (path: string): boolean => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (paths.has(path.slice(0, end))) return true;
    }
    return false;
  };
  return lines.filter(({ path }) => !isInside(path));
}

function row(
  client: GridClient,
  place: CataloguePlace,
  { path, files, size }: FoundLine,
  signal: AbortSignal,
): HTMLElement {
  const inside = h('div');
  const show = async (): Promise<void> => {
    const query = { limit: MOST_FILES };
    const contents = await client.listDirectory(encodePath(path), query, { signal });
    const names = Object.entries(contents.Files);
    const rows = names.map(([name, { MetaData }]) =>
      h(
        'li',
        {},
        fileLink(place, `${path}/${name}`, name),
        h('span', { class: 'soft' }, bytes(MetaData.Size)),
      ),
    );
    const none = 'No files in the directory itself; look inside.';
    update(
      inside,
      rows.length > 0 ? h('ul', { class: 'files' }, rows) : h('p', { class: 'soft' }, none),
    );
  };
  const onClick = (): void => {
    if (inside.childElementCount > 0) update(inside);
    else show().catch((error: unknown) => update(inside, faultBox(error)));
  };
  return h(
    'li',
    {},
    h('a', { class: 'file', href: place.hash({ at: path, chosen: {} }) }, path),
    h('span', { class: 'soft' }, `${plural(files, 'file')}, ${bytes(size)}`),
    h(
      'button',
      { type: 'button', class: 'plain small', 'aria-label': `Files of ${path}`, onClick },
      'Files',
    ),
    h('div', { class: 'inside' }, inside),
  );
}
