import {
  encodePath,
  parseJson,
  type DirectoryContentsResponse,
  type GridClient,
} from 'gridgate/client';
import { h, update, type Child } from '../../parts/dom.js';
import { bytes } from '../../parts/format.js';
import { faultBox } from '../../parts/pieces.js';
import type { CataloguePlace } from './place.js';

const PAGE_SIZE = 200;

/** A directory page by page, with the storage elements that have its files. */
export class Listing {
  private readonly list = h('ul', { class: 'files' });
  private readonly note = h('div');
  private readonly more = h(
    'button',
    { type: 'button', class: 'plain', hidden: true, onClick: () => this.showMore() },
    'Show more',
  );
  private next: string | undefined;

  constructor(
    private readonly client: GridClient,
    private readonly place: CataloguePlace,
    private readonly signal: AbortSignal,
  ) {}

  get elements(): HTMLElement[] {
    return [this.list, this.note, this.more];
  }

  /** The first page. Throws GridError. */
  async begin(): Promise<void> {
    const { at } = this.place;
    const below = at === '/' ? '' : `/${encodePath(at)}`;
    await this.add(`/filecatalogue/directory${below}?verbose=true&limit=${PAGE_SIZE}`);
    if (this.list.childElementCount === 0)
      update(this.note, h('p', { class: 'empty' }, 'Nothing here.'));
  }

  private async add(path: string): Promise<void> {
    const request = { method: 'GET', path, answer: 'json' } as const;
    const { answer, next } = await this.client.raw(request, { signal: this.signal });
    const contents = parseJson(await answer.text()) as unknown as DirectoryContentsResponse;
    this.list.append(...rowsOf(contents, this.place));
    this.next = next;
    this.more.hidden = next === undefined;
  }

  private showMore(): void {
    if (this.next === undefined || this.more.disabled) return;
    this.more.disabled = true;
    update(this.note);
    this.add(this.next)
      .catch((error: unknown) => update(this.note, faultBox(error)))
      .finally(() => (this.more.disabled = false));
  }
}

function rowsOf(
  { SubDirs, Files }: DirectoryContentsResponse,
  place: CataloguePlace,
): HTMLElement[] {
  const base = place.at === '/' ? '' : place.at;
  const directories = Object.keys(SubDirs).map((name) =>
    h('li', {}, h('a', { class: 'file', href: place.hash({ at: `${base}/${name}` }) }, `${name}/`)),
  );
  const files = Object.entries(Files).map(([name, { MetaData, Replicas = {} }]) => {
    const elements = Object.keys(Replicas);
    return h(
      'li',
      {},
      fileLink(place, `${base}/${name}`, name),
      elements.length > 0 && h('span', { class: 'soft' }, elements.join(', ')),
      h('span', { class: 'soft' }, bytes(MetaData.Size)),
    );
  });
  return [...directories, ...files];
}

/** To what is known of a file. */
export function fileLink(place: CataloguePlace, path: string, text: string): Child {
  const href = `${place.hash({})}&file=${encodeURIComponent(path)}`;
  return h('a', { class: 'file', href }, text);
}
