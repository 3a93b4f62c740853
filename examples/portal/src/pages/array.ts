import { stringifyJson, type GridClient, type JobResponse } from 'gridgate/client';
import { differing, varyingParts } from '../parts/difference.js';
import { h, update } from '../parts/dom.js';
import { count, plural } from '../parts/format.js';
import { takeNotice } from '../parts/notice.js';
import { confirmed, faultBox, saveAs, stateLabel } from '../parts/pieces.js';
import { dataUrl } from '../parts/show/frame.js';
import { isFinal } from '../parts/states.js';
import { stateChart } from '../parts/state-chart.js';
import { forEach } from '../parts/work.js';
import { outputsCsv, type Values } from './array/outputs.js';
import { pictureType } from './job-files.js';
import { atMoves } from './moves.js';
import type { Page, PageInput } from './page.js';

const PAGE_SIZE = 48;
const AT_MOST_EVERY = 1;
const PICTURE_LIMIT = 500_000;
/** What of a member's manifest is its own whatever was varied. */
const OWN_KEYS: ReadonlySet<string> = new Set(['JobID']);

/** An array: its members beside each other, with what was varied, their states and the pictures that they have made. */
export const arrayPage: Page = async (input) => {
  const id = Number(input.path[0]);
  if (!Number.isSafeInteger(id) || id < 1) throw new Error('No array has that number.');
  const page = new ArrayPage(input, id);
  await page.refresh();
  input.root.replaceChildren(...takeNotice(), ...page.elements);
  const { client, signal } = input;
  const onFault = (error: unknown): void => update(page.lost, faultBox(error));
  const moves = { client, query: { allOwners: true, arrayId: id }, atMostEvery: AT_MOST_EVERY };
  void atMoves({ ...moves, signal, onFault }, () => page.refresh());
};

type Manifest = Record<string, unknown>;

class ArrayPage {
  /** What goes wrong with looking at it, until that goes well again. */
  readonly lost = h('div');
  private readonly fault = h('div');
  private readonly title = h('h1');
  private readonly chart = h('div');
  private readonly grid = h('ul', { class: 'members' });
  private readonly actions = h('div', { class: 'actions' });
  private readonly note = h('p', { class: 'soft', role: 'status' });
  private readonly more = h(
    'button',
    { type: 'button', class: 'plain', hidden: true, onClick: () => this.showMore() },
    'Show more',
  );
  private readonly manifests = new Map<number, Manifest>();
  /** By member and its last move. */
  private readonly pictures = new Map<string, string | undefined>();
  private shown = PAGE_SIZE;

  constructor(
    private readonly input: PageInput,
    private readonly id: number,
  ) {}

  get elements(): HTMLElement[] {
    const back = h('p', {}, h('a', { href: '#/jobs' }, '← All jobs'));
    const head = h('div', { class: 'head' }, this.title, this.actions);
    return [back, head, this.note, this.lost, this.fault, this.chart, this.grid, this.more];
  }

  async refresh(): Promise<void> {
    const { client, signal } = this.input;
    const { id } = this;
    const [array, list] = await Promise.all([
      client.getArray(id, { signal }),
      client.listJobs(
        { arrayId: id, allOwners: true, sort: 'jid', maxJobs: this.shown },
        { signal },
      ),
    ]);
    const { jobs } = list;
    await this.learn(jobs);
    await forEach(jobs, (job) => this.lookForPicture(client, job, signal));
    if (signal.aborted) return;
    const name = array.name === undefined ? '' : ` ${array.name}`;
    update(this.title, `Array ${id}`, h('span', { class: 'soft' }, name));
    const choose = (status: string | undefined): void => {
      const query = new URLSearchParams({ array: String(id), ...(status && { status }) });
      location.hash = `#/jobs?${query.toString()}`;
    };
    update(this.chart, stateChart(array.states, undefined, choose));
    update(this.actions, this.buttons(array.states));
    const varied = this.variedValues(jobs);
    update(
      this.grid,
      jobs.map((job, index) =>
        this.member(
          job,
          varied.map(([key, values]): [string, string] => [key, values[index] ?? '']),
        ),
      ),
    );
    this.more.hidden = jobs.length >= list.entries;
    update(this.lost);
  }

  /** Reads the manifests of members of which none is known. */
  private async learn(jobs: readonly JobResponse[]): Promise<void> {
    const { client, signal } = this.input;
    const unknown = jobs.filter(({ jid }) => !this.manifests.has(jid));
    await forEach(unknown, async ({ jid }) => {
      this.manifests.set(jid, { ...(await client.getJobManifest(jid, { signal })) });
    });
  }

  /** Keys in which members differ, and what of them differs, member by member. */
  private variedValues(jobs: readonly JobResponse[]): [key: string, values: string[]][] {
    const known = jobs.filter(({ jid }) => this.manifests.has(jid));
    return this.varied(known).map((key) => {
      const values = known.map(({ jid }) => textOf(this.manifests.get(jid)?.[key]));
      const parts = new Map(varyingParts(values).map((part, at) => [known[at], part]));
      return [key, jobs.map((job) => parts.get(job) ?? '?')];
    });
  }

  private async saveOutputs(): Promise<void> {
    const { client, signal } = this.input;
    let unknown = 0;
    const valuesOf = async (jobs: readonly JobResponse[]): ReturnType<Values> => {
      await this.learn(jobs);
      unknown = jobs.filter(({ jid }) => !this.manifests.has(jid)).length;
      // Dots stand for what all have in common, which a table does not say.
      return this.variedValues(jobs).map(([key, values]) => [
        key,
        values.map((value) => value.replaceAll(/^…|…$/g, '')),
      ]);
    };
    const onStep = (read: number, of: number): void =>
      update(this.note, `Reading what ${count(read)} of ${count(of)} have printed …`);
    const { table, unread, cut } = await outputsCsv(
      { client, id: this.id, signal },
      valuesOf,
      onStep,
    );
    update(
      this.note,
      unread > 0 && `What ${plural(unread, 'member')} printed could not be read. `,
      cut > 0 && `Of ${plural(cut, 'member')} the table has only the begin, with … behind it. `,
      unknown > 0 && `With ? stand ${plural(unknown, 'member')} whose manifest could not be read.`,
    );
    saveAs(table, `array-${this.id}.csv`);
  }

  private showMore(): void {
    this.shown += PAGE_SIZE;
    this.refresh().catch((error: unknown) => update(this.lost, faultBox(error)));
  }

  /** Keys in which members differ. */
  private varied(jobs: readonly JobResponse[]): string[] {
    const [first = {}, ...others] = jobs.map(({ jid }) => this.manifests.get(jid) ?? {});
    return [...new Set(others.flatMap((other) => differing(first, other, OWN_KEYS)))];
  }

  private member(job: JobResponse, varied: readonly [string, string][]): HTMLElement {
    const { jid, status, minorStatus } = job;
    const facts = varied.map(([key, value]) => h('div', {}, h('dt', {}, key), h('dd', {}, value)));
    const picture = this.pictures.get(keyOf(job));
    return h(
      'li',
      { class: 'card' },
      h('a', { href: `#/jobs/${jid}`, id: `member-${jid}` }, `Job ${jid}`),
      ' ',
      stateLabel(status),
      h('small', {}, minorStatus),
      h('dl', {}, facts),
      picture !== undefined && h('img', { src: picture, alt: `Picture of job ${jid}` }),
    );
  }

  /** The first picture that a member has brought back. One that cannot be read is looked at on the member's page. */
  private async lookForPicture(
    client: GridClient,
    job: JobResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const key = keyOf(job);
    if (!isFinal(job.status) || !job.flags.outputSandboxReady || this.pictures.has(key)) return;
    const { files } = await client.listOutputSandbox(job.jid, { signal });
    const file = files.find(
      ({ name, size, directory }) =>
        !directory && pictureType(name) !== undefined && size <= PICTURE_LIMIT,
    );
    const content = file && (await client.readOutputSandboxFile(job.jid, file.name, { signal }));
    const type = file && pictureType(file.name);
    this.pictures.set(key, content && type ? await dataUrl(content, type) : undefined);
  }

  private buttons(states: Record<string, number>): HTMLElement[] {
    const { client, may } = this.input;
    const ended = Object.keys(states).some(isFinal);
    const save = ended
      ? [this.button('Save outputs as CSV', 'plain', () => this.saveOutputs())]
      : [];
    if (!may('jobs:kill')) return save;
    const living = Object.entries(states).reduce(
      (sum, [status, number]) => sum + (isFinal(status) ? 0 : number),
      0,
    );
    const failed = states['Failed'] ?? 0;
    const kill = async (): Promise<void> => {
      const question = `Kill ${plural(living, 'member')} of array ${this.id}? Their processes end at once.`;
      if (await confirmed(question, 'Kill')) await client.killArray(this.id);
    };
    return [
      ...save,
      ...(failed > 0
        ? [this.button(`Retry ${plural(failed, 'failed one')}`, 'plain', () => this.retry())]
        : []),
      ...(living > 0 ? [this.button('Kill all', 'danger', kill)] : []),
    ];
  }

  private async retry(): Promise<void> {
    const { retried, refused, left } = await this.input.client.retryArray(this.id);
    update(
      this.note,
      retried > 0 && `${plural(retried, 'job')} will run again. `,
      refused > 0 &&
        `Not run again: ${plural(refused, 'job')}, rescheduled as often as that is possible; a new job can do it. `,
      left > 0 && `Not run again yet: ${plural(left, 'job')}, as no more jobs may wait now.`,
    );
  }

  private button(text: string, className: string, work: () => Promise<unknown>): HTMLElement {
    const button: HTMLButtonElement = h(
      'button',
      {
        type: 'button',
        class: className,
        onClick: () => {
          button.disabled = true; // a second press is no second wish
          update(this.fault);
          work()
            .then(() => this.refresh())
            .catch((error: unknown) => update(this.fault, faultBox(error)))
            .finally(() => (button.disabled = false));
        },
      },
      text,
    );
    return button;
  }
}

function keyOf({ jid, times }: JobResponse): string {
  return `${jid} ${times.lastUpdate}`;
}

function textOf(value: unknown): string {
  if (value === undefined) return '—';
  return typeof value === 'string' ? value : stringifyJson(value);
}
