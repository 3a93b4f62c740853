import { setTimeout as pause } from 'node:timers/promises';
import type { JobListResponse, JobResponse, ListJobsQuery } from '#src/client/index.js';
import type { CsvCell } from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import { isForPrograms, listOf, type Printing, type Shown } from '../terminal/output-format.js';
import { durationText, tell } from '../terminal/output.js';
import type { GridConnection } from './grid-connection.js';
import { isShown, progress } from '../terminal/progress.js';

const FINAL = new Set(['Done', 'Failed', 'Killed', 'Deleted']);
const POLL_MS = 500;
/** Ids that one request names; its address stays short enough for every proxy. */
const IDS_PER_REQUEST = 500;

/** True for a state that a job does not leave by itself. */
export function isFinal(status: string): boolean {
  return FINAL.has(status);
}

/** Jobs as people read them. */
export function listingOf(jobs: JobResponse[], now = Date.now()): Shown {
  const shown = listOf(
    { jobs },
    jobs,
    {
      JID: 'jid',
      STATUS: 'status',
      'MINOR STATUS': 'minorStatus',
      EXIT: exitOf,
      AGE: ({ times }) => durationText((now - Date.parse(times.submission)) / 1000),
      SITE: 'site',
      OWNER: 'owner',
      NAME: 'name',
    },
    {
      GROUP: 'ownerGroup',
      'JOB GROUP': 'jobGroup',
      APPLICATION: 'appStatus',
      SUBMITTED: ({ times }) => times.submission,
    },
  );
  const rows = jobs.map((job) => Object.values(CSV).map((cellOf) => cellOf(job)));
  return { ...shown, csv: { heading: Object.keys(CSV), rows } };
}

/** The columns for spreadsheets; times are instants of ISO 8601. */
const CSV: Record<string, (job: JobResponse) => CsvCell> = {
  ...{ jid: ({ jid }) => jid, name: ({ name }) => name },
  ...{ status: ({ status }) => status, minorStatus: ({ minorStatus }) => minorStatus },
  ...{ exitCode: exitOf, jobGroup: ({ jobGroup }) => jobGroup, owner: ({ owner }) => owner },
  ...{ site: ({ site }) => site, submitted: ({ times }) => times.submission },
  ...{ started: ({ times }) => times.startExecution, ended: ({ times }) => times.endExecution },
};

function exitOf({ appStatus, status }: JobResponse): string {
  if (!isFinal(status)) return ''; // what is noted is of a run before
  const [, code] = /^Exited with code (\d+)$/.exec(appStatus) ?? [];
  return code ?? (status === 'Done' ? '0' : '');
}

/** The first page of the jobs that are asked for. Throws CommandError for ids that are not there. */
export async function pageOf(grid: GridConnection, query: ListJobsQuery): Promise<JobListResponse> {
  const page = await grid.client.listJobs(query);
  if (query.status === undefined) {
    const seen = new Set(page.jobs.map(({ jid }) => jid));
    const unknown = [query.jid ?? []].flat().filter((jid) => !seen.has(jid));
    if (unknown.length > 0) {
      const hint = query.allOwners ? undefined : '--all looks among the jobs of others, too';
      throw new CommandError(`no such job: ${unknown.join(', ')}`, 2, hint);
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
  options: Printing & { all?: true | undefined },
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
