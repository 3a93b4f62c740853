import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#src/database/index.js';
import type { Jid } from '../../state/job.js';
import { MINOR, type JobState } from '../../state/job-state.js';
import { BEFORE, noteMoves } from '../../state/logged-move.sql.js';
import type { WorkerEntity } from '../worker.entity.js';
import type { ClaimRequest } from './protocol.js';
import { afterBadRun, type WorkerRecord } from '../worker-pauses.js';

/** What the database tells of a claim that has begun. */
export interface BegunClaim {
  /** Whose jobs it takes alone; null while it has had none. */
  owner: string | null;
  isDrained: boolean;
  pauses: number;
  pausedUntil: Date | null;
  /** The instance that had the claim before, and when that began; none when there was none. */
  instanceBefore: string | null;
  seenBefore: Date;
}

/** A run that is held, without what its job is. */
export interface HeldState {
  jid: Jid;
  attempt: number;
  status: JobState;
}

const FETCHING = `
  with found as materialized (
    select j.jid, ${BEFORE} as before from jobs j
    where j.jid = $1 and j.attempt = $2 and j.executor = $3 and j.status = 'Matched' and j.minor_status <> $4
    for no key update of j
  ), noted as (
    update jobs j set minor_status = $4, last_update = greatest($5, j.last_update)
    from found where j.jid = found.jid
    returning j.jid, j.status, j.minor_status as minor, j.app_status as app, j.site, j.last_update, found.before, 1 as n
  ), ${noteMoves('noted', '$6')}
  select jid from found`;

/** What claims of workers ask the database, beside what executors ask. */
@Injectable()
export class WorkerRunsRepository {
  constructor(private readonly database: Database) {}

  /**
   * The worker claims with this number at this instance, which is a sign of life of its executor, too; undefined when it is gone, or
   * the number is not above the last one.
   */
  async beginClaim(
    { id }: WorkerEntity,
    { seq, fault }: Pick<ClaimRequest, 'seq' | 'fault'>,
    place: { instance: string; now: Date; executor: string; backend: string },
  ): Promise<BegunClaim | undefined> {
    const { instance, now, executor, backend } = place;
    const [row] = await this.database.query<BegunClaim>({
      name: 'jobs-worker-claim',
      text: `with before as (select id, instance, seen_at from worker where id = $1 for update),
        claimed as (update worker w set seq = $2, instance = $3, seen_at = $4 from before
          where w.id = before.id and w.seq < $2 and w.removed_at is null
          returning w.owner, w.draining_at, w.pauses, w.paused_until, before.instance, before.seen_at),
        alive as (insert into job_executors (executor, instance, backend, seen_at, fault)
          select $5, $3, $7, clock_timestamp(), $6 from claimed
          on conflict (executor) do update set instance = excluded.instance, backend = excluded.backend,
            seen_at = excluded.seen_at, fault = excluded.fault)
        select owner, draining_at is not null as "isDrained", pauses, paused_until as "pausedUntil", instance as "instanceBefore", seen_at as "seenBefore"
          from claimed`,
      values: [id, String(seq), instance, now, executor, fault ?? null, backend],
    });
    return row;
  }

  /** Whether the claim is still the last one of the worker, which gets no other while the transaction lasts. */
  async mayTake(transaction: Transaction, { id }: WorkerEntity, seq: number): Promise<boolean> {
    const rows = await transaction.query({
      name: 'jobs-worker-may-take',
      text: `select from worker where id = $1 and seq = $2 and removed_at is null and draining_at is null for share`,
      values: [id, String(seq)],
    });
    return rows.length > 0;
  }

  /** What the executor of a worker holds, while this is its last claim; undefined when it is not. */
  async heldAt(
    { id }: WorkerEntity,
    { executor, seq }: { executor: string; seq: number },
  ): Promise<HeldState[] | undefined> {
    const rows = await this.database.query<{ [K in keyof HeldState]: HeldState[K] | null }>({
      name: 'jobs-worker-held',
      text: `select j.jid, j.attempt, j.status from worker w left join jobs j on j.executor = $2
        where w.id = $1 and w.seq = $3 and w.removed_at is null order by j.jid`,
      values: [id, executor, String(seq)],
    });
    if (rows.length === 0) return undefined;
    return rows.filter((row): row is HeldState => row.jid !== null);
  }

  /** How many jobs the executor holds at each site. */
  async loadsOf(executor: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.query<{ site: string; n: number }>({
      name: 'jobs-worker-loads',
      text: 'select site, count(*)::integer as n from jobs where executor = $1 group by site',
      values: [executor],
    });
    return new Map(rows.map(({ site, n }) => [site, n]));
  }

  /** Notes whose jobs it takes alone from now on, unless that is known; answers whose. */
  async noteOwner({ id }: WorkerEntity, owner: string): Promise<string> {
    const [row] = await this.database.query<{ owner: string }>({
      name: 'jobs-worker-owner',
      text: 'update worker set owner = coalesce(owner, $2) where id = $1 returning owner',
      values: [id, owner],
    });
    return row?.owner ?? owner;
  }

  /** Notes that a run of the worker went wrong at once; `owner` is empty where no program of a job can be to blame. True when it is a pause. */
  async noteBadRun({ id }: WorkerEntity, owner: string, now: Date): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const [before] = await transaction.query<WorkerRecord>({
        name: 'jobs-worker-record',
        text: `select bad_runs as "badRuns", pauses, paused_until as "pausedUntil" from worker where id = $1 for update`,
        values: [id],
      });
      if (!before) return false;
      const { badRuns, pauses, pausedUntil } = afterBadRun(before, owner, now);
      await transaction.query({
        name: 'jobs-worker-bad-run',
        text: 'update worker set bad_runs = $2, pauses = $3, paused_until = $4 where id = $1',
        values: [id, badRuns, pauses, pausedUntil],
      });
      return pauses > before.pauses;
    });
  }

  /** Notes that a run of the worker went as a run does. */
  async noteGoodRun({ id }: WorkerEntity): Promise<void> {
    await this.database.execute({
      name: 'jobs-worker-good-run',
      text: `update worker set bad_runs = '{}', pauses = 0, paused_until = null where id = $1`,
      values: [id],
    });
  }

  /** Notes what a run has put, while the executor holds it; false when it does not. */
  async noteOutput(
    run: { jid: Jid; attempt: number; executor: string },
    reference: string,
  ): Promise<boolean> {
    const rows = await this.database.query({
      name: 'jobs-worker-output',
      text: `update jobs set run_reference = $4
        where jid = $1 and attempt = $2 and executor = $3 and status <> 'Matched'
          and run_reference not like 'output %' returning jid`,
      values: [String(run.jid), run.attempt, run.executor, reference],
    });
    return rows.length > 0;
  }

  /** Writes into the history of a run that has not begun, once, that files are brought to it. */
  async noteFetching(
    { jid, attempt, executor }: { jid: Jid; attempt: number; executor: string },
    { source, now }: { source: string; now: Date },
  ): Promise<void> {
    await this.database.query({
      name: 'jobs-worker-fetching',
      text: FETCHING,
      values: [String(jid), attempt, executor, MINOR.inputResolution, now, source],
    });
  }

  /** The runs that these executors hold and that are not wanted any more. */
  async unwanted(
    executors: readonly string[],
  ): Promise<{ executor: string; jid: Jid; attempt: number }[]> {
    return this.database.query({
      name: 'jobs-worker-unwanted',
      text: `select executor, jid, attempt from jobs where executor = any($1::text[])
        and status not in ('Matched', 'Running', 'Stalled', 'Completing', 'Completed')`,
      values: [executors],
    });
  }
}
