import { encodePath, readFileEntry, type FileEntry, type GridClient } from 'gridgate/client';
import { h } from '../../parts/dom.js';
import { bytes, moment } from '../../parts/format.js';
import { saveAs, smallButton } from '../../parts/pieces.js';

/** What the catalogue knows of a file: attributes, and metadata with those of its directories. */
export async function fileSection(
  client: GridClient,
  path: string,
  signal: AbortSignal,
): Promise<HTMLElement[]> {
  const id = encodePath(path);
  const [{ attributes, replicas }, metadata] = await Promise.all([
    readFileEntry(client, path, { signal }),
    client.readFileMetadata(id, { inherited: true }, { signal }),
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
  const place = h('div');
  const name = path.slice(path.lastIndexOf('/') + 1);
  const save = async (): Promise<void> =>
    saveAs(await client.readFileContent(id, { through: true }), name);
  return [
    h(
      'div',
      { class: 'head' },
      h('h2', {}, path),
      h(
        'div',
        { class: 'actions' },
        Object.keys(replicas).length > 0 && smallButton('Save', `Save ${name}`, place, save),
        h(
          'a',
          { class: 'button plain small', href: `#/submit?read=${encodeURIComponent(path)}` },
          'Run a job on it',
        ),
      ),
    ),
    place,
    list(facts),
    h('h3', {}, 'Replicas'),
    replicaList(replicas),
    h('h3', {}, 'Metadata'),
    values.length === 0 ? h('p', { class: 'soft' }, 'None.') : list(values),
  ];
}

function list(entries: [string, string][]): HTMLElement {
  const rows = entries.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)));
  return h('dl', { class: 'facts' }, rows);
}

function replicaList(replicas: FileEntry['replicas']): HTMLElement {
  const rows = Object.entries(replicas).map(([element, { PFN, Status }]) =>
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
