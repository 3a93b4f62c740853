import { setTimeout as pause } from 'node:timers/promises';
import { SchedulerRegistry } from '@nestjs/schedule';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { systemClock } from '#src/kernel/index.js';
import {
  ChangeFeed,
  cursorText,
  EventLog,
  Metrics,
  QueryValues,
  readQuery,
  Scheduler,
  type Config,
  type Database,
} from '#src/platform/index.js';
import { JobFeed, jobEventText, type JobEvent } from '../../src/jobs/feed/job-feed.js';
import { jobSelector } from '../../src/jobs/feed/job-selector.js';
import { JobListRepository } from '../../src/jobs/list/job-list.repository.js';
import { ListJobsQuery, wantedOf } from '../../src/jobs/list/list-jobs.query.js';
import { JobHistoryEntity } from '../../src/jobs/state/job-history.entity.js';
import { JobParametersEntity } from '../../src/jobs/state/job-parameters.entity.js';
import { JOB_STATE_NAMES, type JobState } from '../../src/jobs/state/job-state.js';
import { mayMove } from '../../src/jobs/state/job-transitions.js';
import { JobsRepository } from '../../src/jobs/state/jobs.repository.js';
import { EventLogRepository } from '../../src/platform/feed/event-log.repository.js';
import { readCursor } from '../../src/platform/feed/feed-cursor.js';
import { FeedFollower } from '../../src/platform/streams/feed-follower.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

/** GRID_FEED_ROUNDS=1000 for a long run, GRID_FEED_SEED for another one. */
const ROUNDS = Number(process.env['GRID_FEED_ROUNDS'] ?? 4);
const SEED = Number(process.env['GRID_FEED_SEED'] ?? 1);
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
function randomOf(seed: number): () => number {
  let state = seed;
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
  }, 60_000);
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

  /** Watches until `isOver` and the log's end; checks each stretch that begins with a list. */
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
    for (;;) {
      const { jobs, position } = await one().lists.list(wantedOf(query, 10_000), visibility);
      const stretch: Stretch = { list: new Map(), events: [], isWhole: false };
      for (const job of jobs) stretch.list.set(Number(job.jid), job.minorStatus);
      stretches.push(stretch);
      for (let after = position; ;) {
        const wasOver = isOver();
        const { feed } = one();
        const follower = new FeedFollower<JobEvent>({
          feed,
          from: readCursor(after, 'after'),
          signal: new AbortController().signal,
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
          await feed.settle();
          if (after === cursorText({ position: await feed.latest() })) {
            stretch.isWhole = true;
            return stretches;
          }
        } else if (random() < 0.1) break;
      }
    }
  }

  it.each(Array.from({ length: ROUNDS }, (_, n) => SEED + n))(
    'leave every watcher with the list, and tell each move once and in order (seed %i)',
    async (seed) => {
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
      const past = await history(jids);
      for (const { query, stretches } of await Promise.all(watchers)) {
        for (const stretch of stretches) check(stretch, query, past);
      }
      expect([...past.values()].flat().length).toBeGreaterThan(JOBS + 20);
    },
    60_000,
  );

  /** What each job has passed: the state it was made in first. */
  async function history(jids: number[]): Promise<Map<number, Passed[]>> {
    const [{ database, feed }] = instances as [Instance];
    const past = new Map<number, Passed[]>(
      jids.map((jid) => [jid, [{ status: 'Waiting', minorStatus: 'new', site: 'ANY' }]]),
    );
    const sites = new Map<string, string>();
    await feed.settle();
    for (let after = 0, end = -1; after !== end;) {
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

/** What a watcher has from one list on. */
interface Stretch {
  /** Job → minor status, which is another one after each move. */
  list: Map<number, string>;
  events: Polled['events'];
  /** It went on to the end of the log. */
  isWhole: boolean;
}

interface Polled {
  events: { id: string; event: string; data: Passed & { jid: number } }[];
  position: string;
}

/** Does the watcher have, job by job, all that the history says, once and in order? */
function check(stretch: Stretch, query: string, past: ReadonlyMap<number, Passed[]>): void {
  const wanted = new URLSearchParams(query);
  const ids = stretch.events.map(({ id }) => Number(id.split('-')[0]));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  for (const [jid, states] of past) {
    const isOn = (state: Passed | undefined): boolean =>
      state !== undefined && passes(state, jid, past, wanted);
    const told = stretch.events
      .filter(({ data }) => data.jid === jid)
      .map(({ event, data }) => `${event} ${data.minorStatus}`);
    const listed = stretch.list.get(jid);
    const all = states.map((state, index) => {
      if (isOn(state)) return `job ${state.minorStatus}`;
      return isOn(states[index - 1]) ? `left ${state.minorStatus}` : '';
    });
    // A job that was not listed was in any state that the filter does not let through: the first event says since when.
    const from =
      listed === undefined
        ? begin(all, told, states.map(isOn))
        : states.findIndex(({ minorStatus }) => minorStatus === listed) + 1;
    const expected = all.slice(from).filter((line) => line !== '');
    if (stretch.isWhole) expect(told).toEqual(expected);
    else expect(told).toEqual(expected.slice(0, told.length));
  }
}

/** Where what was told of a job begins that was not on the list; its end when nothing was told. */
function begin(all: string[], told: string[], isOn: boolean[]): number {
  const [first] = told;
  if (first !== undefined) return all.indexOf(first);
  return isOn.lastIndexOf(true) + 2;
}

function passes(
  state: Passed,
  jid: number,
  past: ReadonlyMap<number, Passed[]>,
  wanted: URLSearchParams,
): boolean {
  const group = `g${([...past.keys()].indexOf(jid) + 1) % 3}`;
  const values: Record<string, string> = {
    ...{ status: state.status, site: state.site, minorStatus: state.minorStatus },
    ...{ jobGroup: group, killed: String(state.status === 'Killed') },
  };
  return [...new Set(wanted.keys())].every((key) => wanted.getAll(key).includes(values[key] ?? ''));
}
