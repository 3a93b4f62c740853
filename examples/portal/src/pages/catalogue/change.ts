import { encodePath, moveFile, type GridClient, type MetadataValues } from 'gridgate/client';
import { h } from '../../parts/dom.js';
import { textField } from '../../parts/field.js';
import { form, mark, required } from '../../parts/form.js';
import { confirmed } from '../../parts/pieces.js';
import { typesOf } from './facets.js';

/** What is changed, and where to go after it. */
export interface Changed {
  path: string;
  /** It is still there. */
  stays(): void;
  /** It is gone, or at another path. */
  leaves(path: string): void;
}

/** Sets metadata of a directory and removes it when it is empty. */
export function directoryForms(client: GridClient, changed: Changed): HTMLElement {
  const { path } = changed;
  return h(
    'details',
    { class: 'register' },
    h('summary', {}, 'Change this directory'),
    metadataForm(
      client,
      (values) => client.mergeDirectoryMetadata(encodePath(path), values),
      changed,
    ),
    form('Remove directory', [], async () => {
      if (!(await confirmed(`Remove the directory ${path}? It must be empty.`, 'Remove'))) return;
      await client.deleteDirectory(encodePath(path));
      changed.leaves(parentOf(path));
    }),
  );
}

/** Sets metadata of a file, gives it another path, removes it. */
export function fileForms(client: GridClient, changed: Changed): HTMLElement {
  const { path } = changed;
  return h(
    'details',
    { class: 'register' },
    h('summary', {}, 'Change this file'),
    metadataForm(client, (values) => client.mergeFileMetadata(encodePath(path), values), changed),
    moveForm(client, changed),
    form('Remove file', [], async () => {
      const question = `Remove ${path} from the catalogue? Its copies stay where they are stored.`;
      if (!(await confirmed(question, 'Remove'))) return;
      await client.deleteFile(encodePath(path));
      changed.leaves(parentOf(path));
    }),
  );
}

function moveForm(client: GridClient, changed: Changed): HTMLElement {
  const { path } = changed;
  const to = textField('new-path', 'New path', path, { required: true });
  to.input.value = path;
  return form('Move file', [to], async () => {
    const target = required(to);
    if (!target.startsWith('/')) throw mark(to, 'must begin with /');
    if (target === path) throw mark(to, 'is where the file is');
    await moveFile(client, path, target);
    changed.leaves(target);
  });
}

function metadataForm(
  client: GridClient,
  set: (values: MetadataValues) => Promise<unknown>,
  changed: Changed,
): HTMLElement {
  const name = textField('meta-name', 'Field', 'energy', { required: true });
  const value = textField('meta-value', 'Value', '100', { hint: 'Empty: the value is removed' });
  return form('Set metadata', [name, value], async () => {
    const field = required(name);
    const type = (await typesOf(client))[field];
    if (type === undefined) throw mark(name, 'is no field of the catalogue');
    const text = value.input.value.trim();
    const isNumber = type === 'int' || type === 'float';
    if (isNumber && text !== '' && !Number.isFinite(Number(text))) {
      throw mark(value, 'must be a number');
    }
    await set({ [field]: text === '' ? null : isNumber ? Number(text) : text });
    changed.stays();
  });
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
