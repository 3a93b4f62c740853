import { Inject, Injectable } from '@nestjs/common';
import { stringifyJson, type Clock, type JsonObject, CLOCK } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { columnsOf, Database, type Transaction } from '#src/database/index.js';
import { BATCH_BACKENDS } from '#src/registry/index.js';
import type { JobExecutorEntity } from './job-executor.entity.js';
import type { BatchWait } from '../state/batch-wait.js';
import { Job } from '../state/job.entity.js';
import type { Jid } from '../state/job.js';
import { JobsRepository, type Move } from '../state/jobs.repository.js';
import type { RunUse } from '../state/run-use.js';
import { mergeParameters } from '../state/jobs.repository.js';
import { noteUse, useColumns } from '../state/run-use.sql.js';
import {
  MANIFEST_COLUMNS,
  MANIFEST_JOIN,
  manifestOf,
  type ManifestRow,
} from '../manifest/stored-manifest.js';
import type { JobState } from '../state/job-state.js';
import { IN_LANE_ORDER, isQueued, LANE } from './lanes.repository.js';
import type {
  Executor,
  HeldJob,
  RunLeft,
  RunOrder,
  Submitter,
  WholeMachine,
} from '../run/executor.js';

/** A new job whose input data is to be looked up. */
export interface JobToAdmit {
  jid: Jid;
  submitter: Submitter;
  manifest: JsonObject;
  /** Who holds it back. */
  heldBy: Job['heldBy'];
}

/** What an executor says of itself. */
export type ExecutorSign = Pick<Executor, 'id' | 'backend' | 'fault'>;

/** An executor that was heard of lately. */
export type LiveExecutor = Pick<JobExecutorEntity, 'backend' | 'fault'> & {
  /** Of the service's own worker, or of all workers of a site. */
  machines: WholeMachine[];
};

/** Seconds without a sign of life. */
export interface Silence {
  ofExecutors: number;
  ofWorkers: number;
}

/** A worker that has been silent for less may have missed two answers to claims. */
const LEAST_WORKER_LEASE = 90;

/** After how many seconds nothing is expected to be alive. */
export function silenceOf({ jobLease }: Pick<Config, 'jobLease'>): Silence {
  return { ofExecutors: jobLease, ofWorkers: Math.max(LEAST_WORKER_LEASE, jobLease) };
}

/** A run of an executor that has been silent, or of a worker that is gone for good. */
export interface ExpiredRun {
  jid: Jid;
  attempt: number;
  status: JobState;
  executor: string;
  isOfWorker: boolean;
  isGone: boolean;
}

const IS_SILENT = `e.seen_at < clock_timestamp()
  - make_interval(secs => case e.backend when 'worker' then $3::float8 else $2::float8 end)`;
const IS_GONE = `(e.backend = 'worker'
  and not exists (select from worker w where w.removed_at is null and e.executor = 'worker:' || w.id))`;

/** As many jobs are counted; a place far back is no more than that. */
const MOST_AHEAD = 10_000;
/** Of more lanes the jobs are walked through, this many at most. */
const MOST_LANES = 2_000;
const MOST_WALKED = 200_000;

/** After so long without a sign of it an executor is at work on no instance. */
const UNHEARD_SECONDS = 30;

type ToAdmitRow = Pick<Job, 'jid' | 'owner' | 'ownerGroup' | 'heldBy'> & ManifestRow;

const HELD_PROPERTIES = [
  'jid',
  'attempt',
  'site',
  'setup',
  'owner',
  'ownerGroup',
  'cpuTime',
  'inputSandbox',
  'status',
  'runReference',
  'startExecution',
  'lastUpdate',
] as const;

type HeldRow = Pick<Job, (typeof HELD_PROPERTIES)[number]> & ManifestRow;

const HELD_COLUMNS = `${columnsOf(Job, { alias: 'j', only: HELD_PROPERTIES })}, ${MANIFEST_COLUMNS}`;
const SUBMITTER = columnsOf(Job, { alias: 'j', only: ['jid', 'owner', 'ownerGroup'] });

/** What dispatchers and executors ask the database. */
@Injectable()
export class DispatchRepository {
  constructor(
    private readonly database: Database,
    private readonly jobs: JobsRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Everything that an executor holds. */
  async held(executor: string): Promise<HeldJob[]> {
    const rows = await this.database.query<HeldRow>({
      name: 'jobs-held',
      text: `select ${HELD_COLUMNS} from jobs j ${MANIFEST_JOIN}
        where j.executor = $1 order by j.jid`,
      values: [executor],
    });
    return rows.map(heldOf);
  }

  /** Ids, attempts and states of what an executor holds: the cheap question that is asked every few seconds. */
  async heldStates(executor: string): Promise<{ jid: Jid; attempt: number; status: JobState }[]> {
    return this.database.query({
      name: 'jobs-held-states',
      text: 'select jid, attempt, status from jobs where executor = $1',
      values: [executor],
    });
  }

  /** Lets go of a run that is over, without moving the job; an output that came late is still kept. */
  async release(
    run: { jid: Jid; attempt: number; executor: string },
    left: RunLeft = {},
  ): Promise<void> {
    const { output = null, endedAt = null, use } = left;
    const used = use === undefined ? null : JSON.stringify(use);
    await this.database.execute({
      name: 'jobs-release',
      text: RELEASE,
      values: [String(run.jid), run.attempt, run.executor, output, endedAt, used],
    });
  }

  /** True while the very run is under way in the hands of the executor. */
  async isUnderWay(run: { jid: Jid; attempt: number; executor: string }): Promise<boolean> {
    const rows = await this.database.query({
      name: 'jobs-under-way',
      text: `select from jobs where jid = $1 and attempt = $2 and executor = $3
        and status in ('Matched', 'Running', 'Stalled', 'Completing', 'Completed')`,
      values: [String(run.jid), run.attempt, run.executor],
    });
    return rows.length > 0;
  }

  /** Notes why jobs that the executor holds wait in its queue; nothing of those that have begun, or are being moved. */
  async noteWaits(
    executor: string,
    waits: readonly { jid: Jid; attempt: number; wait: BatchWait }[],
  ): Promise<void> {
    await this.database.execute({
      name: 'jobs-note-waits',
      text: `update jobs j set batch_wait = held.wait
        from (select j.jid, w.wait
          from jsonb_to_recordset($2::jsonb) as w (jid bigint, attempt integer, wait jsonb)
            join jobs j using (jid, attempt)
          where j.executor = $1 and j.status = 'Matched'
          for no key update of j skip locked) held
        where j.jid = held.jid`,
      values: [executor, stringifyJson(waits)],
    });
  }

  /** How often the job was given back to the queue with a reason that begins so. */
  async countGivenBack(jid: Jid, reason: string): Promise<number> {
    const [row] = await this.database.query<{ n: number }>({
      name: 'jobs-given-back',
      text: `select count(*)::integer as n from job_history
        where jid = $1 and status = 'Rescheduled' and starts_with(app_status, $2)`,
      values: [String(jid), reason],
    });
    return row?.n ?? 0;
  }

  /** Adds what became known of a run after its end; nothing when the job has gone on to another attempt. */
  async addParameters(
    run: { jid: Jid; attempt: number },
    parameters: Record<string, string | number>,
  ): Promise<void> {
    await this.database.execute({
      name: 'jobs-add-parameters',
      text: mergeParameters(`select jid, $3::jsonb from jobs
          where jid = $1 and attempt = $2 and status in ('Done', 'Failed')`),
      values: [String(run.jid), run.attempt, JSON.stringify(parameters)],
    });
  }

  /** Puts better numbers in the place of those of a run that was written down a few minutes ago. */
  async correctUse(run: { jid: Jid; attempt: number }, use: RunUse): Promise<void> {
    await this.database.execute({
      name: 'jobs-correct-use',
      text: `update job_runs set (processors, wall_seconds, cpu_seconds, used_mb, given_mb)
          = (select ${useColumns('$3::jsonb')})
        where jid = $1 and attempt = $2`,
      values: [String(run.jid), run.attempt, JSON.stringify(use)],
    });
  }

  /** Says that the executor is alive, by the database's clock. */
  async recordHeartbeat({ id, backend, fault }: ExecutorSign, instance: string): Promise<void> {
    await this.database.execute({
      name: 'jobs-beat',
      text: `insert into job_executors as e (executor, instance, backend, seen_at, fault)
        values ($1, $2, $3, clock_timestamp(), $4)
        on conflict (executor) do update set instance = $2, backend = $3, seen_at = clock_timestamp(),
          fault = case when $5 then $4 else e.fault end`,
      values: [id, instance, backend, fault ?? null, fault !== undefined],
    });
  }

  /** Says why an instance cannot use an executor; nothing while another instance does. */
  async recordUnusable({ id, backend, fault }: ExecutorSign, instance: string): Promise<void> {
    await this.database.execute({
      name: 'jobs-unusable',
      text: `insert into job_executors as e (executor, instance, backend, seen_at, fault)
        values ($1, $2, $3, clock_timestamp(), $4)
        on conflict (executor) do update set instance = $2, backend = $3, seen_at = clock_timestamp(), fault = $4
          where e.instance = $2 or e.seen_at < clock_timestamp() - make_interval(secs => ${UNHEARD_SECONDS})`,
      values: [id, instance, backend, fault ?? 'It cannot be used'],
    });
  }

  /** Notes the sign of life in the records of running jobs; seldom, since every note writes each row. */
  async recordJobHeartbeats(executor: string, olderThan: Date): Promise<void> {
    await this.database.execute({
      name: 'jobs-beat-jobs',
      text: `update jobs set heart_beat = $3
        where executor = $1 and status in ('Running', 'Completing')
          and coalesce(heart_beat, start_execution) < $2`,
      values: [executor, olderThan, this.now()],
    });
  }

  /**
   * Jobs of executors that have been silent for so long, and of workers that are gone. Jobs of a batch system are none of them: they run, or wait
   * to be started, without any instance, and only who sees its shared directory may give them back.
   */
  async heldByExpired(silence: Silence, states: readonly JobState[]): Promise<ExpiredRun[]> {
    return this.database.query({
      name: 'jobs-held-by-expired',
      text: `select j.jid, j.attempt, j.status, j.executor, e.backend = 'worker' as "isOfWorker", ${IS_GONE} as "isGone"
        from jobs j join job_executors e using (executor)
        where e.backend <> all($1) and j.status = any($4::text[]) and (${IS_SILENT} or ${IS_GONE})
        order by j.jid limit 5000`,
      values: [BATCH_BACKENDS, silence.ofExecutors, silence.ofWorkers, states],
    });
  }

  /** Jobs that went back to the queue, or were killed, while a lost executor still holds their last run: nobody waits for it. null: of none. */
  async releaseExpired(silence: Record<keyof Silence, number | null>): Promise<void> {
    await this.database.execute({
      name: 'jobs-release-expired',
      text: `update jobs j set executor = null from job_executors e
        where j.executor = e.executor
          and j.status not in ('Matched', 'Running', 'Stalled', 'Completing', 'Completed')
          and e.backend <> all($1) and (${IS_SILENT} or ${IS_GONE})`,
      values: [BATCH_BACKENDS, silence.ofExecutors, silence.ofWorkers],
    });
  }

  /** Moves new jobs with input data on: `decide` says which paths are missing. Answers how many were looked at. */
  async admit(limit: number, decide: (job: JobToAdmit) => Promise<Move>): Promise<number> {
    return this.database.transaction(async (transaction) => {
      const rows = await transaction.query<ToAdmitRow>({
        name: 'jobs-to-admit',
        text: `select ${SUBMITTER}, j.held_by as "heldBy", ${MANIFEST_COLUMNS}
          from jobs j ${MANIFEST_JOIN}
          where j.status in ('Received', 'Checking') order by j.jid limit $1
          for update of j skip locked`,
        values: [limit],
      });
      const moves: Move[] = [];
      for (const row of rows) {
        const submitter = { user: row.owner, group: row.ownerGroup };
        const { jid, heldBy } = row;
        moves.push(await decide({ jid, submitter, heldBy, manifest: manifestOf(row, jid) }));
      }
      await this.jobs.move(moves, this.now(), transaction);
      return rows.length;
    });
  }

  /** Those of the jobs that the executor holds. */
  async heldJobs(executor: string, jids: readonly Jid[]): Promise<HeldJob[]> {
    if (jids.length === 0) return [];
    const rows = await this.database.query<HeldRow>({
      name: 'jobs-held-of',
      text: `select ${HELD_COLUMNS} from jobs j ${MANIFEST_JOIN}
        where j.jid = any ($2::bigint[]) and j.executor = $1 order by j.jid`,
      values: [executor, jids.map(String)],
    });
    return rows.map(heldOf);
  }

  /** One held job. */
  async heldJob(jid: Jid): Promise<(HeldJob & { executor: string }) | undefined> {
    const [row] = await this.database.query<HeldRow & { executor: string | null }>({
      name: 'jobs-held-job',
      text: `select ${HELD_COLUMNS}, j.executor from jobs j ${MANIFEST_JOIN}
        where j.jid = $1`,
      values: [String(jid)],
    });
    return row?.executor ? { ...heldOf(row), executor: row.executor } : undefined;
  }

  /** Executors that were seen lately, by id; the workers of a site together are `worker:<site>`. */
  async liveExecutors({
    ofExecutors,
    ofWorkers,
  }: Silence): Promise<ReadonlyMap<string, LiveExecutor>> {
    const rows = await this.database.query<LiveExecutor & { executor: string }>({
      name: 'jobs-live-executors',
      text: `select e.executor, e.backend, e.fault,
            case when w.id is null then '[]' else jsonb_build_array(w.facts) end as machines from job_executors e
          left join worker w on w.site is null and w.removed_at is null and e.executor = 'local:' || w.id
          where e.backend <> 'worker' and e.seen_at > clock_timestamp() - make_interval(secs => $1)
        union all
        select 'worker:' || site, 'worker', case when bool_or(fault is null) then null else min(fault) end,
            coalesce(jsonb_agg(facts) filter (where fault is null), '[]')
          from (select w.site, w.facts, coalesce(e.fault, case when w.draining_at is not null then 'its workers are drained'
                when w.paused_until > clock_timestamp() then 'its worker pauses, as its last runs went wrong' end) as fault
              from worker w join job_executors e on e.executor = 'worker:' || w.id
              where w.removed_at is null and e.seen_at > clock_timestamp() - make_interval(secs => $2)) live
          group by site`,
      values: [ofExecutors, ofWorkers],
    });
    return new Map(rows.map(({ executor, ...live }) => [executor, live]));
  }

  /**
   * How many jobs wait in front of this one, at most 10,000, also when nobody can say: those of its owner, those of these groups
   * and its own, or all.
   */
  async jobsAhead(
    { jid, priority, owner, ownerGroup }: Job,
    of: 'owner' | ReadonlySet<string> | undefined,
  ): Promise<number> {
    const isOwn = of === 'owner';
    const groups = of && !isOwn ? [...of, ownerGroup] : null;
    const values = [String(jid), priority, ...(isOwn ? [ownerGroup, owner] : [groups])];
    const [row] = await this.database.query<{ n: number; isWhole: boolean }>({
      name: isOwn ? 'jobs-own-ahead' : 'jobs-ahead',
      text: isOwn ? OWN_AHEAD : AHEAD,
      values,
    });
    if (row?.isWhole) return Number(row.n);
    const [walk] = await this.database.query<{ n: number; isCut: boolean }>({
      name: isOwn ? 'jobs-own-walked' : 'jobs-walked',
      text: isOwn ? OWN_WALKED : WALKED,
      values,
    });
    return walk?.isCut ? MOST_AHEAD : Number(walk?.n ?? 0);
  }

  /** Claimed jobs as their executor takes them. */
  async orders(transaction: Transaction, jids: readonly Jid[]): Promise<RunOrder[]> {
    const rows = await transaction.query<HeldRow>({
      name: 'jobs-orders',
      text: `select ${HELD_COLUMNS} from jobs j ${MANIFEST_JOIN}
        where j.jid = any ($1::bigint[])`,
      values: [jids.map(String)],
    });
    return rows.map(heldOf);
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

function heldOf(row: HeldRow): HeldJob {
  const { jid, attempt, site, setup, owner, ownerGroup, cpuTime, status, lastUpdate } = row;
  return {
    ...{ jid, attempt, site, setup, owner, ownerGroup, cpuTime, status, lastUpdate },
    manifest: manifestOf(row, jid),
    inputSandbox: row.inputSandbox,
    reference: row.runReference,
    startedAt: row.startExecution,
  };
}

const RELEASE = `
  with released as (
    update jobs set executor = null,
      output_sandbox = case when status = 'Killed' then coalesce($4, output_sandbox) else output_sandbox end
    where jid = $1 and attempt = $2 and executor = $3
      and status not in ('Matched', 'Running', 'Stalled', 'Completing', 'Completed')
    returning jid, attempt, setup, vo, owner_group, owner, site, job_group
  )
  ${noteUse('(select *, coalesce($5::timestamptz, clock_timestamp()) as ended_at, false as is_done, $6::jsonb as use from released) r')}`;

/**
 * Two parts of each lane, each from its front on: however many wait, no more is read than is counted. `isWhole` is false when there
 * are more lanes than that.
 */
const aheadIn = (first: string, next: string, counted = 'true'): string => `
  with recursive lanes as (
    (select ${LANE} from jobs j where ${isQueued('j')} and ${first} order by ${IN_LANE_ORDER} limit 1)
    union all
    select next.* from lanes l cross join lateral (
      select ${LANE} from jobs j where ${isQueued('j')} and ${next} order by ${IN_LANE_ORDER} limit 1) as next
  ), lane as materialized (
    select * from lanes limit ${MOST_LANES}
  )
  select (select count(*) from lane) < ${MOST_LANES} as "isWhole", (select count(*) from (
    select from (select * from lane where ${counted}) lane cross join lateral (
      (select from jobs j where ${isQueued('j')} and (${LANE}) = (lane.owner_group, lane.owner, lane.shape)
        and j.priority > $2 limit ${MOST_AHEAD})
      union all
      (select from jobs j where ${isQueued('j')} and (${LANE}) = (lane.owner_group, lane.owner, lane.shape)
        and j.priority = $2 and j.jid < $1 limit ${MOST_AHEAD})) as before
    limit ${MOST_AHEAD}) x) as n`;

/** What has very many lanes has few jobs in each, and is walked: as far as is bearable. */
const walked = (which: string, counted = 'true'): string => `
  select count(*) = ${MOST_WALKED} as "isCut", least(${MOST_AHEAD}, count(*) filter (
    where (priority > $2 or priority = $2 and jid < $1) and ${counted})) as n
  from (select j.priority, j.jid, j.owner_group from jobs j where ${isQueued('j')} and ${which} limit ${MOST_WALKED}) x`;

const OF_OWNER = '(j.owner_group, j.owner) = ($3, $4)';
const OF_COUNTED = '($3::text[] is null or owner_group = any ($3))';
const AHEAD = aheadIn('true', `(${LANE}) > (l.owner_group, l.owner, l.shape)`, OF_COUNTED);
const OWN_AHEAD = aheadIn(OF_OWNER, `${OF_OWNER} and j.shape > l.shape`);
const WALKED = walked('true', OF_COUNTED);
const OWN_WALKED = walked(OF_OWNER);
