import { setTimeout as pause } from 'node:timers/promises';
import type { JobListResponse, JobResponse, ListJobsQuery } from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { isForPrograms, type Printing, type Shown } from '../terminal/output-format.js';
import { tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { isShown, progress } from './progress.js';
import { durationText } from './words.js';

const FINAL = new Set(['Done', 'Failed', 'Killed', 'Deleted']);
const POLL_MS = 500;
/** Ids that one request names; its address stays short enough for every proxy. */
const IDS_PER_REQUEST = 500;

/** True for a state that a job does not leave by itself. */
export function isFinal(status: string): boolean {
  return FINAL.has(status);
}

/** Columns of jobs, as people read them. */
export function listingOf(jobs: JobResponse[], now = Date.now()): Omit<Shown, 'value'> {
  const rows = jobs.map((job) => [
    ...[String(job.jid), job.status, job.minorStatus, exitOf(job), ageOf(job, now)],
    ...[job.site, job.owner, job.name],
    ...[job.ownerGroup, job.jobGroup, job.appStatus, job.times.submission],
  ]);
  const more = ['GROUP', 'JOB GROUP', 'APPLICATION', 'SUBMITTED'];
  const heading = ['JID', 'STATUS', 'MINOR STATUS', 'EXIT', 'AGE', 'SITE', 'OWNER', 'NAME'];
  const names = jobs.map(({ jid }) => String(jid));
  return { heading: [...heading, ...more], rows, wide: more.length, names };
}

function exitOf({ appStatus, status }: JobResponse): string {
  if (!isFinal(status)) return ''; // what is noted is of a run before
  const [, code] = /^Exited with code (\d+)$/.exec(appStatus) ?? [];
  return code ?? (status === 'Done' ? '0' : '');
}

function ageOf({ times }: JobResponse, now: number): string {
  return durationText((now - Date.parse(times.submission)) / 1000);
}

/** The first page of the jobs that are asked for. Throws CommandError for ids that are not there. */
export async function pageOf(grid: GridConnection, query: ListJobsQuery): Promise<JobListResponse> {
  const page = await grid.client.listJobs(query);
  if (query.status === undefined) {
    const seen = new Set(page.jobs.map(({ jid }) => jid));
    const unknown = [query.jid ?? []].flat().filter((jid) => !seen.has(jid));
    if (unknown.length > 0) {
      const text = `no such job: ${unknown.join(', ')} (or not yours: try --all)`;
      throw new CommandError(query.allOwners ? `no such job: ${unknown.join(', ')}` : text, 2);
    }
  }
  return page;
}

/** The jobs of these ids, in as many requests as it needs. */
export async function jobsOf(
  grid: GridConnection,
  jids: number[],
  query: ListJobsQuery = {},
): Promise<JobResponse[]> {
  const jobs: JobResponse[] = [];
  for (let from = 0; from < jids.length; from += IDS_PER_REQUEST) {
    const jid = jids.slice(from, from + IDS_PER_REQUEST);
    jobs.push(...(await pageOf(grid, { ...query, jid, maxJobs: jid.length })).jobs);
  }
  return jobs;
}

/** Asks until every job has ended. People see a bar; where nobody looks, a line for each change. */
export async function waitForEnd(
  grid: GridConnection,
  jids: number[],
  options: Printing & { all?: boolean },
): Promise<JobResponse[]> {
  const json = isForPrograms(options);
  const query = options.all ? { allOwners: true } : {};
  const bar = await progress({ title: 'ended', total: jids.length, json });
  const tellsLines = !isShown(json) && !json;
  const ended = new Map<number, JobResponse>();
  let last = '';
  try {
    for (;;) {
      const open = await jobsOf(
        grid,
        jids.filter((jid) => !ended.has(jid)),
        query,
      );
      for (const job of open) if (FINAL.has(job.status)) ended.set(job.jid, job);
      const line = countsOf([...ended.values(), ...open.filter(({ jid }) => !ended.has(jid))]);
      bar.update(ended.size, line);
      if (ended.size === jids.length) return jids.flatMap((jid) => ended.get(jid) ?? []);
      if (tellsLines && line !== last) tell(line);
      last = line;
      await pause(POLL_MS);
    }
  } finally {
    bar.stop();
  }
}

/** `Waiting 3, Done 1`. */
export function countsOf(jobs: { status: string }[]): string {
  const counts = new Map<string, number>();
  for (const { status } of jobs) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status} ${count}`).join(', ');
}
