import type { GridClient, JobResponse } from 'gridgate/client';
import { h, say, update } from '../../parts/dom.js';
import { count, plural } from '../../parts/format.js';
import { confirmed, faultBox } from '../../parts/pieces.js';
import { isFinal } from '../../parts/states.js';
import { forEach, slices, type Outcome } from '../../parts/work.js';
import type { Selection } from './selection.js';

/** Ids in one request. */
const SLICE = 100;
const MOST_REASONS = 5;
const HELD = 'Held by ';

type Kill = (jids: number[]) => Promise<Outcome<number>>;

/** Something that can be done with many jobs. */
interface Deed {
  verb: string;
  past: string;
  isDangerous?: true;
  /** What is lost. */
  warning?: string;
  fits: (job: JobResponse) => boolean;
  work: (client: GridClient, jids: number[], onStep: (done: number) => void) => ReturnType<Kill>;
}

const DEEDS: Deed[] = [
  {
    verb: 'Kill',
    past: 'Killed',
    isDangerous: true,
    warning: ' Their processes end at once.',
    fits: ({ status }) => !isFinal(status),
    work: killAll,
  },
  {
    verb: 'Hold',
    past: 'Held',
    fits: ({ status, minorStatus }) => status === 'Waiting' && !minorStatus.startsWith(HELD),
    work: (client, jids, onStep) => forEach(jids, (jid) => client.holdJob(jid), onStep),
  },
  {
    verb: 'Release',
    past: 'Released',
    fits: ({ status, minorStatus }) => status === 'Waiting' && minorStatus.startsWith(HELD),
    work: (client, jids, onStep) => forEach(jids, (jid) => client.releaseJob(jid), onStep),
  },
  {
    verb: 'Retry',
    past: 'Sent back to the queue',
    fits: ({ status }) => status === 'Failed',
    work: (client, jids, onStep) => forEach(jids, (jid) => client.rescheduleJob(jid), onStep),
  },
];

/** What can be done with the chosen jobs; nothing when none is chosen. */
export class BulkBar {
  readonly element = h('section', { class: 'bulk card', 'aria-label': 'Chosen jobs' });
  private readonly words = h('p', { role: 'status' });
  private readonly note = h('div');
  private readonly compare = h('a', { class: 'button plain small' }, 'Compare');
  private readonly buttons: { deed: Deed; button: HTMLButtonElement }[];
  private isBusy = false;

  constructor(
    private readonly client: GridClient,
    private readonly selection: Selection,
    mayKill: boolean,
  ) {
    this.buttons = (mayKill ? DEEDS : []).map((deed) => ({
      deed,
      button: h(
        'button',
        {
          type: 'button',
          class: deed.isDangerous ? 'danger small' : 'plain small',
          onClick: () => void this.run(deed),
        },
        deed.verb,
      ),
    }));
    const clear = h(
      'button',
      { type: 'button', class: 'plain small', onClick: () => selection.clear() },
      'Choose none',
    );
    const all = [...this.buttons.map(({ button }) => button), this.compare, clear];
    this.element.append(this.words, h('div', { class: 'actions' }, all), this.note);
    this.show();
  }

  show(): void {
    const { jobs, size, isAwaited } = this.selection;
    this.element.hidden = size === 0 && !isAwaited && this.note.childElementCount === 0;
    const chosen = size === 1 ? ' job is chosen' : ' jobs are chosen';
    update(this.words, h('b', {}, count(size)), chosen, isAwaited && ', more are on their way …');
    for (const { deed, button } of this.buttons) {
      const fitting = jobs.filter(deed.fits).length;
      button.disabled = fitting === 0 || this.isBusy || isAwaited;
      button.textContent = fitting === 0 ? deed.verb : `${deed.verb} ${count(fitting)}`;
    }
    const [one, other] = jobs;
    this.compare.hidden = size !== 2;
    if (one && other) this.compare.href = `#/compare?a=${one.jid}&b=${other.jid}`;
  }

  /** One thing at a time, with what the jobs are now. */
  private async run(deed: Deed): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.show();
    try {
      await this.renew();
      const fitting = this.selection.jobs.filter(deed.fits).map(({ jid }) => jid);
      if (fitting.length === 0) throw new Error(`None of the chosen jobs can be treated so now.`);
      const question = `${deed.verb} ${plural(fitting.length, 'job')}: ${named(fitting)}?`;
      if (!(await confirmed(`${question}${deed.warning ?? ''}`, deed.verb))) return;
      const onStep = (done: number): void =>
        update(
          this.note,
          h('p', { class: 'soft' }, `${count(done)} of ${count(fitting.length)} …`),
        );
      this.tell(deed, await deed.work(this.client, fitting, onStep));
      await this.renew();
    } catch (error) {
      update(this.note, faultBox(error));
    } finally {
      this.isBusy = false;
      this.show();
    }
  }

  private async renew(): Promise<void> {
    for (const jids of slices(this.selection.jobs, SLICE)) {
      const jid = jids.map((job) => job.jid);
      const { jobs } = await this.client.listJobs({ jid, maxJobs: SLICE, allOwners: true });
      this.selection.renew(jobs);
    }
  }

  private tell({ past }: Deed, { done, refused }: Outcome<number>): void {
    const summary = `${past}: ${plural(done.length, 'job')}.`;
    say(`${summary} ${refused.length > 0 ? `Refused: ${refused.length}.` : ''}`);
    const reasons = refused
      .slice(0, MOST_REASONS)
      .map(({ item, why }) => h('li', {}, `Job ${item}: ${why}`));
    const more = refused.length - MOST_REASONS;
    update(
      this.note,
      h('div', { class: 'note' }, h('p', {}, summary)),
      refused.length > 0 &&
        h(
          'div',
          { class: 'fault', role: 'alert' },
          h('p', {}, `Refused: ${plural(refused.length, 'job')}.`),
          h('ul', {}, reasons, more > 0 && h('li', {}, `and ${count(more)} more`)),
        ),
    );
  }
}

/** Some at once, as the service takes them. */
async function killAll(
  client: GridClient,
  jids: number[],
  onStep: (done: number) => void,
): Promise<Outcome<number>> {
  const outcome: Outcome<number> = { done: [], refused: [] };
  for (const jid of slices(jids, SLICE)) {
    const { results } = await client.killJobs({ jid });
    for (const [id, { status, detail }] of Object.entries(results)) {
      if (status === 200) outcome.done.push(Number(id));
      else outcome.refused.push({ item: Number(id), why: detail ?? `refused (${status})` });
    }
    onStep(outcome.done.length + outcome.refused.length);
  }
  return outcome;
}

function named(jids: readonly number[]): string {
  const shown = jids.slice(0, 8).join(', ');
  return jids.length > 8 ? `${shown} and ${count(jids.length - 8)} more` : shown;
}
