import type { GridClient, JobParameters, SandboxFileEntry } from 'gridgate/client';
import { h, update, type Child } from '../parts/dom.js';
import { bytes } from '../parts/format.js';
import { saveAs, smallButton } from '../parts/pieces.js';
import { dataUrl } from '../parts/show/frame.js';
import { endingOf, shown } from '../parts/show/index.js';

/** Larger files are only offered as a download. */
const VIEW_LIMIT = 200_000;
const PDF_LIMIT = 10_000_000;
/** Pictures are shown by themselves: so many, and none larger. */
const PICTURE_LIMIT = 2_000_000;
const MOST_PICTURES = 12;
const PICTURES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
};

/** Parameters of a job that tell what is not among its files. */
const NOTES = [
  ['OutputNotRequested', 'Made, and not asked for:'],
  ['OutputLeftOut', 'Asked for, and could not be kept:'],
  ['MissingOutput', 'Asked for, and was not made:'],
] as const;

type Kind = 'input' | 'output';

/** The files of a sandbox: each to look at or to save, and all of them in one archive. */
export async function sandboxSection(
  client: GridClient,
  jid: number,
  kind: Kind,
  signal: AbortSignal,
): Promise<HTMLElement> {
  const isOutput = kind === 'output';
  const list = isOutput
    ? client.listOutputSandbox.bind(client)
    : client.listInputSandbox.bind(client);
  const { files } = await list(jid, { signal });
  const place = h('div');
  const saveAll = async (): Promise<void> => {
    const archive = isOutput
      ? await client.getOutputSandbox(jid)
      : await client.getInputSandbox(jid);
    saveAs(archive, `${jid}-${kind}sandbox.tar.gz`);
  };
  const title = isOutput ? 'Output files' : 'Input files';
  const plain = new Set(
    files.filter((file) => file.link === undefined && !file.directory).map(({ name }) => name),
  );
  const rows = files.map((file) => {
    const { name, link } = file;
    const read = (): Promise<Blob> =>
      isOutput ? client.readOutputSandboxFile(jid, name) : client.readInputSandboxFile(jid, name);
    const isReadable = plain.has(link ?? name);
    return fileRow(file, place, isReadable ? read : undefined);
  });
  return h(
    'section',
    { class: 'card' },
    h(
      'div',
      { class: 'head' },
      h('h2', {}, title),
      smallButton(
        'Download all (tar.gz)',
        `Download all ${title.toLowerCase()} as tar.gz`,
        place,
        saveAll,
      ),
    ),
    h('ul', { class: 'files' }, rows),
    place,
    isOutput && (await pictures(client, jid, files, signal)),
  );
}

/** A file, or a link to one, to look at and to save; of a link to anything else only where it leads. */
function fileRow(
  { name, size, link, directory }: SandboxFileEntry,
  place: HTMLElement,
  read: (() => Promise<Blob>) | undefined,
): HTMLElement {
  const label = h('span', { class: 'file' }, name);
  const target = link === undefined ? '' : `leads to ${link || 'all files'}`;
  if (!read) return h('li', {}, label, soft(directory ? 'empty directory' : target));
  return h(
    'li',
    {},
    label,
    soft([bytes(size), target].filter(Boolean).join(', ')),
    size <= limitOf(name) &&
      smallButton(`View`, `View ${name}`, place, async () => view(place, name, await read())),
    smallButton('Save', `Save ${name}`, place, async () =>
      saveAs(await read(), name.split('/').at(-1) ?? name),
    ),
  );
}

/** What a job has made or was to make, and did not bring back. */
export function outputNotes(parameters: JobParameters, jid: number): Child {
  const stored = storedSection(String(parameters['UploadedOutputData'] ?? ''));
  const notes = NOTES.flatMap(([key, text]) => {
    const names = parameters[key];
    return names === undefined ? [] : [h('p', {}, h('b', {}, text), ` ${names}`)];
  });
  if (notes.length === 0) return stored;
  return [
    stored,
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'not-brought' },
      h('h2', { id: 'not-brought' }, 'Not brought back'),
      notes,
      parameters['OutputNotRequested'] !== undefined &&
        h(
          'a',
          { class: 'button plain', href: `#/submit?like=${jid}&bring=made` },
          'Add them and run again',
        ),
    ),
  ];
}

/** The files that the job has put into the catalogue, with the way to the directory of the first. */
function storedSection(names: string): Child {
  if (names === '') return undefined;
  const directory = names.slice(0, names.search(/\/[^/]*(, |$)/)) || '/';
  const place = new URLSearchParams({ at: directory });
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'stored' },
    h('h2', { id: 'stored' }, 'Stored in the catalogue'),
    h('p', {}, names),
    h('a', { class: 'button plain', href: `#/catalogue?${place.toString()}` }, `Open ${directory}`),
  );
}

function soft(text: string): HTMLElement {
  return h('span', { class: 'soft' }, text);
}

function limitOf(name: string): number {
  if (endingOf(name) === 'pdf') return PDF_LIMIT;
  return pictureType(name) === undefined ? VIEW_LIMIT : PICTURE_LIMIT;
}

/** The pictures of a job. As an image nothing in them runs or loads anything, whatever the job has written. */
async function pictures(
  client: GridClient,
  jid: number,
  files: readonly SandboxFileEntry[],
  signal: AbortSignal,
): Promise<HTMLElement | undefined> {
  const found = files
    .filter(
      ({ name, size, directory }) =>
        !directory && pictureType(name) !== undefined && size <= PICTURE_LIMIT,
    )
    .slice(0, MOST_PICTURES);
  if (found.length === 0) return undefined;
  const figures = found.map(async ({ name }) => {
    const content = await client.readOutputSandboxFile(jid, name, { signal });
    const src = await dataUrl(content, pictureType(name) ?? '');
    const image = h('img', { src, alt: `Picture ${name}` });
    return h('figure', {}, image, h('figcaption', { class: 'soft' }, name));
  });
  // One that cannot be read is among the files above.
  const readable = (await Promise.allSettled(figures)).flatMap((one) =>
    one.status === 'fulfilled' ? [one.value] : [],
  );
  return h('div', { class: 'pictures' }, readable);
}

/** The type of a picture of that name; undefined: it is none. */
export function pictureType(name: string): string | undefined {
  const ending = endingOf(name);
  return Object.hasOwn(PICTURES, ending) ? PICTURES[ending] : undefined;
}

async function view(place: HTMLElement, name: string, content: Blob): Promise<void> {
  const title = h('h3', { tabIndex: -1 }, name);
  const type = pictureType(name);
  const image = type !== undefined && (await dataUrl(content, type));
  const what = image
    ? h('img', { src: image, alt: `Picture ${name}` })
    : await shown(content, name);
  update(place, title, what);
  (place.querySelector('pre') ?? title).focus();
}
