import { GridError, stringifyJson, type GridClient, type ManifestRequest } from 'gridgate/client';
import { h, say, update, type Child } from '../parts/dom.js';
import { textField, type Field } from '../parts/field.js';
import { count } from '../parts/format.js';
import { mark, Marked } from '../parts/form.js';
import { leaveNotice } from '../parts/notice.js';
import { faultBox } from '../parts/pieces.js';
import { keyOf, listOf, namesOf } from '../parts/words.js';
import type { Page } from './page.js';
import { Draft, ofLostTry, type DraftContent, type NamedFile } from './submit-draft.js';
import { EXAMPLES, type Example } from './submit-examples.js';
import { InputFiles } from './submit/input-files.js';
import { descriptionIn, likeJob, likeManifest } from './submit/like.js';
import { ProgramField, unreadLines } from './submit/program.js';
import { Repeats } from './submit/repeats.js';
import { Resources } from './submit/resources.js';
import { SiteField } from './submit/sites.js';

/**
 * A form for one job with its files; `?like=<jid>` fills it with those of another one, `&bring=made` with what that has made besides;
 * `?read=<path>` adds a file of the catalogue.
 */
export const submitPage: Page = async ({ client, root, query, signal, user, may }) => {
  if (!may('jobs:submit')) {
    throw new Error('Your group may look at jobs, not submit them. Sign in with another group.');
  }
  const form = new SubmitForm(client, new Draft(user));
  const like = Number(query.get('like'));
  const read = query.get('read');
  if (like > 0) await form.fillLike(like, query.get('bring') === 'made', signal);
  else form.restore();
  if (read !== null) form.read(read);
  // From now on it is what is written here, also after a reload or another sign-in.
  if (like > 0 || read !== null) history.replaceState(null, '', '#/submit');
  root.replaceChildren(h('div', { class: 'head' }, h('h1', {}, 'New job')), ...form.elements);
  form.offerSites(signal);
};

const NOTHING: DraftContent = { fields: {}, rest: {}, given: {}, files: [] };

class SubmitForm {
  private rest: DraftContent['rest'] = {};
  private given: DraftContent['given'] = {};
  private isBusy = false;
  private readonly kept = h('div');
  private readonly note = h('div');
  private readonly name = textField('name', 'Name', 'hello');
  private readonly group = textField('group', 'Job group', 'tuning', {
    hint: 'Jobs that belong together: the list can be narrowed down to them',
  });
  private readonly program = new ProgramField();
  private readonly words = textField('arguments', 'Arguments', 'Hello', {
    hint: 'As you would type them in a shell',
  });
  private readonly sites = new SiteField(() => this.keep());
  private readonly output = textField('output', 'Files to bring back', 'result.txt *.log', {
    hint: 'Names and patterns, separated by blanks; one with a blank in quotation marks. The two outputs come anyway',
  });
  private readonly repeats = new Repeats();
  private readonly after = textField('after', 'Start after jobs', '12 13', {
    hint: 'Numbers of jobs that must be done before, separated by blanks',
  });
  private readonly resources = new Resources();
  private readonly fields: readonly Field[] = [
    ...[this.name, this.group, this.program.field, this.words, this.output, this.sites.field],
    ...[...this.repeats.fields, this.after],
  ];
  private readonly input = new InputFiles({
    added: (files) => {
      this.keep();
      void this.tellOf(files);
      void this.program
        .suggest(files, (name) => this.input.has(name))
        .then((isTaken) => isTaken && this.keep());
    },
    removed: (name) => {
      this.program.forget(name);
      this.keep();
    },
  });
  /** Where a fault of a part of the manifest is shown. */
  private readonly places: Record<string, Pick<Field, 'label' | 'mark'>> = {
    JobName: this.name,
    JobGroup: this.group,
    Executable: this.program.field,
    Arguments: this.words,
    OutputSandbox: this.output,
    Sites: this.sites.field,
    Parameters: this.repeats.values,
    After: this.after,
    InputSandbox: this.input,
    ...this.resources.places,
  };
  private readonly buttons = [
    h('button', { type: 'submit' }, 'Submit'),
    h(
      'button',
      { type: 'button', class: 'plain', onClick: () => this.submit(true) },
      'Submit and hold',
    ),
    h('button', { type: 'button', class: 'plain', onClick: () => this.check() }, 'Check only'),
    h('button', { type: 'button', class: 'plain', onClick: () => this.clear() }, 'Start afresh'),
  ];

  constructor(
    private readonly client: GridClient,
    private readonly draft: Draft,
  ) {}

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
      this.kept,
      this.form(),
    ];
  }

  /** Fills the form with what was left unfinished. */
  restore(): void {
    const draft = this.draft.read();
    if (!draft) return;
    this.show(draft);
    const { lost } = draft;
    this.tell([
      'This was left here and not sent. Start afresh empties the form.',
      ...(lost.length > 0
        ? [`Choose again, as they cannot be kept over a reload: ${lost.join(', ')}`]
        : []),
    ]);
  }

  /** Fills the form with the manifest and the input files of a job. */
  async fillLike(jid: number, bring: boolean, signal: AbortSignal): Promise<void> {
    const { content, notes } = await likeJob(this.client, { jid, bring }, this.resources, signal);
    this.replace(content, notes);
  }

  /** Adds a file of the catalogue to those that the job reads. */
  read(path: string): void {
    this.resources.read(path);
    this.keep();
  }

  /** Sites to choose from come when they are known; without them their names are written. */
  offerSites(signal: AbortSignal): void {
    this.sites.offer(this.client, signal).catch(() => undefined);
  }

  /** What a script asks for has no effect; a file that describes a job may be meant to be this one. */
  private async tellOf(files: readonly NamedFile[]): Promise<void> {
    for (const { name, content } of files) {
      const unread = await unreadLines({ name, content });
      if (unread !== '') this.input.tell(name, [h('p', {}, unread)]);
      const manifest = await descriptionIn({ name, content });
      if (manifest === undefined) continue;
      const take = (): void => {
        const files = this.input.files.filter((file) => file.name !== name);
        try {
          const { content: filled, notes } = likeManifest(manifest, this.resources, name);
          this.replace({ ...filled, files });
          this.input.tell(
            '',
            notes.map((text) => h('p', {}, text)),
          );
        } catch {
          const command = `gridgate submit --dry-run ${name}`;
          const what = `A value in ${name} is not of the kind that its key has`;
          this.input.tell(name, [h('p', {}, `${what}: ${command} says which`)]);
        }
      };
      this.input.tell(name, [
        h('p', {}, `${name} looks like the description of a job.`),
        h(
          'button',
          { type: 'button', class: 'plain small', onClick: take },
          'Fill the form from it',
        ),
      ]);
    }
  }

  /** Fills the form with something else; what was written is had back by a button. */
  private replace(content: DraftContent, notes: readonly string[] = []): void {
    const before = this.draft.read();
    this.show(content);
    this.keep();
    this.tell(notes, before);
  }

  private tell(notes: readonly string[], before?: DraftContent): void {
    const lines: Child[] = notes.map((text) => h('p', {}, text));
    if (before !== undefined) {
      const onClick = (): void => this.replace(before);
      const back = h('button', { type: 'button', class: 'plain small', onClick }, 'Bring it back');
      lines.push(h('p', {}, 'This has replaced what was written here. ', back));
    }
    update(this.kept, lines.length > 0 && h('div', { class: 'note', role: 'status' }, lines));
  }

  private form(): HTMLElement {
    return h(
      'form',
      {
        ...{
          class: 'card form',
          noValidate: true,
          onSubmit: (event: Event) => {
            event.preventDefault();
            this.submit(false);
          },
        },
        onInput: () => this.keep(),
      },
      this.fields.map(({ element }) => element),
      this.resources.elements,
      this.input.element,
      h('div', { class: 'actions' }, this.buttons),
      this.note,
    );
  }

  private fill(example: Example): void {
    const { name, executable, arguments: words, output = '' } = example;
    const files = Object.entries(example.files).map(([file, content]) => ({
      name: file,
      content: new Blob([content], { type: 'text/plain' }),
    }));
    const fields = { name, executable, arguments: words, output };
    this.replace({ ...NOTHING, fields, files });
    this.name.input.focus();
  }

  private clear(): void {
    const before = this.draft.read();
    this.show(NOTHING);
    this.draft.clear();
    this.tell([], before);
    this.name.input.focus();
  }

  private show({ fields, rest, given, files }: DraftContent): void {
    for (const { input } of this.allFields) input.value = fields[input.id] ?? '';
    this.rest = rest;
    this.given = given;
    this.unmark();
    this.program.settle();
    this.sites.refresh();
    this.resources.fold();
    update(this.kept);
    this.input.show(files);
  }

  private get allFields(): Field[] {
    return [...this.fields, ...this.resources.fields];
  }

  /** Called at every change: what is in the form is kept, and is another job from now on. */
  private keep(): void {
    const fields = Object.fromEntries(this.allFields.map(({ input }) => [input.id, input.value]));
    const { rest, given } = this;
    this.draft.write({ fields, rest, given, files: this.input.files });
  }

  private manifest(): ManifestRequest {
    const output = namesOf(this.output.input.value);
    if (output === undefined)
      throw mark(this.output, 'has a quotation mark or backslash without its end');
    const { text, value } = this.given['arguments'] ?? {};
    const words = this.words.input.value;
    const after = listOf(this.after.input.value);
    const group = this.group.input.value.trim();
    const made: ManifestRequest = {
      ...this.rest,
      ...this.resources.manifest(this.given),
      ...this.repeats.manifest(),
      ...(after.length > 0 && {
        After: after.map((jid) => ({ jid: this.jidOf(jid), on: 'done' })),
      }),
      Executable: this.program.field.input.value.trim(),
      Arguments: words === text ? (value as string) : words,
      JobName: this.name.input.value.trim() || 'job',
      ...(group !== '' && { JobGroup: group }),
      Sites: listOf(this.sites.field.input.value),
      StdOutput: 'std.out',
      StdError: 'std.err',
      OutputSandbox: ['std.out', 'std.err', ...output],
      InputSandbox: [...this.fetched, ...this.input.files.map(({ name }) => name)],
    };
    this.repeats.demandPlace(stringifyJson(made).includes('%s'));
    return made;
  }

  /** Files of the catalogue among the input files of the job that the form was filled with. */
  private get fetched(): string[] {
    const { InputSandbox: names = [] } = this.rest;
    return names.filter((name) => /^LFN:/i.test(name));
  }

  /** Held, it waits until somebody releases it. */
  private submit(isHeld: boolean): void {
    this.run('Submitting …', async () => {
      const headers = { 'Idempotency-Key': this.draft.key };
      const body = this.body(isHeld);
      await this.input.assertReadable();
      const answer = await this.client
        .submitJobs(body, this.repeats.wish, { headers })
        .catch((error: unknown) => {
          throw ofLostTry(isHeld, error);
        });
      if (!('jids' in answer)) throw new GridError(0, { detail: 'The service named no jobs' });
      const { arrayId, jids, warnings = [] } = answer;
      leaveNotice(warnings.map(({ detail }) => detail));
      this.draft.clear();
      location.hash = arrayId === undefined ? `#/jobs/${jids[0]}` : `#/arrays/${arrayId}`;
      return 'left' as const;
    });
  }

  private body(isHeld = false): FormData {
    const form = new FormData();
    const manifest = { ...this.manifest(), ...(isHeld && { Hold: true }) };
    form.append('manifest', stringifyJson(manifest));
    for (const { name, content } of this.input.files) form.append('file', content, name);
    return form;
  }

  private jidOf(text: string): number {
    if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
    throw mark(this.after, `“${text}” is no number of a job`);
  }

  private check(): void {
    this.run('Checking …', async () => {
      const body = this.body();
      await this.input.assertReadable();
      const answer = await this.client.submitJobs(body, { ...this.repeats.wish, dryRun: true });
      const warnings = answer.warnings ?? [];
      const jobs = 'jobs' in answer ? answer.jobs : 1;
      const what = jobs === 1 ? 'This job' : `These ${count(jobs)} jobs`;
      const look = warnings.length > 0 ? 'note warning' : 'note';
      const good = h(
        'div',
        { class: look, role: 'status', tabIndex: -1 },
        h('p', {}, `${what} would be accepted${this.repeats.tried}.`),
      );
      good.append(...warnings.map(({ detail }) => h('p', {}, detail)));
      this.answer(good);
    });
  }

  /** One thing at a time: what is pressed meanwhile is not heard. */
  private run(what: string, work: () => Promise<'left' | void>): void {
    if (this.isBusy) return;
    this.setBusy(true);
    this.unmark();
    update(this.note, h('p', { class: 'soft', role: 'status' }, what));
    say(what);
    work().then(
      (how) => {
        say('');
        this.setBusy(how === 'left');
      },
      (error: unknown) => {
        say('');
        this.setBusy(false);
        this.refuse(error);
      },
    );
  }

  private setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    for (const button of this.buttons) {
      if (isBusy) button.setAttribute('aria-disabled', 'true');
      else button.removeAttribute('aria-disabled');
    }
  }

  private unmark(): void {
    for (const place of Object.values(this.places)) place.mark();
    update(this.note);
  }

  /** Faults of what the form has a field for are said there, in its words; everything else below the buttons. */
  private refuse(error: unknown): void {
    if (error instanceof Marked) {
      this.answer(faultBox(new Error(`Not submitted. ${error.message}.`)));
      this.note.parentElement?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
      return;
    }
    const violations = error instanceof GridError ? error.violations : [];
    const said = new Map<string, string[]>();
    for (const { field, problem } of violations) {
      const key = keyOf(field);
      if (this.places[key]) said.set(key, [...(said.get(key) ?? []), problem]);
    }
    for (const [field, problems] of said) this.places[field]?.mark(problems.join('; '));
    const others = violations.filter(({ field }) => !said.has(keyOf(field)));
    if (said.size === 0) {
      this.answer(faultBox(error));
      return;
    }
    const labels = [...said.keys()].map((field) => this.places[field]?.label);
    const box = h(
      'div',
      { class: 'fault', role: 'alert', tabIndex: -1 },
      h('p', {}, `Not submitted. Please look at: ${labels.join(', ')}.`),
      others.length > 0 &&
        h(
          'ul',
          {},
          others.map(({ field, problem }) => h('li', {}, h('b', {}, field), ` ${problem}`)),
        ),
    );
    this.note.replaceChildren(box);
    const first = this.note.parentElement?.querySelector<HTMLElement>('[aria-invalid]');
    first?.focus();
    first?.scrollIntoView({ block: 'center' });
  }

  /** Shows what came of it, where the eyes are. */
  private answer(box: HTMLElement): void {
    this.note.replaceChildren(box);
    box.focus();
    box.scrollIntoView({ block: 'nearest' });
  }
}
