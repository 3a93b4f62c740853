import type { Command } from 'commander';
import pLimit from 'p-limit';
import type { JobResponse } from '#src/client/index.js';
import type { OptionsOf } from '../terminal/command.js';
import { confirm } from '../terminal/ask.js';
import { CommandError } from '../terminal/command-error.js';
import type { Shown } from '../terminal/output-format.js';
import { tell } from '../terminal/output.js';
import { jidOf } from '../terminal/reading.js';
import { explained } from './failures.js';
import type { GridConnection } from './grid-connection.js';
import { demandChoice, FILTER_OPTIONS, foundBy } from './job-filter.js';
import { countsOf, isFinal } from './job-listing.js';
import { onGrid } from './on-grid.js';

const OPTIONS = [
  ...FILTER_OPTIONS,
  ['-y, --yes', 'do not ask before changing what a filter finds'],
] as const;
type ControlOptions = OptionsOf<typeof OPTIONS>;

/** A verb on many jobs. */
interface Verb {
  name: string;
  description: string;
  /** What has been done to a job. */
  done: string;
  /** Which of the jobs that a filter finds the verb is for, and what to call the others. */
  isFor: (job: JobResponse) => boolean;
  others: string;
  /** Does it; answers the refusals. */
  work: (grid: GridConnection, jids: number[]) => Promise<Map<number, string>>;
}

/** One request of the service names so many jobs. */
const SLICE = 500;
const AT_ONCE = 8;
const REFUSED = 2;

const VERBS: Verb[] = [
  {
    name: 'kill',
    description: 'kill jobs: the given ones, or those that a filter finds',
    done: 'killed',
    isFor: ({ status }) => !isFinal(status),
    others: 'have ended',
    work: kill,
  },
  {
    name: 'hold',
    description: 'hold waiting jobs back until they are released',
    done: 'held',
    isFor: ({ status, minorStatus }) => status === 'Waiting' && !isHeld(minorStatus),
    others: 'do not wait, or are held',
    work: (grid, jids) => each(grid, jids, (jid) => grid.client.holdJob(jid)),
  },
  {
    name: 'release',
    description: 'let held jobs wait for their turn again',
    done: 'released',
    isFor: ({ status, minorStatus }) => status === 'Waiting' && isHeld(minorStatus),
    others: 'are not held',
    work: (grid, jids) => each(grid, jids, (jid) => grid.client.releaseJob(jid)),
  },
  {
    name: 'retry',
    description: 'let jobs that have failed run again, as the same jobs',
    done: 'waits to run again',
    isFor: ({ status }) => status === 'Failed',
    others: 'have not failed',
    work: (grid, jids) => each(grid, jids, (jid) => grid.client.rescheduleJob(jid)),
  },
];

/** `kill`, `hold`, `release`, `retry`. */
export const controlCommands: Command[] = VERBS.map((verb) =>
  onGrid(verb.name, verb.description, {
    args: [['[jid...]', 'job ids; or choose with --status, --group, --name, --where …', jidOf]],
    options: OPTIONS,
    show: (grid, jids, options) => control(grid, verb, jids, options),
  }),
);

async function control(
  grid: GridConnection,
  verb: Verb,
  jobs: number[],
  options: ControlOptions,
): Promise<Shown> {
  demandChoice(verb.name, jobs, options);
  const jids = jobs.length > 0 ? [...new Set(jobs)] : await chosen(grid, verb, options);
  const refusals = await verb.work(grid, jids);
  const done = jids.filter((jid) => !refusals.has(jid));
  const faults = [...refusals].map(([jid, why]) => `${jid}: ${why}`);
  return {
    value: { done, refused: Object.fromEntries(refusals) },
    lines: done.map((jid) => `${jid} ${verb.done}`),
    names: done.map(String),
    fault: faults.length > 0 && new CommandError(faults.join('\n'), REFUSED),
  };
}

/** The jobs that the filter finds and the verb is for, once the person has agreed. */
async function chosen(
  grid: GridConnection,
  verb: Verb,
  options: ControlOptions,
): Promise<number[]> {
  const all = await foundBy(grid, options);
  const found = all.filter(verb.isFor);
  const others = all.length - found.length;
  if (others > 0) tell(`left out: ${others} job(s) that ${verb.others}`);
  if (found.length === 0) throw new CommandError(`no job to ${verb.name}`, REFUSED);
  const owners = new Set(found.map(({ owner }) => owner));
  const whose = options.all ? ` of ${owners.size} owner(s)` : '';
  await confirm(`${verb.name} ${found.length} job(s)${whose} (${countsOf(found)})?`, options.yes);
  return found.map(({ jid }) => jid);
}

async function kill(grid: GridConnection, jids: number[]): Promise<Map<number, string>> {
  const refusals = new Map<number, string>();
  for (let from = 0; from < jids.length; from += SLICE) {
    const { results } = await grid.client.killJobs({ jid: jids.slice(from, from + SLICE) });
    for (const [jid, { status, detail }] of Object.entries(results)) {
      if (status !== 200) refusals.set(Number(jid), detail ?? String(status));
    }
  }
  return refusals;
}

/** A call for each job, a few at once; what is refused is no reason to leave the others alone. */
async function each(
  grid: GridConnection,
  jids: number[],
  call: (jid: number) => Promise<unknown>,
): Promise<Map<number, string>> {
  const refusals = new Map<number, string>();
  const limit = pLimit(AT_ONCE);
  await limit.map(jids, async (jid) => {
    try {
      await call(jid);
    } catch (error) {
      const told = explained(error, grid.server);
      if (!(told instanceof CommandError) || told.exitCode !== REFUSED) throw told;
      refusals.set(jid, told.message);
    }
  });
  return refusals;
}

function isHeld(minorStatus: string): boolean {
  return minorStatus.startsWith('Held');
}
