import type { GridClient, ManifestRequest } from 'gridgate/client';
import { h, update } from '../parts/dom.js';
import { bytes } from '../parts/format.js';
import { faultBox } from '../parts/pieces.js';
import type { Page } from './page.js';

interface NamedFile {
  name: string;
  content: Blob;
}

interface Example {
  title: string;
  name: string;
  executable: string;
  arguments: string;
  /** What to bring back. */
  output?: string;
  files: Record<string, string>;
}

const EXAMPLES: Example[] = [
  { title: 'Hello', name: 'hello', executable: '/bin/echo', arguments: '"Hello, grid"', files: {} },
  {
    title: 'Count words in two files',
    name: 'count-words',
    executable: 'count.sh',
    arguments: 'poem.txt',
    output: 'lines.txt',
    files: {
      'count.sh': '#!/bin/sh\nset -e\nwc -w "$1"\nsort "$1" | uniq -c > lines.txt\n',
      'poem.txt': 'the quick brown fox\njumps over\nthe lazy dog\n',
    },
  },
  {
    title: 'Draw a picture',
    name: 'spiral',
    executable: 'spiral.sh',
    arguments: '12',
    output: '*.svg',
    files: {
      'spiral.sh': `#!/bin/sh
set -e
awk -v turns="$1" 'BEGIN {
  print "<svg xmlns=\\"http://www.w3.org/2000/svg\\" viewBox=\\"-210 -210 420 420\\">"
  for (i = 0; i < 900; i++) {
    a = i / 900 * turns * 6.2832; r = i / 900 * 200
    printf "<circle cx=\\"%.1f\\" cy=\\"%.1f\\" r=\\"%.1f\\" fill=\\"hsl(%d 80%% 50%%)\\"/>\\n", r * cos(a), r * sin(a), 1 + r / 60, i * 360 / 900
  }
  print "</svg>"
}' > spiral.svg
`,
    },
  },
  {
    title: 'Take a while',
    name: 'steps',
    executable: 'steps.sh',
    arguments: '15',
    files: {
      'steps.sh':
        '#!/bin/sh\ni=1\nwhile [ $i -le "$1" ]; do echo "step $i of $1"; i=$((i+1)); sleep 1; done\n',
    },
  },
];

/** A form for one job with its files; `?like=<jid>` fills it with those of another one. */
export const submitPage: Page = async ({ client, root, query, signal }) => {
  const form = new SubmitForm(client);
  const like = Number(query.get('like'));
  if (like > 0) await form.fillLike(like, signal);
  root.replaceChildren(h('div', { class: 'head' }, h('h1', {}, 'New job')), ...form.elements);
};

class SubmitForm {
  private files: NamedFile[] = [];
  /** What the form has no fields for, of a job that it was filled with, and its arguments. */
  private rest: Partial<ManifestRequest> = {};
  private words0: { text: string; value: ManifestRequest['Arguments'] } | undefined;
  private readonly note = h('div');
  private readonly list = h('ul', { class: 'files' });
  private readonly name = text('name', 'Name', 'hello');
  private readonly executable = text('executable', 'Program', '/bin/echo', {
    required: true,
    hint: 'An uploaded file, an absolute path, or a program that the site knows',
  });
  private readonly words = text('arguments', 'Arguments', 'Hello', {
    hint: 'As you would type them in a shell',
  });
  private readonly sites = text('sites', 'Sites', 'any', {
    hint: 'Separated by blanks; empty: any site',
  });
  private readonly output = text('output', 'Files to bring back', 'result.txt *.log', {
    hint: 'Names and patterns, separated by blanks; the two outputs come anyway',
  });
  private readonly picker = h('input', {
    type: 'file',
    id: 'files',
    multiple: true,
    onChange: () => this.addFiles(this.picker.files ?? []),
  });

  constructor(private readonly client: GridClient) {}

  get elements(): HTMLElement[] {
    const examples = EXAMPLES.map((example) =>
      h(
        'button',
        { type: 'button', class: 'plain small', onClick: () => this.fill(example) },
        example.title,
      ),
    );
    return [
      h('div', { class: 'examples', role: 'group', 'aria-label': 'Examples' }, 'Try: ', examples),
      this.note,
      this.form(),
    ];
  }

  /** Fills the form with the manifest and the input files of a job. */
  async fillLike(jid: number, signal: AbortSignal): Promise<void> {
    const { flags } = await this.client.getJob(jid, { signal });
    const manifest = await this.client.getJobManifest(jid, { signal });
    const { Arguments: words, OutputSandbox: output = [], Sites: sites = [] } = manifest;
    this.rest = Object.fromEntries(Object.entries(manifest).filter(([key]) => key !== 'JobID'));
    this.name.input.value = manifest.JobName ?? '';
    this.executable.input.value = manifest.Executable ?? '';
    this.words.input.value = Array.isArray(words) ? words.map(quoted).join(' ') : (words ?? '');
    this.words0 = { text: this.words.input.value, value: words };
    const own = new Set([manifest.StdOutput ?? 'std.out', manifest.StdError ?? 'std.err']);
    this.output.input.value = listed(output)
      .filter((name) => !own.has(name))
      .join(' ');
    this.sites.input.value = listed(sites)
      .filter((name) => name !== 'ANY')
      .join(' ');
    if (flags.inputSandboxReady) {
      const { files } = await this.client.listInputSandbox(jid, { signal });
      this.files = await Promise.all(
        files.map(async ({ name }) => ({
          name,
          content: await this.client.readInputSandboxFile(jid, name, { signal }),
        })),
      );
    }
    this.showFiles();
  }

  private form(): HTMLElement {
    const fields = [this.name, this.executable, this.words, this.output, this.sites];
    const drop = h(
      'div',
      {
        class: 'field drop',
        onDragOver: (event: DragEvent) => event.preventDefault(),
        onDrop: (event: DragEvent) => {
          event.preventDefault();
          this.addFiles(event.dataTransfer?.files ?? []);
        },
      },
      h('label', { htmlFor: 'files' }, 'Input files'),
      this.picker,
      this.list,
    );
    return h(
      'form',
      { class: 'card form', noValidate: true, onSubmit: (event: Event) => this.submit(event) },
      fields.map(({ element }) => element),
      drop,
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'submit' }, 'Submit'),
        h('button', { type: 'button', class: 'plain', onClick: () => this.check() }, 'Check only'),
      ),
    );
  }

  private fill(example: Example): void {
    this.rest = {};
    this.words0 = undefined;
    this.name.input.value = example.name;
    this.executable.input.value = example.executable;
    this.words.input.value = example.arguments;
    this.output.input.value = example.output ?? '';
    this.files = Object.entries(example.files).map(([name, content]) => ({
      name,
      content: new Blob([content], { type: 'text/plain' }),
    }));
    this.showFiles();
    this.name.input.focus();
  }

  private addFiles(files: FileList | File[]): void {
    const added = Array.from(files, (file) => ({ name: file.name, content: file }));
    const names = new Set(added.map(({ name }) => name));
    this.files = [...this.files.filter(({ name }) => !names.has(name)), ...added];
    this.picker.value = '';
    this.showFiles();
  }

  private showFiles(): void {
    const drop = (name: string) => (): void => {
      this.files = this.files.filter((file) => file.name !== name);
      this.showFiles();
    };
    const rows = this.files.map(({ name, content }) =>
      h(
        'li',
        {},
        h('span', { class: 'file' }, name),
        h('span', { class: 'soft' }, bytes(content.size)),
        h(
          'button',
          {
            type: 'button',
            class: 'plain small',
            'aria-label': `Remove ${name}`,
            onClick: drop(name),
          },
          'Remove',
        ),
      ),
    );
    this.list.replaceChildren(...rows);
  }

  private manifest(): ManifestRequest {
    const output = listOf(this.output.input.value);
    const { text, value } = this.words0 ?? {};
    const words = this.words.input.value;
    return {
      ...this.rest,
      Executable: this.executable.input.value.trim(),
      Arguments: words === text && value !== undefined ? value : words,
      JobName: this.name.input.value.trim() || 'job',
      Sites: listOf(this.sites.input.value),
      StdOutput: 'std.out',
      StdError: 'std.err',
      OutputSandbox: ['std.out', 'std.err', ...output],
      InputSandbox: this.files.map(({ name }) => name),
    };
  }

  private submit(event: Event): void {
    event.preventDefault();
    this.run(async () => {
      const jid = await this.client.submitWithFiles(this.manifest(), this.files);
      location.hash = `#/jobs/${jid}`;
    });
  }

  private check(): void {
    this.run(async () => {
      const form = new FormData();
      form.append('manifest', JSON.stringify(this.manifest()));
      for (const { name, content } of this.files) form.append('file', content, name);
      const answer = await this.client.submitJobs(form, { dryRun: true });
      const warnings = answer.warnings ?? [];
      const good = h(
        'div',
        { class: 'note', role: 'status' },
        h('p', {}, 'This job would be accepted.'),
      );
      good.append(...warnings.map(({ detail }) => h('p', {}, detail)));
      update(this.note, good);
    });
  }

  private run(work: () => Promise<void>): void {
    update(this.note);
    work().catch((error: unknown) => {
      const box = faultBox(error);
      this.note.replaceChildren(box);
      box.focus();
    });
  }
}

function listed(value: string | string[]): string[] {
  return Array.isArray(value) ? value : listOf(value);
}

/** A word as a shell would read it back. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function text(
  id: string,
  label: string,
  placeholder: string,
  { hint, required = false }: { hint?: string; required?: boolean } = {},
) {
  const input = h('input', {
    type: 'text',
    id,
    placeholder,
    required,
    autocomplete: 'off',
    spellcheck: false,
  });
  if (hint !== undefined) input.setAttribute('aria-describedby', `${id}-hint`);
  const element = h(
    'div',
    { class: 'field' },
    h('label', { htmlFor: id }, label),
    input,
    hint !== undefined && h('small', { id: `${id}-hint` }, hint),
  );
  return { input, element };
}

function listOf(words: string): string[] {
  return words.split(/[\s,]+/).filter((word) => word !== '');
}
