import { encodePath, type GridClient } from 'gridgate/client';
import { h } from '../../parts/dom.js';
import { bytes, moment } from '../../parts/format.js';

const MOST_LISTED = 1_000;

/** What the catalogue knows of a file: attributes, and metadata with those of its directories. */
export async function fileSection(
  client: GridClient,
  path: string,
  signal: AbortSignal,
): Promise<HTMLElement[]> {
  const id = encodePath(path);
  const [attributes, metadata, replicas] = await Promise.all([
    client.readFileAttributes(id, { signal }),
    client.readFileMetadata(id, { inherited: true }, { signal }),
    replicasOf(client, path, signal),
  ]);
  const facts: [string, string][] = [
    ['Size', bytes(attributes.Size)],
    [
      'Checksum',
      attributes.Checksum === '' ? 'none' : `${attributes.ChecksumType} ${attributes.Checksum}`,
    ],
    ['Owner', `${attributes.Owner} (${attributes.OwnerGroup})`],
    ['Mode', attributes.Mode.toString(8)],
    ['Registered', moment(attributes.CreationDate)],
    ['GUID', attributes.GUID === '' ? 'none' : attributes.GUID],
  ];
  const values = Object.entries(metadata).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return [
    h('h2', {}, path),
    list(facts),
    h('h3', {}, 'Replicas'),
    replicas,
    h('h3', {}, 'Metadata'),
    values.length === 0 ? h('p', { class: 'soft' }, 'None.') : list(values),
  ];
}

function list(entries: [string, string][]): HTMLElement {
  const rows = entries.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)));
  return h('dl', { class: 'facts' }, rows);
}

/** Where the file is stored: the listing of its directory knows. */
async function replicasOf(
  client: GridClient,
  path: string,
  signal: AbortSignal,
): Promise<HTMLElement> {
  const slash = path.lastIndexOf('/');
  const query = { verbose: true, limit: MOST_LISTED };
  const directory = encodePath(path.slice(0, Math.max(1, slash)));
  const { Files } = await client.listDirectory(directory, query, { signal });
  const name = path.slice(slash + 1);
  const file = Object.hasOwn(Files, name) ? Files[name] : undefined;
  if (!file) return h('p', { class: 'soft' }, 'Not looked up: its directory is large.');
  const rows = Object.entries(file.Replicas ?? {}).map(([element, { PFN, Status }]) =>
    h(
      'li',
      {},
      h('b', {}, element),
      h('span', { class: 'file' }, PFN === '' ? 'where its path says' : PFN),
      h('span', { class: 'soft' }, Status),
    ),
  );
  return rows.length > 0 ? h('ul', { class: 'files' }, rows) : h('p', { class: 'soft' }, 'None.');
}
