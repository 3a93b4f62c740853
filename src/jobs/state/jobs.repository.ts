import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { stringifyJson, type JsonObject } from '#src/kernel/index.js';
import { columnsOf, Database, type Queryable } from '#src/database/index.js';
import { EventLog } from '#src/events/index.js';
import type { Jid } from './job.js';
import { Job } from './job.entity.js';
import { JOB_RECORD } from './job-record.sql.js';
import { JobHistoryEntity } from './job-history.entity.js';
import { JobParametersEntity } from './job-parameters.entity.js';
import {
  MANIFEST_COLUMNS,
  MANIFEST_JOIN,
  manifestOf,
  type ManifestRow,
} from '../manifest/stored-manifest.js';
import type { JobState } from './job-state.js';
import { assertPath, statesBefore } from './job-transitions.js';
import { BEFORE, noteMoves } from './logged-move.sql.js';
import type { RunUse } from './run-use.js';
import { noteUse } from './run-use.sql.js';

/** One state that a job passes, as its history shows it. */
export interface Step {
  to: JobState;
  minor: string;
  app?: string;
}

/** A wanted change of one job's state. */
export interface Move {
  jid: Jid;
  /** States to pass, in order; the last one is kept, each leaves a history row. */
  steps: readonly [Step, ...Step[]];
  /** Who moves it, for the history. */
  source: string;
  /** Only from these of the states that the table allows. */
  from?: readonly JobState[];
  /** Only while the job is held by this executor, in this attempt. */
  held?: { executor: string; attempt: number };
  /** Columns that change with the state. */
  set?: MoveChanges;
  /** Parameters that are merged into the job's. */
  parameters?: Record<string, string | number | null>;
}

/** What may change together with a state. */
export interface MoveChanges {
  site?: string;
  /** Who holds the job from now on; null lets go of it. */
  executor?: string | null;
  /** Begins a new attempt. */
  newAttempt?: boolean;
  reference?: string;
  startedAt?: Date;
  endedAt?: Date;
  outputSandbox?: string;
  verified?: boolean;
  accounted?: boolean;
  /** What the run that ends has used, for the reports of usage. */
  use?: RunUse | undefined;
  /** Counts a reschedule and forgets the times of the last attempt. */
  rescheduled?: boolean;
}

/** Which job it is, whose (JobOwnership), and its record (JobResponse) as JSON text. */
export type RecordedJob = Readonly<Pick<Job, (typeof OWNED)[number]> & { record: string }>;

const OWNED = ['jid', 'setup', 'owner', 'ownerGroup', 'vo'] as const;
const COLUMNS = columnsOf(Job);
export const OWNERSHIP = columnsOf(Job, { only: OWNED });

/** Merges parameters into those of jobs, from a query of jid and parameters (jsonb). */
export function mergeParameters(rows: string): string {
  return `insert into job_parameters (jid, parameters) ${rows}
    on conflict (jid) do update set parameters = job_parameters.parameters || excluded.parameters`;
}

/**
 * The jobs. `move` is the only writer of a state: it takes a batch, and the statement itself checks for each job
 * the transition table, the old state and who holds it, so a late report changes nothing.
 */
@Injectable()
export class JobsRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(JobHistoryEntity) private readonly moves: Repository<JobHistoryEntity>,
    @InjectRepository(JobParametersEntity)
    private readonly described: Repository<JobParametersEntity>,
    private readonly events: EventLog,
  ) {}

  /** The job, or undefined. */
  async find(jid: Jid): Promise<Job | undefined> {
    const [row] = await this.database.query<Job>({
      name: 'jobs-find',
      text: `select ${COLUMNS} from jobs where jid = $1`,
      values: [String(jid)],
    });
    return row;
  }

  /** The jobs of these ids that exist, in no order. */
  async findAll(
    jids: readonly (Jid | string)[],
    queryable: Queryable = this.database,
  ): Promise<Job[]> {
    return queryable.query<Job>({
      name: 'jobs-find-all',
      text: `select ${COLUMNS} from jobs where jid = any($1::bigint[])`,
      values: [jids.map(String)],
    });
  }

  /** The records of the jobs of these ids that exist, in no order. */
  async records(jids: readonly string[]): Promise<RecordedJob[]> {
    return this.database.query({
      name: 'jobs-records',
      text: `select ${OWNERSHIP}, ${JOB_RECORD} as record from jobs where jid = any($1::bigint[])`,
      values: [jids],
    });
  }

  /** The manifest of a job with all digits of its numbers. */
  async manifest(jid: Jid): Promise<JsonObject | undefined> {
    const [row] = await this.database.query<ManifestRow>({
      name: 'jobs-manifest',
      text: `select ${MANIFEST_COLUMNS} from jobs j ${MANIFEST_JOIN} where j.jid = $1`,
      values: [String(jid)],
    });
    return row && manifestOf(row, jid);
  }

  /** Every move of the job, oldest first. */
  async history(jid: Jid): Promise<JobHistoryEntity[]> {
    return this.moves.find({ where: { jid }, order: { id: 'ASC' } });
  }

  /** Parameters of the job; empty when it has none yet. */
  async parameters(jid: Jid): Promise<Record<string, unknown>> {
    return (await this.described.findOneBy({ jid }))?.parameters ?? {};
  }

  /** Seconds that the oldest waiting job has waited; 0 when none waits. */
  async queueAgeSeconds(): Promise<number> {
    const [row] = await this.database.query<{ age: number }>({
      name: 'jobs-queue-age',
      text: `select coalesce(extract(epoch from clock_timestamp() - min(last_update)), 0)::float8 as age
        from (select last_update from jobs where status = 'Waiting' and executor is null and held_by is null
          order by jid limit 1000) w`,
    });
    return Math.max(0, row?.age ?? 0);
  }

  /** Numbers of jobs by state. */
  async states(): Promise<{ status: JobState; total: number }[]> {
    return this.database.query({
      name: 'jobs-states',
      text: 'select status, sum(n)::bigint as total from job_totals group by status',
    });
  }

  /** Marks that the owner has fetched the output. Not a state. */
  async markRetrieved(jid: Jid): Promise<void> {
    await this.database.execute({
      name: 'jobs-retrieved',
      text: 'update jobs set retrieved = true where jid = $1 and not retrieved',
      values: [String(jid)],
    });
  }

  /**
   * Moves jobs; answers those that moved. A job stays as it is, without an error, when its state is not one from
   * which the table allows the first step, or somebody else holds it. Throws for a path that is not in the table, and
   * for two moves of one job: a statement sees rows as they were before it, so it could not tell which of them it made.
   */
  async move(
    moves: readonly Move[],
    now: Date,
    queryable: Queryable = this.database,
  ): Promise<Jid[]> {
    if (moves.length === 0) return [];
    if (new Set(moves.map(({ jid }) => String(jid))).size < moves.length) {
      throw new Error('two moves of one job in a statement');
    }
    const rows = await queryable.query<{ jid: Jid }>({
      name: 'jobs-move',
      text: MOVE,
      values: [stringifyJson(moves.map(toRecord)), now],
    });
    if (rows.length > 0) this.events.wrote('jobs', queryable);
    return rows.map((row) => row.jid);
  }
}

function toRecord(move: Move): Record<string, unknown> {
  const { jid, steps, source, from, held, set = {}, parameters } = move;
  const path = steps.map((step) => step.to);
  assertPath(path);
  const allowed = statesBefore(steps[0].to);
  const last = steps[steps.length - 1] as Step;
  return {
    jid,
    origins: from ? from.filter((state) => allowed.includes(state)) : allowed,
    by_executor: held?.executor,
    by_attempt: held?.attempt,
    status: last.to,
    minor: last.minor,
    app: last.app,
    steps,
    source,
    site: set.site,
    executor: set.executor,
    lets_go: set.executor === null,
    attempts: set.newAttempt ? 1 : 0,
    reference: set.reference,
    started: set.startedAt,
    ended: set.endedAt,
    output: set.outputSandbox,
    verified: set.verified ?? false,
    accounted: set.accounted ?? false,
    rescheduled: set.rescheduled ?? false,
    use: set.use,
    parameters,
  };
}

/** Runs that a statement of moves ends. */
const ENDED_RUNS = `(select moved.*, coalesce(m.ended, $2) as ended_at, m.status = 'Done' as is_done, m.use
    from moved join m using (jid)) r`;

/** Rows are locked in the order of their ids, so that two batches never wait for each other in a circle. */
const MOVE = `
  with m as materialized (
    select * from jsonb_to_recordset($1::jsonb) as x (
      jid bigint, origins text[], by_executor text, by_attempt integer, status text, minor text, app text,
      steps jsonb, source text, site text, executor text, lets_go boolean, attempts integer, reference text,
      started timestamptz, ended timestamptz, output text, verified boolean, accounted boolean,
      rescheduled boolean, use jsonb, parameters jsonb)
  ), held as materialized (
    select j.jid, ${BEFORE} as before from jobs j join m on m.jid = j.jid
    where j.status = any (m.origins)
      and (m.by_executor is null or j.executor = m.by_executor and j.attempt = m.by_attempt)
    order by j.jid for no key update of j
  ), moved as (
    update jobs j set
      status = m.status,
      minor_status = m.minor,
      app_status = coalesce(m.app, j.app_status),
      last_update = greatest($2, j.last_update),
      site = coalesce(m.site, j.site),
      executor = case when m.lets_go then null else coalesce(m.executor, j.executor) end,
      attempt = j.attempt + m.attempts,
      run_reference = case when m.attempts > 0 then m.reference else coalesce(m.reference, j.run_reference) end,
      start_execution = case when m.rescheduled then null else coalesce(m.started, j.start_execution) end,
      end_execution = case when m.rescheduled then null else coalesce(m.ended, j.end_execution) end,
      output_sandbox = case when m.rescheduled then null else coalesce(m.output, j.output_sandbox) end,
      reschedules = j.reschedules + m.rescheduled::integer,
      reschedule_time = case when m.rescheduled then $2 else j.reschedule_time end,
      verified = j.verified or m.verified,
      accounted = (j.accounted or m.accounted) and not m.rescheduled,
      batch_wait = null
    from m, held
    where m.jid = j.jid and held.jid = j.jid
    returning j.jid, j.attempt, j.setup, j.vo, j.owner_group, j.owner, j.job_group, j.app_status, j.site, j.last_update, held.before
  ), passed as materialized (
    select jid, s.n, s.step ->> 'to' as status, s.step ->> 'minor' as minor,
      coalesce(s.step ->> 'app', moved.app_status) as app, moved.site, moved.last_update, m.source, moved.before
    from moved join m using (jid), jsonb_array_elements(m.steps) with ordinality as s (step, n)
  ), ${noteMoves('passed')}, used as (
    ${noteUse(ENDED_RUNS)}
  ), described as (
    ${mergeParameters('select jid, m.parameters from moved join m using (jid) where m.parameters is not null')}
  )
  select jid from moved`;
