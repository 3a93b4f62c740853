import type { GridClient, JobResponse, ListJobsQuery } from 'gridgate/client';
import { csvText } from '../../parts/csv-text.js';

const PAGE = 1_000;
/** More than a browser should hold; the command and Python have no such bound. */
const MOST = 50_000;

const COLUMNS: [string, (job: JobResponse) => string | number | undefined][] = [
  ['job', ({ jid }) => jid],
  ['name', ({ name }) => name],
  ['job group', ({ jobGroup }) => jobGroup],
  ['status', ({ status }) => status],
  ['minor status', ({ minorStatus }) => minorStatus],
  ['application status', ({ appStatus }) => appStatus],
  ['site', ({ site }) => site],
  ['owner', ({ owner }) => owner],
  ['submitted', ({ times }) => times.submission],
  ['started', ({ times }) => times.startExecution],
  ['ended', ({ times }) => times.endExecution],
  ['last change', ({ times }) => times.lastUpdate],
  ['array', ({ arrayId }) => arrayId],
];

/** The jobs that match. Rejects when they are more than a browser should hold. */
export async function allJobs(
  client: GridClient,
  query: ListJobsQuery,
  signal: AbortSignal,
): Promise<JobResponse[]> {
  const jobs: JobResponse[] = [];
  for await (const job of client.walkJobs({ ...query, maxJobs: PAGE }, { signal })) {
    if (jobs.length === MOST) {
      throw new Error(`These are more than ${MOST} jobs: narrow them down, or use the command`);
    }
    jobs.push(job);
  }
  return jobs;
}

/** A list of jobs for a spreadsheet. */
export function jobsCsv(jobs: readonly JobResponse[]): Blob {
  const heads = COLUMNS.map(([head]) => head);
  return csvText([heads, ...jobs.map((job) => COLUMNS.map(([, value]) => value(job)))]);
}
