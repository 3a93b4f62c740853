import { encodePath, GridError, type GridClient } from 'gridgate/client';
import { h, update } from '../../parts/dom.js';
import { textField } from '../../parts/field.js';
import { faultBox } from '../../parts/pieces.js';

/** Makes a directory, or registers a file that is stored elsewhere. What is written stays when it is refused. */
export function registerForms(client: GridClient, at: string, onDone: () => void): HTMLElement {
  const base = at === '/' ? '' : at;
  return h(
    'details',
    { class: 'register' },
    h('summary', {}, 'Make a directory or register a file'),
    directoryForm(client, base, onDone),
    fileForm(client, base, onDone),
  );
}

function directoryForm(client: GridClient, base: string, onDone: () => void): HTMLElement {
  const name = textField('new-directory', 'New directory', 'run7', { required: true });
  return form('Make directory', [name], async () => {
    const path = `${base}/${required(name)}`;
    await client.makeDirectory(encodePath(path));
    onDone();
  });
}

function fileForm(client: GridClient, base: string, onDone: () => void): HTMLElement {
  const name = textField('new-file', 'Name of the file', 'events.root', { required: true });
  const size = textField('new-size', 'Bytes', '1024', { required: true });
  const checksum = textField('new-checksum', 'Checksum (adler32)', '0a1b2c3d');
  const element = textField('new-element', 'Storage element', 'SE-A', {
    hint: 'Where it is stored; empty: no replica is known',
  });
  const pfn = textField('new-pfn', 'Address there', 'root://…', {
    hint: 'Empty where it follows from the path',
  });
  return form('Register file', [name, size, checksum, element, pfn], async () => {
    const path = `${base}/${required(name)}`;
    const bytes = required(size);
    if (!/^\d{1,16}$/.test(bytes)) throw mark(size, 'must be a whole number of bytes');
    const [sum, se, address] = [checksum, element, pfn].map(({ input }) => input.value.trim());
    await client.registerFile(encodePath(path), {
      Size: Number(bytes),
      ...(sum && { Checksum: sum, ChecksumType: 'Adler32' }),
      ...(se && { Replicas: { [se]: address ? { PFN: address } : {} } }),
    });
    onDone();
  });
}

type Field = ReturnType<typeof textField>;

/** Said at its field already. */
class Marked extends Error {}

function mark(field: Field, problem: string): Marked {
  field.mark(problem);
  field.input.focus();
  return new Marked(`${field.label} ${problem}`);
}

function required(field: Field): string {
  const text = field.input.value.trim();
  if (text === '' || text === '.' || text === '..') throw mark(field, 'is missing');
  return text;
}

function form(title: string, fields: readonly Field[], work: () => Promise<void>): HTMLElement {
  const note = h('div');
  const button = h('button', { class: 'plain' }, title);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    update(note);
    for (const field of fields) field.mark();
    work()
      .catch((error: unknown) => {
        if (!(error instanceof Marked)) update(note, faultBox(worded(error)));
      })
      .finally(() => (button.disabled = false));
  };
  return h(
    'form',
    { class: 'form', noValidate: true, onSubmit },
    h('h3', {}, title),
    fields.map(({ element }) => element),
    button,
    note,
  );
}

function worded(error: unknown): unknown {
  if (error instanceof GridError && error.status === 403) {
    return new Error('You may not write here: ask whoever owns the directory.');
  }
  return error;
}
