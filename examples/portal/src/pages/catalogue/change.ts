import {
  encodePath,
  GridError,
  metadataValue,
  moveFile,
  readFileEntry,
  type GridClient,
  type MetadataValues,
} from 'gridgate/client';
import { h } from '../../parts/dom.js';
import { textField } from '../../parts/field.js';
import { form, mark, required } from '../../parts/form.js';
import { confirmed } from '../../parts/pieces.js';

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
    h(
      'p',
      { class: 'soft' },
      'The search finds directories by their metadata, not files by their own: set on the directory what it shall be found by.',
    ),
    moveForm(client, changed),
    form('Remove file', [], async () => {
      const replicas = Object.entries((await readFileEntry(client, path)).replicas);
      const byPath = replicas.flatMap(([element, { PFN }]) => (PFN === '' ? [element] : []));
      const question = `Remove ${path} from the catalogue? ${fateOf(byPath)}`;
      if (!(await confirmed(question, 'Remove'))) return;
      await client.deleteFile(encodePath(path));
      changed.leaves(parentOf(path));
    }),
  );
}

/** What becomes of the copies: what was uploaded by way of the service lies where its path says. */
function fateOf(byPath: readonly string[]): string {
  if (byPath.length === 0) return 'Its copies stay where they are stored.';
  return `What was uploaded to ${byPath.join(', ')} through this service is removed there, too, about an hour later; other copies stay where they are stored.`;
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

/** Files take values of keys that nobody has declared; the service says what does not fit. */
function metadataForm(
  client: GridClient,
  set: (values: MetadataValues) => Promise<unknown>,
  changed: Changed,
): HTMLElement {
  const name = textField('meta-name', 'Field', 'energy', { required: true });
  const value = textField('meta-value', 'Value', '100', { hint: 'Empty: the value is removed' });
  return form('Set metadata', [name, value], async () => {
    const field = required(name);
    const text = value.input.value.trim();
    try {
      await set({ [field]: text === '' ? null : metadataValue(text) });
    } catch (error) {
      const problem = error instanceof GridError && error.violations[0]?.problem;
      if (!problem) throw error;
      throw mark(problem === 'is no metadata field' ? name : value, problem);
    }
    changed.stays();
  });
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
