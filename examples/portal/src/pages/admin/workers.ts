import type { WorkerResponse } from 'gridgate/client';
import { actionButton, wideTable } from '../../parts/action.js';
import { h, update, type Child } from '../../parts/dom.js';
import { confirmed, timeText } from '../../parts/pieces.js';
import { doneBox, type Section, type SectionInput } from './section.js';

const MOST = 1_000;

/** The programs that run jobs of sites: those that are there, and those that went within the last day. */
export const workersSection: Section = async (input) => {
  const { client, signal } = input;
  const [{ workers }, { sites }] = await Promise.all([
    client.listWorkers({ limit: MOST }, { signal }),
    client.listSites({ signal }),
  ]);
  const others = sites.filter(({ backend }) => backend !== 'worker').map(({ name }) => name);
  const order = ({ site, name, id }: WorkerResponse): string => `${site}\0${name}\0${id}`;
  const rows = workers.toSorted((a, b) => order(a).localeCompare(order(b)));
  return [
    h('h2', {}, 'Workers'),
    h(
      'p',
      { class: 'soft' },
      'A worker joins a site with a secret: gridgate site secret add <site> makes one, where the service runs, and prints the line that starts the worker.',
      others.length > 0 && ` The service itself runs the jobs of ${others.join(', ')}.`,
    ),
    rows.length === 0
      ? h('p', {}, 'There are none.')
      : wideTable(
          'Workers',
          ['Worker', 'Site', 'State', 'What it has', 'Action'],
          rows.map((worker) => [
            [h('b', {}, worker.name), h('small', {}, `${worker.id}, version ${worker.version}`)],
            worker.site,
            stateOf(worker),
            capacityOf(worker),
            actionsOf(worker, input),
          ]),
        ),
    ...(workers.length === MOST ? [h('p', { class: 'soft' }, 'These are the first 1,000.')] : []),
  ];
};

function stateOf({ state, seenAt, drainingAt, removedAt, endsAt, fault }: WorkerResponse): Child {
  const since = { draining: drainingAt, gone: removedAt, silent: seenAt, active: undefined }[state];
  const text = state.slice(0, 1).toUpperCase() + state.slice(1);
  return [
    h('div', {}, text, since !== undefined && [', since ', timeText(since)]),
    state !== 'gone' &&
      endsAt !== undefined &&
      h('small', {}, 'Takes its leave ', timeText(endsAt)),
    fault !== undefined && h('small', {}, fault),
  ];
}

function capacityOf(worker: WorkerResponse): Child {
  const { processors, ramMB, gpus, tags = [], isolation } = worker;
  const facts = [
    processors !== undefined && `${processors} processors`,
    ramMB !== undefined && `${ramMB} MB of memory`,
    gpus !== undefined && gpus > 0 && `${gpus} GPUs`,
    tags.length > 0 && `tags ${tags.join(' ')}`,
    isolation !== undefined && `isolation: ${isolation}`,
  ];
  return facts.filter((fact) => fact !== false).join(', ');
}

function actionsOf(worker: WorkerResponse, input: SectionInput): Child {
  if (worker.state === 'gone') return undefined;
  return [
    worker.drainingAt === undefined && drainButton(worker, input),
    ' ',
    removeButton(worker, input),
  ];
}

function drainButton({ id, name }: WorkerResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const question = `Give ${name} no more jobs? What it runs goes on; it gets jobs again when it has ended and was started anew.`;
  return actionButton('Drain', { label: `Drain ${name}`, look: 'small', note }, async () => {
    if (!(await confirmed(question, 'Drain'))) return;
    await client.drainWorker(id);
    await refresh();
    update(note, doneBox(`${name} is given no more jobs.`));
  });
}

function removeButton({ id, name }: WorkerResponse, input: SectionInput): HTMLElement {
  const { client, note, refresh } = input;
  const question = `Remove ${name}? It is let in no more, and what it runs is lost: jobs of a worker that is to go on working are drained first.`;
  const look = { label: `Remove ${name}`, look: 'danger small', note };
  return actionButton('Remove', look, async () => {
    if (!(await confirmed(question, 'Remove'))) return;
    await client.removeWorker(id);
    await refresh();
    update(note, doneBox(`${name} is removed.`));
  });
}
