import { setTimeout as pause } from 'node:timers/promises';
import { SchedulerRegistry } from '@nestjs/schedule';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { BoundedQueue, systemClock } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { ChangeFeed, type Database } from '#src/database/index.js';
import { EventLog } from '#src/events/index.js';
import { QueryValues, readQuery } from '#src/http/index.js';
import { Metrics, Scheduler } from '#src/runtime/index.js';
import { JobFeed, jobEventText, type JobEvent } from '../../src/jobs/feed/job-feed.js';
import { jobSelector } from '../../src/jobs/feed/job-selector.js';
import { JobListRepository } from '../../src/jobs/list/job-list.repository.js';
import { ListJobsQuery, wantedOf } from '../../src/jobs/list/list-jobs.query.js';
import { JobHistoryEntity } from '../../src/jobs/state/job-history.entity.js';
import { JobParametersEntity } from '../../src/jobs/state/job-parameters.entity.js';
import { JOB_STATE_NAMES, type JobState } from '../../src/jobs/state/job-state.js';
import { mayMove } from '../../src/jobs/state/job-transitions.js';
import { JobsRepository } from '../../src/jobs/state/jobs.repository.js';
import { EventLogRepository } from '../../src/events/event-log.repository.js';
import { readCursor } from '../../src/events/feed-cursor.js';
import { FeedFollower } from '../../src/events/feed-follower.js';
import { runs, seed } from '../support/counts.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

/** Pages of a watcher that reads all. */
const PAGES = {
  permits: 1,
  maxWaiting: 0,
  maxWaitMs: () => 1_000,
  refusal: (reason: string) => new Error(reason),
};

const ROUNDS = runs(4);
/** Rounds that share the instances at the same time; each has jobs and watchers of its own. */
const AT_ONCE = 8;
const JOBS = 40;
const MOVES_OF_A_WRITER = 15;
const WRITERS = 10;
const SETUP = 'Prod';
/** Jobs go round and round: nobody ends them for good. */
const STATES = JOB_STATE_NAMES.filter((state) => !['Deleted', 'Done'].includes(state));
const QUERIES = [
  '',
  'status=Running&status=Matched',
  'site=A',
  'minorStatus=m7&jobGroup=g1',
  'jobGroup=g2',
  'killed=true',
];

interface Instance {
  database: Database;
  jobs: JobsRepository;
  lists: JobListRepository;
  feed: JobFeed;
  stop(): Promise<void>;
}

/** One move as the history of its job has it, in order. */
interface Passed {
  status: JobState;
  minorStatus: string;
  site: string;
}

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

describe(`${ROUNDS} rounds of writers and watchers`, () => {
  let scratch: ScratchDatabase;
  const instances: Instance[] = [];

  beforeAll(async () => {
    scratch = await scratchDatabase();
    for (let n = 0; n < 3; n += 1) instances.push(await open());
  });
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await scratch?.remove();
  });

  async function open(): Promise<Instance> {
    const database = await scratch.open();
    const changeFeed = new ChangeFeed(
      () => new pg.Client({ connectionString: scratch.url }),
      database,
    );
    const scheduler = new Scheduler(new SchedulerRegistry(), database, pino({ level: 'silent' }));
    const log = new EventLog({
      ...{ database, changeFeed, scheduler, clock: systemClock, metrics: new Metrics() },
      config: { eventRetention: 3600 } as Config,
      repository: new EventLogRepository(database),
    });
    log.onApplicationBootstrap();
    changeFeed.start();
    const { dataSource } = database;
    const jobs = new JobsRepository(
      database,
      dataSource.getRepository(JobHistoryEntity),
      dataSource.getRepository(JobParametersEntity),
      log,
    );
    return {
      ...{ database, jobs, lists: new JobListRepository(database), feed: new JobFeed(log, jobs) },
      stop: async () => {
        await scheduler.onModuleDestroy();
        log.onModuleDestroy();
        await changeFeed.stop();
      },
    };
  }

  async function makeJobs(round: number): Promise<number[]> {
    const [{ database }] = instances as [Instance];
    const rows = await database.query<{ jid: number }>({
      text: `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group, job_type,
          site, priority, cpu_time, submission_time, last_update)
        select '${SETUP}', $2, '', 'g', '', 'Waiting', 'new', 'n', 'g' || n % 3, 'User', 'ANY', 1, 1, now(), now()
        from generate_series(1, $1) n returning jid`,
      values: [JOBS, `round ${round}`],
    });
    return rows.map(({ jid }) => jid);
  }

  /** Moves jobs at random, commits late or not at all. */
  async function write(
    jids: number[],
    random: () => number,
    names: { last: number },
  ): Promise<void> {
    const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    for (let n = 0; n < MOVES_OF_A_WRITER; n += 1) {
      const { database, jobs } = one(instances);
      const work = database.transaction(async (transaction) => {
        for (let statement = random() < 0.3 ? 2 : 1; statement > 0; statement -= 1) {
          const chosen = new Set(
            Array.from({ length: 1 + Math.floor(random() * 4) }, () => one(jids)),
          );
          const moves = [...chosen].map((jid) => {
            const to = one(STATES);
            const next = random() < 0.3 ? STATES.filter((state) => mayMove(to, state)) : [];
            const path = next.length > 0 ? [to, one(next)] : [to];
            const steps = path.map((state) => ({ to: state, minor: `m${(names.last += 1)}` }));
            return { jid, steps: steps as [never], source: 'Test', set: { site: one(['A', 'B']) } };
          });
          await jobs.move(moves, new Date(), transaction);
          if (random() < 0.5) await pause(random() * 30);
        }
        if (random() < 0.1) throw new Error('undone');
      });
      await work.catch((error: unknown) => {
        if (!/undone|deadlock/.test(String(error))) throw error;
      });
    }
  }

  /** What a list shows now: job → minor status, which is another one after each move. */
  async function list(text: string, owner: string): Promise<Listed> {
    const query = readQuery(ListJobsQuery, new QueryValues(`?${text}&maxJobs=1000`));
    const visibility = { setup: SETUP, owner };
    const { lists } = instances[Math.floor(Math.random() * instances.length)] as Instance;
    const { jobs, position } = await lists.list(wantedOf(query, 10_000), visibility);
    const records = jobs.map(
      ({ record }) => JSON.parse(record) as { jid: number; minorStatus: string },
    );
    const shown = new Map(records.map(({ jid, minorStatus }) => [jid, minorStatus]));
    return { shown, position };
  }

  /** Watches until `isOver` and all of the log that there is by then; a new stretch begins with each list. */
  async function watch(
    text: string,
    owner: string,
    random: () => number,
    isOver: () => boolean,
  ): Promise<Stretch[]> {
    const one = (): Instance => instances[Math.floor(random() * instances.length)] as Instance;
    const query = readQuery(ListJobsQuery, new QueryValues(`?${text}&maxJobs=1000`));
    const visibility = { setup: SETUP, owner };
    const select = jobSelector(query, visibility);
    const stretches: Stretch[] = [];
    let end: number | undefined;
    for (;;) {
      const { shown, position } = await list(text, owner);
      const stretch: Stretch = { list: shown, events: [], isWhole: false };
      stretches.push(stretch);
      for (let after = position; ;) {
        const wasOver = isOver();
        const { feed } = one();
        const follower = new FeedFollower<JobEvent>({
          feed,
          from: readCursor(after, 'after'),
          signal: new AbortController().signal,
          pages: new BoundedQueue(PAGES),
          rights: () =>
            Promise.resolve((event: JobEvent) => {
              const told = select(event);
              return told && { event: told, data: jobEventText(event) };
            }),
        });
        await follower.open();
        const answer = JSON.parse((await follower.poll(random() * 60)) ?? '') as Polled;
        follower.close();
        after = answer.position;
        stretch.events.push(...answer.events);
        if (wasOver) {
          if (end === undefined) await feed.settle();
          end ??= await feed.latest();
          if (Number(after) >= end) {
            stretch.isWhole = true;
            return stretches;
          }
        } else if (random() < 0.1) break;
      }
    }
  }

  async function round(seed: number): Promise<void> {
    const [{ feed }] = instances as [Instance];
    const began = await feed.latest();
    const jids = await makeJobs(seed);
    const owner = `round ${seed}`;
    const names = { last: 0 };
    let isOver = false;
    const watchers = QUERIES.map(async (query, n) => ({
      query,
      stretches: await watch(query, owner, randomOf(seed * 1_000 + 500 + n), () => isOver),
    }));
    const writers = Array.from({ length: WRITERS }, (_, n) =>
      write(jids, randomOf(seed * 1_000 + n), names),
    );
    await Promise.all(writers).finally(() => (isOver = true));
    const past = await history(jids, began);
    for (const { query, stretches } of await Promise.all(watchers)) {
      for (const stretch of stretches) check(stretch, query, past);
      const { shown } = await list(query, owner);
      expect([seed, query, stateOf(stretches.at(-1))]).toEqual([seed, query, sorted(shown)]);
    }
    expect([...past.values()].flat().length).toBeGreaterThan(JOBS + 20);
  }

  const seeds = Array.from({ length: ROUNDS }, (_, n) => seed + n);
  const groups = seeds.flatMap((_, n) => (n % AT_ONCE === 0 ? [seeds.slice(n, n + AT_ONCE)] : []));
  it.each(groups.map((group) => [group]))(
    'leave every watcher with the list, and tell each move once and in order (seeds %j)',
    async (group) => {
      for (const result of await Promise.allSettled(group.map(round))) {
        if (result.status === 'rejected') throw result.reason;
      }
    },
    600_000,
  );

  /** What each job has passed: the state it was made in first. Its moves are logged behind `began`. */
  async function history(jids: number[], began: number): Promise<Map<number, Passed[]>> {
    const [{ database, feed }] = instances as [Instance];
    const past = new Map<number, Passed[]>(
      jids.map((jid) => [jid, [{ status: 'Waiting', minorStatus: 'new', site: 'ANY' }]]),
    );
    const sites = new Map<string, string>();
    await feed.settle();
    for (let after = began, end = -1; after !== end;) {
      end = await feed.latest();
      const { events, upto } = await feed.read({ position: after }, 1_000);
      for (const { job } of events) sites.set(`${job.jid} ${job.minorStatus}`, job.site);
      after = upto;
    }
    const rows = await database.query<Passed & { jid: number }>({
      text: `select jid, status, minor_status as "minorStatus" from job_history where jid = any($1::bigint[]) order by id`,
      values: [jids],
    });
    for (const { jid, status, minorStatus } of rows) {
      const site = sites.get(`${jid} ${minorStatus}`) ?? 'not in the log';
      past.get(jid)?.push({ status, minorStatus, site });
    }
    return past;
  }
});

/** Job → minor status. */
type Shown = Map<number, string>;

interface Listed {
  shown: Shown;
  position: string;
}

/** What a watcher has from one list on. */
interface Stretch {
  list: Shown;
  events: Polled['events'];
  /** It went on to the end of the log. */
  isWhole: boolean;
}

interface Polled {
  events: { id: string; event: string; data: Passed & { jid: number } }[];
  position: string;
}

const sorted = (shown: Shown): [number, string][] => [...shown].sort(([a], [b]) => a - b);

/** What somebody believes to be on the list who has read it once and then followed what he was told. */
function stateOf(stretch: Stretch | undefined): [number, string][] {
  const state: Shown = new Map(stretch?.list);
  for (const { event, data } of stretch?.events ?? []) {
    if (event === 'left') state.delete(data.jid);
    else state.set(data.jid, data.minorStatus);
  }
  return sorted(state);
}

/** Does the watcher have, job by job, all that the history says, once and in order? */
function check(stretch: Stretch, query: string, past: ReadonlyMap<number, Passed[]>): void {
  const isOn = filterOf(query, past);
  const ids = stretch.events.map(({ id }) => Number(id.split('-')[0]));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  const toldOf = new Map<number, string[]>();
  for (const { event, data } of stretch.events) {
    const told = toldOf.get(data.jid) ?? [];
    toldOf.set(data.jid, told);
    told.push(`${event} ${data.minorStatus}`);
  }
  for (const [jid, states] of past) {
    const told = toldOf.get(jid) ?? [];
    const listed = stretch.list.get(jid);
    const on = states.map((state) => isOn(state, jid));
    const all = states.map(({ minorStatus }, index) => {
      if (on[index] === true) return `job ${minorStatus}`;
      return on[index - 1] === true ? `left ${minorStatus}` : '';
    });
    // A job that was not listed was in any state that the filter does not let through: the first event says since when.
    const from =
      listed === undefined
        ? begin(all, told, on)
        : states.findIndex(({ minorStatus }) => minorStatus === listed) + 1;
    const expected = all.slice(from).filter((line) => line !== '');
    const wanted = stretch.isWhole ? expected : expected.slice(0, told.length);
    // Most agree; `expect` takes a hundred times as long as this.
    if (told.join() !== wanted.join()) expect({ [jid]: told }).toEqual({ [jid]: wanted });
  }
}

/** Where what was told of a job begins that was not on the list; its end when nothing was told. */
function begin(all: string[], told: string[], isOn: boolean[]): number {
  const [first] = told;
  if (first !== undefined) return all.indexOf(first);
  return isOn.lastIndexOf(true) + 2;
}

/** Whether a job in a state is on the list of the query. */
function filterOf(
  query: string,
  past: ReadonlyMap<number, Passed[]>,
): (state: Passed, jid: number) => boolean {
  const wanted = new URLSearchParams(query);
  const keys = [...new Set(wanted.keys())].map((key) => ({ key, values: wanted.getAll(key) }));
  const groups = new Map([...past.keys()].map((jid, index) => [jid, `g${(index + 1) % 3}`]));
  return ({ status, site, minorStatus }, jid) => {
    const job: Record<string, string | undefined> = {
      ...{ status, site, minorStatus },
      ...{ jobGroup: groups.get(jid), killed: String(status === 'Killed') },
    };
    return keys.every(({ key, values }) => values.includes(job[key] ?? ''));
  };
}
