import { encodePath, parseJson, type GridClient } from 'gridgate/client';
import { h } from '../../parts/dom.js';
import { textField, type TextField } from '../../parts/field.js';
import { form, mark, required } from '../../parts/form.js';
import { uploadForm } from './upload.js';

/** Uploads a file, makes a directory, or registers a file that is stored already. What is written stays when it is refused. */
export function registerForms(
  client: GridClient,
  { at, signal }: { at: string; signal: AbortSignal },
  onDone: () => void,
): HTMLElement {
  const base = at === '/' ? '' : at;
  return h(
    'details',
    { class: 'register' },
    h('summary', {}, 'Upload a file, make a directory or register a file'),
    uploadForm(client, { base, signal }, onDone),
    directoryForm(client, base, onDone),
    fileForm(client, base, onDone),
  );
}

function directoryForm(client: GridClient, base: string, onDone: () => void): HTMLElement {
  const name = textField('new-directory', 'New directory', 'run7', { required: true });
  return form('Make directory', [name], async () => {
    const path = `${base}/${nameIn(name)}`;
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
    const path = `${base}/${nameIn(name)}`;
    const bytes = required(size);
    if (!/^(?:0|[1-9]\d{0,18})$/.test(bytes)) throw mark(size, 'must be a whole number of bytes');
    if (!/^[0-9a-f]{0,8}$/i.test(checksum.input.value.trim())) {
      throw mark(checksum, 'must be up to eight hexadecimal digits');
    }
    const [sum, se, address] = [checksum, element, pfn].map(({ input }) => input.value.trim());
    await client.registerFile(encodePath(path), {
      Size: parseJson(bytes) as number,
      ...(sum && { Checksum: sum, ChecksumType: 'Adler32' }),
      ...(se && { Replicas: { [se]: address ? { PFN: address } : {} } }),
    });
    onDone();
  });
}

function nameIn(field: TextField): string {
  const text = required(field);
  if (text === '.' || text === '..') throw mark(field, 'is no name');
  return text;
}
