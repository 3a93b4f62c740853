import {
  encodePath,
  GridError,
  stringifyJson,
  type GridClient,
  type ManifestRequest,
} from 'gridgate/client';
import { h, update } from '../parts/dom.js';
import { textField } from '../parts/field.js';
import { count, plural } from '../parts/format.js';
import { faultBox } from '../parts/pieces.js';
import { slices } from '../parts/work.js';
import { namesOf } from '../parts/words.js';
import { conditionsOf, queryOf, type CataloguePlace } from './catalogue/place.js';
import type { Page } from './page.js';
import { InputFiles } from './submit/input-files.js';
import { ProgramField } from './submit/program.js';
import { Resources } from './submit/resources.js';

const MOST_FILES = 5_000;
const MOST_DIRECTORIES = 500;
const PAGE_SIZE = 1_000;
const SHOWN = 5;

/** Jobs on the files of a directory, or of what a search has found: so many files for each. */
export const runPage: Page = async ({ client, root, query, signal, may }) => {
  if (!may('jobs:submit')) throw new Error('Your group may look at jobs, not submit them.');
  const place = queryOf(query);
  root.replaceChildren(h('p', { class: 'empty' }, 'Looking for the files …'));
  const { files, isCut } = await filesOf(client, place, signal);
  if (signal.aborted) return;
  const back = h('p', {}, h('a', { href: place.hash({}) }, '← Back to the catalogue'));
  const title = h('div', { class: 'head' }, h('h1', {}, `Run on ${plural(files.length, 'file')}`));
  if (files.length === 0) {
    root.replaceChildren(back, title, h('p', {}, 'There are no files here.'));
    return;
  }
  const names = files.slice(0, SHOWN).map((path) => h('li', { class: 'file' }, path));
  const more = files.length - SHOWN;
  root.replaceChildren(
    back,
    title,
    isCut
      ? h(
          'p',
          { class: 'soft' },
          `The first ${count(files.length)} only: choose less for the others.`,
        )
      : '',
    h('ul', { class: 'files' }, names, more > 0 && h('li', {}, `and ${count(more)} more`)),
    new RunForm(client, files).element,
  );
};

/** Files of what is found, or of the directory and everything below it. */
async function filesOf(client: GridClient, place: CataloguePlace, signal: AbortSignal) {
  const files = new Set<string>();
  const directories = [place.at];
  if (Object.keys(place.chosen).length > 0) {
    directories.pop();
    const found = client.findDirectories(place.at, conditionsOf(place.chosen), { signal });
    for await (const { path } of found) directories.push(path);
  }
  const seen = new Set<string>();
  for (let at = directories.shift(); at !== undefined; at = directories.shift()) {
    if (seen.has(at)) continue;
    seen.add(at);
    if (files.size >= MOST_FILES || seen.size > MOST_DIRECTORIES) return { ...cut(files) };
    const inside = await client.listDirectory(encodePath(at), { limit: PAGE_SIZE }, { signal });
    for (const name of Object.keys(inside.Files)) files.add(`${at}/${name}`);
    directories.push(...Object.keys(inside.SubDirs).map((name) => `${at}/${name}`));
    const entries = Object.keys(inside.Files).length + Object.keys(inside.SubDirs).length;
    if (entries >= PAGE_SIZE) return { ...cut(files) };
  }
  return { files: [...files], isCut: false };
}

function cut(files: Set<string>): { files: string[]; isCut: boolean } {
  return { files: [...files].slice(0, MOST_FILES), isCut: true };
}

class RunForm {
  readonly element: HTMLElement;
  private readonly name = textField('run-name', 'Name', 'analysis');
  private readonly program = new ProgramField();
  private readonly words = textField('run-arguments', 'Arguments', '-l');
  private readonly output = textField('run-output', 'Files to bring back', 'result.txt *.log', {
    hint: 'Names and patterns, separated by blanks. The two outputs come anyway',
  });
  private readonly resources = new Resources(['InputData']);
  private readonly input = new InputFiles({
    added: (files) => {
      this.forget();
      void this.program.suggest(files, (name) => this.input.has(name));
    },
    removed: (name) => {
      this.forget();
      this.program.forget(name);
    },
  });
  private readonly each = textField('run-each', 'Files for each job', '10', { required: true });
  private readonly note = h('div');
  private readonly submitButton = h('button', { type: 'button', hidden: true });
  /** Under which what was checked is submitted: however often that is tried, it is one array. */
  private key = '';
  private checked: ManifestRequest[] | undefined;

  constructor(
    private readonly client: GridClient,
    private readonly files: readonly string[],
  ) {
    this.each.input.value = String(Math.min(10, files.length));
    this.each.input.inputMode = 'numeric';
    const fields = [this.name, this.program.field, this.words, this.each, this.output];
    this.submitButton.addEventListener('click', () => this.run(() => this.submit()));
    this.element = h(
      'form',
      {
        ...{ class: 'card form', noValidate: true },
        onInput: () => this.forget(),
        onSubmit: (event: Event) => {
          event.preventDefault();
          this.run(() => this.check());
        },
      },
      fields.map(({ element }) => element),
      this.resources.elements,
      this.input.element,
      h('div', { class: 'actions' }, h('button', { class: 'plain' }, 'Check'), this.submitButton),
      this.note,
    );
  }

  /** What was checked is not what is written now. */
  private forget(): void {
    this.checked = undefined;
    this.submitButton.hidden = true;
    for (const field of [this.program.field, this.each, this.output]) field.mark();
    update(this.note);
  }

  private isBusy = false;

  private run(work: () => Promise<void>): void {
    if (this.isBusy) return;
    this.isBusy = true;
    work()
      .catch((error: unknown) => update(this.note, faultBox(error)))
      .finally(() => (this.isBusy = false));
  }

  private async check(): Promise<void> {
    this.forget();
    const manifests = this.manifests();
    if (!manifests) return;
    const answer = await this.client.submitJobs(this.body(manifests), {
      array: true,
      dryRun: true,
    });
    const warnings = (answer.warnings ?? [])
      .slice(0, SHOWN)
      .map(({ detail }) => h('p', {}, detail));
    this.checked = manifests;
    this.key = crypto.randomUUID();
    this.submitButton.hidden = false;
    this.submitButton.textContent = `Submit ${plural(manifests.length, 'job')}`;
    const words = `${plural(manifests.length, 'job')} would be accepted.`;
    update(this.note, h('div', { class: 'note', role: 'status' }, h('p', {}, words), warnings));
  }

  private async submit(): Promise<void> {
    if (!this.checked) return;
    const headers = { 'Idempotency-Key': this.key };
    const body = this.body(this.checked);
    const answer = await this.client.submitJobs(body, { array: true }, { headers });
    if (!('jids' in answer)) throw new GridError(0, { detail: 'The service named no jobs' });
    const { arrayId, jids } = answer;
    location.hash = arrayId === undefined ? `#/jobs/${jids[0]}` : `#/arrays/${arrayId}`;
  }

  private body(manifests: readonly ManifestRequest[]): FormData {
    const form = new FormData();
    for (const manifest of manifests) form.append('manifest', stringifyJson(manifest));
    for (const { name, content } of this.input.files) form.append('file', content, name);
    return form;
  }

  private manifests(): ManifestRequest[] | undefined {
    const text = (field: { input: HTMLInputElement }): string => field.input.value.trim();
    const each = Number(text(this.each));
    if (text(this.program.field) === '') {
      this.program.field.mark('is missing');
      this.program.field.input.focus();
      return undefined;
    }
    const output = namesOf(text(this.output));
    if (output === undefined) {
      this.output.mark('has a quotation mark or backslash without its end');
      this.output.input.focus();
      return undefined;
    }
    if (!Number.isInteger(each) || each < 1 || each > this.files.length) {
      this.each.mark(`must be a whole number from 1 to ${count(this.files.length)}`);
      this.each.input.focus();
      return undefined;
    }
    return slices(this.files, each).map((InputData) => ({
      JobName: text(this.name) || 'run',
      Executable: text(this.program.field),
      ...(text(this.words) !== '' && { Arguments: text(this.words) }),
      ...this.resources.manifest({}),
      ...(output.length > 0 && { OutputSandbox: ['std.out', 'std.err', ...output] }),
      InputData,
    }));
  }
}
