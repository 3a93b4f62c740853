import type { JobState } from './job-state.js';

/** Id of a job: a number, or a bigint beyond 2^53. */
export type Jid = number | bigint;

/** One row of the table `jobs`, as the driver gives it. */
export interface Job {
  jid: Jid;
  setup: string;
  owner: string;
  owner_dn: string;
  owner_group: string;
  vo: string;
  status: JobState;
  minor_status: string;
  app_status: string;
  name: string;
  job_group: string;
  job_type: string;
  site: string;
  priority: number;
  cpu_time: number;
  reschedules: number;
  wanted_sites: string[];
  banned_sites: string[];
  verified: boolean;
  retrieved: boolean;
  accounted: boolean;
  input_sandbox: string | null;
  output_sandbox: string | null;
  submission_time: Date;
  last_update: Date;
  heart_beat: Date | null;
  start_execution: Date | null;
  end_execution: Date | null;
  reschedule_time: Date | null;
  executor: string | null;
  attempt: number;
  run_reference: string | null;
}

/** Columns of a job row, for SELECT lists. */
export const JOB_COLUMNS: readonly (keyof Job)[] = [
  'jid',
  'setup',
  'owner',
  'owner_dn',
  'owner_group',
  'vo',
  'status',
  'minor_status',
  'app_status',
  'name',
  'job_group',
  'job_type',
  'site',
  'priority',
  'cpu_time',
  'reschedules',
  'wanted_sites',
  'banned_sites',
  'verified',
  'retrieved',
  'accounted',
  'input_sandbox',
  'output_sandbox',
  'submission_time',
  'last_update',
  'heart_beat',
  'start_execution',
  'end_execution',
  'reschedule_time',
  'executor',
  'attempt',
  'run_reference',
];

const MAX_JID = 2n ** 63n - 1n;

/** The id that a text spells; undefined for anything that is no positive 64-bit integer without leading zeros. */
export function parseJid(text: string): Jid | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(text)) return undefined;
  const value = BigInt(text);
  if (value > MAX_JID) return undefined;
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** Ids for the audit trail, shortened: `["7", "10-12"]`; whatever their order, each once. */
export function idRanges(jids: readonly Jid[]): string[] {
  const sorted = [...new Set(jids.map(BigInt))].sort((a, b) => (a < b ? -1 : 1));
  const ranges: { first: bigint; last: bigint }[] = [];
  for (const jid of sorted) {
    const range = ranges.at(-1);
    if (range && jid === range.last + 1n) range.last = jid;
    else ranges.push({ first: jid, last: jid });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`));
}

/** What the record shows before a site has taken the job. */
export function shownSite(sites: readonly string[]): string {
  if (sites.length === 0) return 'ANY';
  return sites.length === 1 ? (sites[0] as string) : 'Multiple';
}
