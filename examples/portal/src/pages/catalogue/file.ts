import { encodePath, type GridClient } from 'gridgate/client';
import { h } from '../parts/dom.js';
import { bytes, moment } from '../parts/format.js';

/** What the catalogue knows of a file: attributes, and metadata with those of its directories. */
export async function fileSection(
  client: GridClient,
  path: string,
  signal: AbortSignal,
): Promise<HTMLElement[]> {
  const id = encodePath(path);
  const [attributes, metadata] = await Promise.all([
    client.readFileAttributes(id, { signal }),
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
  return [
    h('h2', {}, path),
    list(facts),
    h('h3', {}, 'Metadata'),
    values.length === 0 ? h('p', { class: 'soft' }, 'None.') : list(values),
  ];
}

function list(entries: [string, string][]): HTMLElement {
  const rows = entries.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)));
  return h('dl', { class: 'facts' }, rows);
}
