import type { GridClient, JobExplainResponse, JobHistoryEntry, JobResponse } from 'gridgate/client';
import { GridError, stringifyJson } from 'gridgate/client';
import { actionButton } from '../parts/action.js';
import { h, say, update } from '../parts/dom.js';
import { moment } from '../parts/format.js';
import { takeNotice } from '../parts/notice.js';
import { confirmed, faultBox, saveAs, smallButton, stateLabel, timeText } from '../parts/pieces.js';
import { isFinal, toneOf } from '../parts/states.js';
import { swimLanes } from '../parts/swim-lanes.js';
import { ifAllowed } from '../parts/work.js';
import { failureCard, type Failure } from './failure.js';
import { outputNotes, sandboxSection } from './job-files.js';
import { LiveOutput } from './job/live-output.js';
import { measuredSection } from './job/measured.js';
import { atMoves } from './moves.js';
import { repeatedly, type Page } from './page.js';

/** How often it is looked at why it waits. */
const SECONDS = 2;
const AT_MOST_EVERY = 0.3;
const HELD = 'Held by ';
const NOT_YOURS = 'What it was submitted with, and its files, are not yours to read.';

/** One job: state, output while it runs, files afterwards, and how it came to be so. */
export const jobPage: Page = async ({ client, root, path, signal }) => {
  const jid = Number(path[0]);
  const view: View = frame();
  let last: JobResponse | undefined;
  /** The move after which all of it was shown. */
  let shownMove: string | undefined;
  const onFault = (error: unknown): void => update(view.lost, faultBox(error));
  /** Of whoever does not look at what came of it; a page that was left has nothing to say. */
  const again = (): Promise<void> =>
    refresh().catch((error: unknown) => {
      if (!signal.aborted) onFault(error);
    });
  const showFailure = async (failure: Failure): Promise<void> =>
    update(view.failure, await failureCard(failure));
  const refresh = async (): Promise<void> => {
    const job = await client.getJob(jid, { signal });
    if (last === undefined) root.replaceChildren(...takeNotice(), ...view.elements);
    if (last?.status !== job.status) say(`Job ${jid} is ${job.status}`);
    const isNew = shownMove !== job.times.lastUpdate;
    last = job;
    update(view.title, `Job ${jid}`, h('span', { class: 'soft' }, ` ${job.name}`));
    update(view.state, stateLabel(job.status), ` ${job.minorStatus}`);
    update(view.facts, facts(job));
    if (isNew) update(view.actions, actions(client, job, view, again));
    showOutput(view, job, () => new LiveOutput(client, jid, signal));
    await Promise.all([
      showWait(client, job, view.wait, signal),
      isNew ? showPast(client, job, view, signal) : undefined,
      isNew ? showFailure({ client, job, signal, refresh: () => void again() }) : undefined,
    ]);
    shownMove = job.times.lastUpdate;
    update(view.lost);
  };
  await refresh().catch((error: unknown) => {
    if (last === undefined || signal.aborted) throw error;
    onFault(error); // a part of the page is missing, and comes with the next look
  });
  const isWanted = (moved: number): boolean => moved === jid;
  const query = { allOwners: true, ...(last !== undefined && { name: last.name }) };
  void atMoves({ client, query, isWanted, atMostEvery: AT_MOST_EVERY, signal, onFault }, refresh);
  void repeatedly({ seconds: SECONDS, signal, onFault }, async () => {
    if (last !== undefined && !isFinal(last.status)) {
      await showWait(client, last, view.wait, signal);
      showLanes(view, Date.now());
      update(view.lost);
    }
  });
};

interface View extends ReturnType<typeof frame> {
  output?: LiveOutput | undefined;
  history?: readonly JobHistoryEntry[];
}

/** Where its time went; of one that has not ended until now. */
function showLanes({ lanes, history = [] }: View, now: number): void {
  update(
    lanes,
    h('section', { class: 'card' }, h('h2', {}, 'Where its time went'), swimLanes(history, now)),
  );
}

function frame() {
  const title = h('h1');
  const state = h('p', { class: 'now' });
  const fault = h('div');
  /** What goes wrong with looking at the job, until that goes well again. */
  const lost = h('div');
  const actions = h('div', { class: 'actions' });
  const facts = h('dl', { class: 'facts' });
  const live = h('div');
  const wait = h('div');
  const lanes = h('div');
  const failure = h('div');
  const files = h('div');
  const past = h('div', { class: 'columns' });
  const back = h('p', {}, h('a', { href: '#/jobs' }, '← All jobs'));
  const head = h('div', { class: 'head' }, h('div', {}, title, state), actions);
  return {
    title,
    state,
    fault,
    lost,
    actions,
    facts,
    live,
    wait,
    lanes,
    failure,
    files,
    past,
    elements: [back, head, fault, lost, failure, wait, live, files, facts, lanes, past],
  };
}

function facts(job: JobResponse): HTMLElement[] {
  const { times } = job;
  const list: [string, Node | string | undefined][] = [
    ['Site', job.site],
    ['Array', job.arrayId === undefined ? undefined : arrayLink(job.arrayId)],
    ['Owner', `${job.owner} (${job.ownerGroup})`],
    ['Submitted', timeText(times.submission)],
    ['Started', times.startExecution === undefined ? undefined : timeText(times.startExecution)],
    ['Ended', times.endExecution === undefined ? undefined : timeText(times.endExecution)],
  ];
  return list
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)));
}

function arrayLink(id: number): HTMLElement {
  return h('a', { href: `#/arrays/${id}` }, `array ${id}`);
}

function actions(
  client: GridClient,
  { jid, status, minorStatus }: JobResponse,
  { actions: place, fault: note }: View,
  refresh: () => Promise<void>,
): HTMLElement[] {
  const button = (text: string, look: string, work: () => Promise<unknown>): HTMLElement =>
    actionButton(text, { look, note }, async () => {
      await work();
      await refresh();
      // What was pressed is gone, and with it the focus.
      if (document.activeElement === document.body) place.querySelector('button')?.focus();
    });
  const kill = async (): Promise<void> => {
    if (await confirmed(`Kill job ${jid}? Its processes end at once.`, 'Kill')) {
      await client.killJob(jid);
    }
  };
  if (!isFinal(status)) {
    const isHeld = minorStatus.startsWith(HELD);
    const hold = isHeld
      ? button('Release', 'plain', () => client.releaseJob(jid))
      : button('Hold', 'plain', () => client.holdJob(jid));
    return [...(status === 'Waiting' ? [hold] : []), button('Kill', 'danger', kill)];
  }
  // What is done or killed stays so; what failed has its card.
  if (status === 'Deleted' || status === 'Failed') return [];
  return [h('a', { class: 'button plain', href: `#/submit?like=${jid}` }, 'Edit and resubmit')];
}

/** While it runs: what it writes. */
function showOutput(view: View, { status }: JobResponse, start: () => LiveOutput): void {
  if (status !== 'Running' && status !== 'Completing') {
    view.output?.end();
    view.output = undefined;
    update(view.live);
    return;
  }
  if (view.output) return;
  view.output = start();
  view.live.replaceChildren(view.output.element);
}

/** While it waits: why. */
async function showWait(
  client: GridClient,
  { jid, status }: JobResponse,
  place: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  if (toneOf(status) !== 'wait') {
    update(place);
    return;
  }
  const { sites, waitsFor } = await client.explainJob(jid, { signal }).catch(ignoreConflict);
  const rows = Object.entries(sites ?? {}).map(([site, reason]) =>
    h('li', {}, h('b', {}, site), ` ${reason}`),
  );
  update(
    place,
    (waitsFor !== undefined || rows.length > 0) &&
      h(
        'section',
        { class: 'card' },
        h('h2', {}, 'Why it waits'),
        waitsFor !== undefined && h('p', {}, waitsFor),
        h('ul', {}, rows),
      ),
  );
}

/** A job that has just left the state has nothing to explain; the next round knows. */
function ignoreConflict(error: unknown): Partial<JobExplainResponse> {
  if (error instanceof GridError && (error.status === 409 || error.status === 404)) return {};
  throw error;
}

async function showPast(
  client: GridClient,
  job: JobResponse,
  view: View,
  signal: AbortSignal,
): Promise<void> {
  const options = { signal };
  const [{ history }, parameters, manifest, output, input] = await Promise.all([
    client.getJobHistory(job.jid, options),
    client.getJobParameters(job.jid, options),
    ifAllowed(client.getJobManifest(job.jid, options)),
    job.flags.outputSandboxReady && ifAllowed(sandboxSection(client, job.jid, 'output', signal)),
    job.flags.inputSandboxReady && ifAllowed(sandboxSection(client, job.jid, 'input', signal)),
  ]);
  const steps = history.map(({ status, minorStatus, time, source }) =>
    h(
      'li',
      { class: toneOf(status) },
      h('b', {}, status),
      ` ${minorStatus}`,
      h('small', {}, `${moment(time)}, ${source}`),
    ),
  );
  view.history = history;
  showLanes(view, Date.now());
  update(view.files, output, outputNotes(parameters, job.jid), input);
  update(
    view.past,
    h('section', { class: 'card' }, h('h2', {}, 'History'), h('ol', { class: 'history' }, steps)),
    measuredSection(parameters),
    manifest ? manifestSection(job.jid, manifest) : h('p', {}, NOT_YOURS),
  );
}

function manifestSection(jid: number, manifest: object): HTMLElement {
  const saved = h('div');
  const text = stringifyJson(manifest, 2);
  const save = (): Promise<void> => {
    saveAs(new Blob([text]), `job-${jid}.json`);
    return Promise.resolve();
  };
  return h(
    'section',
    { class: 'card' },
    h(
      'div',
      { class: 'head' },
      h('h2', {}, 'Manifest'),
      smallButton('Save', 'Save the manifest', saved, save),
    ),
    saved,
    h('pre', { tabIndex: 0, role: 'region', 'aria-label': 'Manifest' }, text),
  );
}
