import { failureAdvice, type GridClient, type JobResponse } from 'gridgate/client';
import { differing, sideBySide } from '../parts/difference.js';
import { h, say, update, type Child } from '../parts/dom.js';
import { plural } from '../parts/format.js';
import { confirmed, faultBox } from '../parts/pieces.js';
import { ifAllowed } from '../parts/work.js';

/** Larger outputs are looked at below, among the files. */
const READ_LIMIT = 200_000;
const LAST_LINES = 15;
const MOST_RETRIED = 100;
/** Keys that differ between any two jobs. */
const OWN_KEYS: ReadonlySet<string> = new Set(['JobID', 'JobName', 'JobGroup']);

/** A job that may have failed. */
export interface Failure {
  client: GridClient;
  job: JobResponse;
  signal: AbortSignal;
  /** Looks at the job again. */
  refresh: () => void;
}

/** Why a job has failed, and what to do about it; nothing for others. */
export async function failureCard(failure: Failure): Promise<HTMLElement | undefined> {
  const { client, job, signal } = failure;
  if (job.status !== 'Failed') return undefined;
  const { jid, minorStatus, appStatus } = job;
  const [parameters, words, difference] = await Promise.all([
    client.getJobParameters(jid, { signal }),
    ifAllowed(lastWords(failure)),
    ifAllowed(differenceToGood(failure)),
  ]);
  const code = parameters['ExitCode'];
  const note = h('div');
  return h(
    'section',
    { class: 'card failure', 'aria-labelledby': 'failure' },
    h('h2', { id: 'failure' }, `Why it failed: ${minorStatus}`),
    appStatus !== 'Unknown' &&
      !appStatus.startsWith('Exited with code') &&
      h('p', {}, withLinks(appStatus)),
    code !== undefined && h('p', {}, 'Exit code ', h('b', {}, String(code))),
    h('p', {}, failureAdvice(minorStatus)),
    words !== undefined && [
      h('h3', {}, 'Last lines of its errors'),
      h('pre', { tabIndex: 0, role: 'region', 'aria-label': 'Last lines of its errors' }, words),
    ],
    difference,
    h('div', { class: 'actions' }, buttons(failure, note)),
    note,
  );
}

function buttons(failure: Failure, note: HTMLElement): HTMLElement[] {
  const { client, job, refresh } = failure;
  const run =
    (work: () => Promise<unknown>) =>
    (event: Event): void => {
      const pressed = event.currentTarget as HTMLButtonElement;
      pressed.disabled = true; // a second press is no second wish
      work()
        .then(refresh)
        .catch((error: unknown) => update(note, faultBox(error)))
        .finally(() => (pressed.disabled = false));
    };
  const all = async (): Promise<void> => {
    const same = await sameCause(failure);
    const newest = same.length === MOST_RETRIED ? 'the newest ' : '';
    const question = `Retry ${newest}${plural(same.length, 'failed job')} of ${job.owner} that ended with “${job.minorStatus}”?`;
    if (!(await confirmed(question, 'Retry all'))) return;
    let refused = 0;
    let why = '';
    for (const jid of same) {
      await client.rescheduleJob(jid).catch((error: unknown) => {
        refused += 1;
        why = error instanceof Error ? error.message : '';
      });
    }
    say(`${plural(same.length - refused, 'job')} sent back to the queue.`);
    update(
      note,
      h('p', { role: 'status' }, `${plural(same.length - refused, 'job')} sent back to the queue.`),
    );
    if (refused > 0) throw new Error(`${plural(refused, 'job')} could not be retried: ${why}`);
  };
  return [
    h('button', { type: 'button', onClick: run(() => client.rescheduleJob(job.jid)) }, 'Retry'),
    h('a', { class: 'button plain', href: `#/submit?like=${job.jid}` }, 'Edit and resubmit'),
    h('button', { type: 'button', class: 'plain', onClick: run(all) }, 'Retry all with this cause'),
  ];
}

async function sameCause({ client, job }: Failure): Promise<number[]> {
  const { jobs } = await client.listJobs({
    ...{ Status: ['Failed'], MinorStatus: [job.minorStatus], Owner: [job.owner] },
    ...{ maxJobs: MOST_RETRIED, allOwners: true },
  });
  return jobs.map(({ jid }) => jid);
}

/** The end of what it wrote to its standard error. */
async function lastWords({ client, job, signal }: Failure): Promise<string | undefined> {
  if (!job.flags.outputSandboxReady) return undefined;
  const manifest = await client.getJobManifest(job.jid, { signal });
  const { files } = await client.listOutputSandbox(job.jid, { signal });
  const file = files.find(({ name }) => name === (manifest.StdError ?? 'std.err'));
  if (!file || file.size === 0 || file.size > READ_LIMIT) return undefined;
  const content = await client.readOutputSandboxFile(job.jid, file.name, { signal });
  const lines = (await content.text()).trimEnd().split('\n');
  return lines.slice(-LAST_LINES).join('\n');
}

/** What was asked for otherwise in the last job of that name that went well. */
async function differenceToGood({
  client,
  job,
  signal,
}: Failure): Promise<HTMLElement | undefined> {
  const good = { Status: ['Done'], JobName: [job.name], Owner: [job.owner] };
  const { jobs } = await client.listJobs({ ...good, maxJobs: 1, allOwners: true }, { signal });
  const [last] = jobs;
  if (!last) return undefined;
  const [now, then] = await Promise.all([
    client.getJobManifest(job.jid, { signal }),
    client.getJobManifest(last.jid, { signal }),
  ]);
  const [mine, its] = [{ ...now }, { ...then }];
  const keys = differing(its, mine, OWN_KEYS);
  const place = h('a', { href: `#/jobs/${last.jid}` }, `job ${last.jid}`);
  if (keys.length === 0) {
    return h('p', {}, 'The last one of this name that went well, ', place, ', asked for the same.');
  }
  return h(
    'div',
    {},
    h('h3', {}, 'Different from the last one that went well, ', place),
    sideBySide(['Key', 'That one', 'This one'], keys, its, mine),
  );
}

/** `job 7` leads to it. */
function withLinks(text: string): Child[] {
  return text
    .split(/\b(job \d{1,15})\b/)
    .map((part) =>
      /^job \d+$/.test(part) ? h('a', { href: `#/jobs/${part.slice('job '.length)}` }, part) : part,
    );
}
