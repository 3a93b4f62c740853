import { appendFileSync } from 'node:fs';
import { Dice } from '../support/faults/dice.js';
import { FaultRound, type RoundOptions, type RoundRecord } from '../support/faults/fault-round.js';
import { FaultSite } from '../support/faults/fault-site.js';
import { leftovers } from '../support/faults/leftovers.js';
import type { ShownJob } from '../support/jobs.js';
import { eventually } from '../support/testbed.js';

const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);

/** The full size: GRID_FAULT_ROUNDS=20 GRID_FAULT_JOBS=300. */
const ROUNDS = number('GRID_FAULT_ROUNDS', 3);
const JOBS = number('GRID_FAULT_JOBS', 60);
const SEED = number('GRID_FAULT_SEED', 1);
const IS_FULL = JOBS >= 300;

/** A normal user has no accounts to give; how they are kept is the same way, so one round will do. */
const LEVELS: [string, number][] =
  process.getuid?.() === 0
    ? [
        ['namespaces', ROUNDS],
        ['accounts', Math.ceil(ROUNDS / 10)],
      ]
    : [['namespaces', ROUNDS]];

const KILLED_REASON = {
  payload: ['Application thread failed', 'Ended by signal SIGKILL'],
  supervisor: [
    'Job stalled: pilot not running',
    'The processes of the job are gone and left no exit code',
  ],
  both: [
    'Job stalled: pilot not running',
    'The processes of the job are gone and left no exit code',
  ],
} as const;
const GIVEN_UP = ['Job stalled: pilot not running', 'Nothing was heard of it any more'] as const;

/** The truths that a job may end with, as `status|minor|app`. */
function truthsOf(jid: number, record: RoundRecord): string[] {
  const fault = record.killed.get(jid);
  const truths = fault
    ? [`Failed|${KILLED_REASON[fault].join('|')}`]
    : ['Done|Execution Complete|Unknown'];
  if (record.outages.losing > 0) truths.push(`Failed|${GIVEN_UP.join('|')}`);
  const killed = 'Killed|Marked for termination|Unknown';
  if (record.cancelled.has(jid)) return [killed];
  return record.maybeCancelled.has(jid) ? [...truths, killed] : truths;
}

describe.each(LEVELS)(`jobs at level %s among kills (GRID_FAULT_SEED=${SEED})`, (level, rounds) => {
  let site: FaultSite;
  beforeAll(async () => {
    site = await FaultSite.start({
      GRID_JOB_LEASE: '5',
      GRID_LOCAL_SLOTS: '6',
      GRID_LOCAL_ISOLATION: level,
    });
  });
  afterAll(() => site?.remove());

  async function shown(name: string): Promise<ShownJob[]> {
    const answer = await site.client().get<{ entries: number; jobs: ShownJob[] }>('/jobs', {
      query: { jobGroup: name, maxJobs: 10_000 },
    });
    expect([answer.status, answer.body.entries]).toEqual([200, answer.body.jobs.length]);
    return answer.body.jobs;
  }

  /** Rows of the history that follow a final state: there must be none. */
  async function revived(name: string): Promise<object[]> {
    return site.sql(
      `select h.jid, h.status, n.status as next from job_history h
        join jobs j on j.jid = h.jid and j.job_group = $1
        join job_history n on n.jid = h.jid and n.id > h.id
        where h.status in ('Done', 'Failed', 'Killed', 'Deleted')`,
      [name],
    );
  }

  /** No instance holds a job that is over. */
  async function isLetGoOf(): Promise<void> {
    const held = (): Promise<object[]> =>
      site.sql('select jid, status, executor, attempt from jobs where executor is not null');
    const isFree = async (): Promise<boolean> => (await held()).length === 0;
    const started = Date.now();
    await eventually(isFree, 'every job to be let go of', 60_000).catch(() => undefined);
    const left = await held();
    const seconds = (Date.now() - started) / 1000;
    if (seconds > 5) process.stdout.write(`let go of after ${seconds} s\n`);
    if (left.length > 0) process.stdout.write(`${site.logs()}\n`);
    expect(left).toEqual([]);
  }

  /** No process, file, directory of a run, lock of an account, IPC object, mount or cgroup. */
  async function leavesNothing(): Promise<void> {
    const isClean = async (): Promise<boolean> => (await leftovers(site.traces())).length === 0;
    await eventually(isClean, 'nothing to be left', 60_000).catch(() => undefined);
    const left = await leftovers(site.traces());
    if (left.length > 0) process.stdout.write(`${site.logs()}\n`); // what the instances say is the only trace
    expect(left).toEqual([]);
  }

  function report(round: number, record: RoundRecord, jobs: ShownJob[], seconds: number): void {
    const path = process.env['GRID_FAULT_REPORT'];
    if (path === undefined) return;
    const ends: Record<string, number> = {};
    for (const { status, minorStatus } of jobs) {
      ends[`${status}: ${minorStatus}`] = (ends[`${status}: ${minorStatus}`] ?? 0) + 1;
    }
    const { faults, outages } = record;
    const row = {
      level,
      round,
      seed: SEED + round,
      jobs: jobs.length,
      seconds,
      faults,
      outages,
      ends,
    };
    appendFileSync(path, `${JSON.stringify(row)}\n`);
  }

  /** What was done to a job, and what the service tells of it. */
  async function storyOf(jid: number, record: RoundRecord): Promise<object> {
    const { body } = await site.client(0).get(`/jobs/${jid}/history`);
    return { fault: record.killed.get(jid), note: record.notes.get(jid), history: body };
  }

  it.each(Array.from({ length: rounds }, (_, index) => index))(
    'are not lost, not started twice, and end truthfully: round %i',
    async (round) => {
      const options: RoundOptions = {
        name: `faults-${round}`,
        jobs: JOBS,
        jobMs: IS_FULL ? 400 : 250,
        pauseMs: IS_FULL ? 700 : 250,
        patienceMs: IS_FULL ? 180_000 : 120_000,
        most: IS_FULL ? { instance: 8, postgres: 16 } : { instance: 2, postgres: 3 },
        outages: IS_FULL
          ? [
              ['short', 12],
              ['stalling', 3],
              ['losing', 1],
            ]
          : [['short', 1]],
      };
      const started = Date.now();
      const record = await new FaultRound(site, new Dice(SEED + round), options).run();
      const jobs = await shown(options.name);
      report(round, record, jobs, (Date.now() - started) / 1000);

      // Every acknowledged job is there, and none that was not asked for, whatever was retried.
      expect(jobs.map(({ jid }) => jid).sort((a, b) => a - b)).toEqual(
        [...record.jids].sort((a, b) => a - b),
      );
      expect(jobs).toHaveLength(JOBS);
      const untrue = jobs.filter(({ jid, status, minorStatus, appStatus }) => {
        return !truthsOf(jid, record).includes(`${status}|${minorStatus}|${appStatus}`);
      });
      const told = await Promise.all(untrue.map(({ jid }) => storyOf(jid, record)));
      expect({ untrue, told }).toEqual({ untrue: [], told: [] });

      const lines = site.linesByJob();
      const twice = jobs.filter(({ jid }) => (lines.get(jid) ?? 0) > 1);
      const unheard = jobs.filter(({ jid, status }) => status === 'Done' && lines.get(jid) !== 1);
      const odd = [...new Set([...twice, ...unheard].map(({ jid }) => jid))];
      const stories = await Promise.all(odd.map((jid) => storyOf(jid, record)));
      if (odd.length > 0) process.stdout.write(`${JSON.stringify(stories)}\n${site.logs()}\n`);
      const jids = (some: ShownJob[]): number[] => some.map(({ jid }) => jid);
      expect({ twice: jids(twice), unheard: jids(unheard) }).toEqual({ twice: [], unheard: [] });
      expect(await revived(options.name)).toEqual([]);
      await isLetGoOf();
      await leavesNothing();
    },
  );

  it('leave nothing, and their instances neither', async () => {
    const roots = await site.stop();
    expect({ roots: roots.filter((path) => !path.includes('/jobs/runs')) }).toEqual({ roots: [] });
    expect(await leftovers(site.traces())).toEqual([]);
  });
});
