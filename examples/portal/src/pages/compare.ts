import type { GridClient, JobResponse } from 'gridgate/client';
import { differing, sideBySide, type Parts } from '../parts/difference.js';
import { h } from '../parts/dom.js';
import { duration } from '../parts/format.js';
import { swimLanes } from '../parts/swim-lanes.js';
import type { Page } from './page.js';

/** Differ between any two jobs. */
const OWN_KEYS: ReadonlySet<string> = new Set(['JobID']);

/** Two jobs beside each other: what was asked for, what came of it, and where the time went. */
export const comparePage: Page = async ({ client, root, query, signal }) => {
  const [a, b] = ['a', 'b'].map((name) => Number(query.get(name)));
  if (!isId(a) || !isId(b)) {
    throw new Error('Choose two jobs in the list, then press Compare.');
  }
  const [one, other] = await Promise.all([about(client, a, signal), about(client, b, signal)]);
  const heads: [string, string, string] = ['What', `Job ${a}`, `Job ${b}`];
  const asked = differing(one.manifest, other.manifest, OWN_KEYS);
  const names = (left: Parts, right: Parts): string[] => [
    ...new Set([...Object.keys(left), ...Object.keys(right)]),
  ];
  const { facts, measured } = one;
  root.replaceChildren(
    h('p', {}, h('a', { href: '#/jobs' }, '← All jobs')),
    h('div', { class: 'head' }, h('h1', {}, `Job ${a} and job ${b}`)),
    section('What came of them', sideBySide(heads, names(facts, other.facts), facts, other.facts)),
    section(
      'What was asked for otherwise',
      asked.length > 0
        ? sideBySide(heads, asked, one.manifest, other.manifest)
        : h('p', {}, 'Both asked for the same.'),
    ),
    section(
      'Measured',
      sideBySide(heads, names(measured, other.measured), measured, other.measured),
    ),
    ...[one, other].map(({ job, history }) =>
      section(`Where the time of job ${job.jid} went`, swimLanes(history, Date.now())),
    ),
  );
};

function isId(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value > 0;
}

function section(title: string, content: Parameters<typeof h>[2]): HTMLElement {
  return h(
    'section',
    { class: 'card' },
    h('h2', {}, title),
    h('div', { class: 'wide', tabIndex: 0, role: 'region', 'aria-label': title }, content),
  );
}

async function about(client: GridClient, jid: number, signal: AbortSignal) {
  const options = { signal };
  const [job, manifest, measured, { history }] = await Promise.all([
    client.getJob(jid, options),
    client.getJobManifest(jid, options),
    client.getJobParameters(jid, options),
    client.getJobHistory(jid, options),
  ]);
  return { job, manifest: { ...manifest }, measured, history, facts: factsOf(job) };
}

function factsOf(job: JobResponse): Parts {
  const { times } = job;
  const between = (from: string | undefined, to: string | undefined): string =>
    from === undefined || to === undefined ? '—' : duration(Date.parse(to) - Date.parse(from));
  return {
    Name: job.name,
    State: `${job.status}: ${job.minorStatus}`,
    Site: job.site,
    Owner: `${job.owner} (${job.ownerGroup})`,
    'Waited for its start': between(times.submission, times.startExecution),
    'At work': between(times.startExecution, times.endExecution),
    Rescheduled: String(job.reschedules),
  };
}
