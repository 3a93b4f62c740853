import { h } from '../../parts/dom.js';
import { marker } from '../../parts/field.js';
import { Marked } from '../../parts/form.js';
import { bytes } from '../../parts/format.js';
import type { NamedFile } from '../submit-draft.js';

/** The files that go along with a job: chosen or dropped here. */
export class InputFiles {
  readonly label = 'Input files';
  readonly element: HTMLElement;
  files: readonly NamedFile[] = [];
  private readonly list = h('ul', { class: 'files' });
  private readonly note = h('div', { role: 'status' });
  /** What is said of files, as long as they are there; under '' of all, until others come or go. */
  private readonly said = new Map<string, HTMLElement>();
  private readonly picker = h('input', {
    ...{ type: 'file', id: 'files', multiple: true },
    onChange: () => this.add(this.picker.files ?? []),
  });
  private readonly fault = marker('files', this.picker, true);

  constructor(
    private readonly on: {
      added: (files: readonly NamedFile[]) => void;
      removed: (name: string) => void;
    },
  ) {
    this.element = h(
      'div',
      {
        class: 'field drop',
        onDragOver: (event: DragEvent) => event.preventDefault(),
        onDrop: (event: DragEvent) => {
          event.preventDefault();
          this.add(event.dataTransfer?.files ?? []);
        },
      },
      h('label', { htmlFor: 'files' }, this.label),
      this.picker,
      h('small', { id: 'files-hint' }, 'The description of a job (JSON) can fill the form'),
      this.fault.place,
      this.list,
      this.note,
    );
  }

  mark(problem?: string): void {
    this.fault.mark(problem);
  }

  has(name: string): boolean {
    return this.files.some((file) => file.name === name);
  }

  /** Says something of a file, as long as it is there; of '' until others come or go. */
  tell(name: string, said: HTMLElement[]): void {
    if (said.length > 0) this.said.set(name, h('div', { class: 'note warning' }, said));
    this.note.replaceChildren(...this.said.values());
  }

  /** A browser reads no directory, and no file that has changed or gone since it was chosen. Throws Marked. */
  async assertReadable(): Promise<void> {
    const reads = this.files.map(({ content }) => content.slice(0, 1).arrayBuffer());
    const failed = (await Promise.allSettled(reads)).map(({ status }) => status === 'rejected');
    const names = this.files.filter((_, at) => failed[at]).map(({ name }) => name);
    if (names.length === 0) return;
    const problem = `cannot be read any more, as they have changed: choose ${names.join(', ')} again`;
    this.mark(problem);
    throw new Marked(`${this.label} ${problem}`);
  }

  show(files: readonly NamedFile[]): void {
    this.files = files;
    for (const name of this.said.keys()) if (!this.has(name)) this.said.delete(name);
    this.note.replaceChildren(...this.said.values());
    this.list.replaceChildren(...files.map((file) => this.row(file)));
  }

  private add(files: FileList | File[]): void {
    const added = Array.from(files, (file) => ({ name: file.name, content: file }));
    const names = new Set(added.map(({ name }) => name));
    this.picker.value = '';
    for (const name of names) this.said.delete(name);
    this.show([...this.files.filter(({ name }) => !names.has(name)), ...added]);
    this.on.added(added);
  }

  private row({ name, content }: NamedFile): HTMLElement {
    const onClick = (): void => {
      this.show(this.files.filter((file) => file.name !== name));
      this.on.removed(name);
    };
    return h(
      'li',
      {},
      h('span', { class: 'file' }, name),
      h('span', { class: 'soft' }, bytes(content.size)),
      h(
        'button',
        { type: 'button', class: 'plain small', 'aria-label': `Remove ${name}`, onClick },
        'Remove',
      ),
    );
  }
}
