import { h, update } from '../../parts/dom.js';
import { textField } from '../../parts/field.js';
import type { NamedFile } from '../submit-draft.js';

const HEAD_BYTES = 65_536;
const SCRIPT_NAME = /\.(sh|bash|py|pl|rb|r)$/i;

/** The program of a job: written, or a script that was added when nothing was. */
export class ProgramField {
  readonly field = textField('executable', 'Program', '/bin/echo', {
    required: true,
    hint: 'An uploaded file, an absolute path, or a program that the site knows',
  });
  private readonly note = h('small', { role: 'status' });
  private taken: string | undefined;

  constructor() {
    this.field.element.append(this.note);
    this.field.input.addEventListener('input', () => this.settle());
  }

  /** What is written now is meant. */
  settle(): void {
    this.taken = undefined;
    update(this.note);
  }

  /** Takes the first script among the added files while nothing is written. True: it did. */
  async suggest(added: readonly NamedFile[], isThere: (name: string) => boolean): Promise<boolean> {
    const { input } = this.field;
    if (input.value.trim() !== '') return false;
    const kinds = await Promise.all(added.map(scriptKind));
    const at = kinds.findIndex((kind) => kind !== undefined);
    const name = added[at]?.name;
    if (name === undefined || input.value.trim() !== '' || !isThere(name)) return false;
    input.value = this.taken = name;
    const sh = 'It does not begin with #!, so /bin/sh would run it. ';
    const why = kinds[at] === 'named' ? sh : '';
    update(
      this.note,
      `Filled in, as ${name} looks like a script. ${why}Write another one if that is wrong.`,
    );
    return true;
  }

  /** A file was removed: it is the program no more, unless somebody wrote that. */
  forget(name: string): void {
    if (this.taken !== name) return;
    this.field.input.value = '';
    this.settle();
  }
}

/** What is to be said of a script that has options for other programs in its comments; '' for none. */
export async function unreadLines({ name, content }: NamedFile): Promise<string> {
  const head = await content
    .slice(0, HEAD_BYTES)
    .text()
    .catch(() => '');
  const lines = head.match(/^#(SBATCH|GRID|PBS|BSUB)\b/gm) ?? [];
  if (!head.startsWith('#!') || lines.length === 0) return '';
  const what =
    lines.length === 1 ? `line ${lines[0]} has` : `${lines.length} lines ${lines[0]} have`;
  return `In ${name} ${what} no effect here: give what they ask for in the fields, or submit it by the command: gridgate submit ${name}`;
}

/** Whether it begins as scripts do, or is only called like one; undefined: neither. */
async function scriptKind({ name, content }: NamedFile): Promise<'begun' | 'named' | undefined> {
  // A directory that was dropped cannot be read.
  const begin = await content
    .slice(0, 2)
    .text()
    .catch(() => undefined);
  if (begin === '#!') return 'begun';
  return begin !== undefined && SCRIPT_NAME.test(name) ? 'named' : undefined;
}
