import { Injectable } from '@nestjs/common';
import { columnsOf, type Database, type Transaction } from '#src/database/index.js';
import { EventLog } from '#src/events/index.js';
import type { ConditionWord } from '../manifest/job-conditions.js';
import { Job } from '../state/job.entity.js';
import { MINOR, type JobState } from '../state/job-state.js';
import type { Jid } from '../state/job.js';
import { BEFORE, noteMoves } from '../state/logged-move.sql.js';
import type { Link } from './request-links.js';

/** What has happened: a job has ended, or a job has to be looked at (`look`), from the beginning (`again`). */
export interface News {
  id: number | bigint;
  jid: Jid;
  what: JobState | 'look' | 'again';
  upto: number | bigint;
  /** Whose waiting jobs it concerns. */
  owner: string;
}

/** A job with conditions, judged. */
export interface Judged {
  jid: Jid;
  isImpossible: boolean;
  isMet: boolean;
  /** A condition that cannot come true any more, for people. */
  why: string | null;
}

const OWNED = ['jid', 'owner', 'ownerGroup', 'setup', 'vo'] as const;

/** A job and whose it is. */
export type OwnedJob = Pick<Job, (typeof OWNED)[number]>;

/** A condition as it is shown. */
export interface ShownCondition {
  target: Jid;
  condition: ConditionWord;
}

/** Conditions of jobs and the news about the jobs that they name. */
@Injectable()
export class DependenciesRepository {
  constructor(private readonly events: EventLog) {}

  /** Of these jobs those that there are. */
  async owned(database: Database, jids: readonly Jid[]): Promise<OwnedJob[]> {
    return database.query<OwnedJob>({
      name: 'jobs-dependencies-owned',
      text: `select ${columnsOf(Job, { only: OWNED })} from jobs where jid = any($1::bigint[])`,
      values: [jids.map(String)],
    });
  }

  /** Keeps jobs from ending until the transaction is over; answers those that there are. */
  async keepStill(transaction: Transaction, jids: readonly Jid[]): Promise<Set<string>> {
    const rows = await transaction.query<{ jid: Jid }>({
      name: 'jobs-dependencies-still',
      text: 'select jid from jobs where jid = any($1::bigint[]) order by jid for share',
      values: [jids.map(String)],
    });
    return new Set(rows.map(({ jid }) => String(jid)));
  }

  /** Writes the conditions of new jobs of an owner, `jids` in the order of the request. */
  async add(
    transaction: Transaction,
    links: readonly Link[],
    { jids, owner }: { jids: readonly Jid[]; owner: string },
  ): Promise<void> {
    const size = 5_000;
    for (let start = 0; start < links.length; start += size) {
      const part = links.slice(start, start + size);
      await transaction.execute({
        name: 'jobs-dependencies-add',
        text: ADD,
        values: [
          part.map(({ index }) => String(jids[index])),
          part.map(({ to }) => String('jid' in to ? to.jid : jids[to.index])),
          part.map(({ on }) => on),
          owner,
        ],
      });
    }
  }

  /** The oldest news of each owner, at most `limit` together: those of one owner in their order, and no owner's before all of another's. */
  async news(transaction: Transaction, limit: number): Promise<News[]> {
    return transaction.query<News>({ name: 'jobs-dependencies-news', text: NEWS, values: [limit] });
  }

  /** Forgets news that was dealt with. */
  async forget(transaction: Transaction, news: readonly News[]): Promise<void> {
    await transaction.execute({
      name: 'jobs-dependencies-forget',
      text: 'delete from job_dependency_news where id = any($1::bigint[])',
      values: [news.map(({ id }) => String(id))],
    });
  }

  /**
   * Judges what the news is about, at most `limit` conditions; answers the jobs that may have to be released or failed. When
   * they are fewer than the limit, nothing is left of the news.
   */
  async judge(
    transaction: Transaction,
    { jid, what, upto, owner }: News,
    limit: number,
  ): Promise<Jid[]> {
    if (what === 'look') return [jid];
    if (what === 'again') {
      await transaction.execute({
        name: 'jobs-dependencies-again',
        text: AGAIN,
        values: [String(jid)],
      });
      return [jid];
    }
    const rows = await transaction.query<{ jid: Jid }>({
      name: 'jobs-dependencies-ended',
      text: ENDED,
      values: [String(jid), what, String(upto), limit, owner],
    });
    return rows.map((row) => row.jid);
  }

  /** Does the job wait for one of these? */
  async waitsForAny(transaction: Transaction, jid: Jid, targets: string[]): Promise<boolean> {
    const rows = await transaction.query({
      name: 'jobs-dependencies-for-any',
      text: 'select from job_dependencies where jid = $1 and target = any($2::bigint[]) limit 1',
      values: [String(jid), targets],
    });
    return rows.length > 0;
  }

  /** Of these jobs those whose fate is known. */
  async judged(transaction: Transaction, jids: readonly Jid[]): Promise<Judged[]> {
    return transaction.query<Judged>({
      name: 'jobs-dependencies-judged',
      text: JUDGED,
      values: [jids.map(String)],
    });
  }

  /** Lets jobs go that waited for others only; their holds by people stay. */
  async release(transaction: Transaction, jids: readonly Jid[], now: Date): Promise<void> {
    if (jids.length === 0) return;
    await transaction.query({
      name: 'jobs-dependencies-release',
      text: RELEASE,
      values: [jids.map(String), MINOR.waiting, now],
    });
    this.events.wrote('jobs', transaction);
  }

  /** What a job still waits for. */
  async open(database: Database, jid: Jid, limit: number): Promise<ShownCondition[]> {
    return database.query<ShownCondition>({
      name: 'jobs-dependencies-open',
      text: `select target, condition from job_dependencies
        where jid = $1 and outcome is null order by target limit $2`,
      values: [String(jid), limit],
    });
  }
}

const OUTCOME = (status: string): string => `case
  when condition = 'end' or (condition = 'done') = (${status} = 'Done') then 'met' else 'impossible' end`;

/** New jobs that wait for jobs which have ended are looked at at once: nobody will tell of those. */
const ADD = `
  with given as materialized (
    select distinct jid, target, condition
    from unnest($1::bigint[], $2::bigint[], $3::text[]) as x (jid, target, condition)
  ), judged as materialized (
    select g.jid, g.target, g.condition,
      case when t.status in ('Done', 'Failed', 'Killed', 'Deleted') then ${OUTCOME('t.status')} end as outcome
    from given g join jobs t on t.jid = g.target
  ), added as (
    insert into job_dependencies (jid, owner, target, condition, outcome)
    select jid, $4, target, condition, outcome from judged order by jid
    on conflict do nothing
  )
  insert into job_dependency_news (jid, what, upto, owner)
  select distinct jid, 'look', 0, $4 from judged where outcome is not null`;

/** One step of the index for each owner; the oldest of all come first, so that no owner waits for ever. */
const NEWS = `
  with recursive owners as (
    (select n.owner, n.id from job_dependency_news n order by n.owner, n.id limit 1)
    union all
    select next.* from owners o cross join lateral (
      select n.owner, n.id from job_dependency_news n where n.owner > o.owner order by n.owner, n.id limit 1) as next
  ), chosen as materialized (
    select owner from owners order by id limit $1
  )
  select n.* from chosen c cross join lateral (
    select id, jid, what, upto, owner from job_dependency_news where owner = c.owner
    order by owner, id limit greatest(1, $1 / (select count(*) from chosen))
  ) n order by n.id`;

const ENDED = `
  update job_dependencies set outcome = ${OUTCOME('$2')}
  where id in (
    select id from job_dependencies
    where target = $1 and owner = $5 and outcome is null and id <= $3 order by id limit $4
  ) returning jid`;

/** Locked, a job that has not ended cannot do so unseen. */
const AGAIN = `
  with targets as materialized (
    select t.jid, t.status from jobs t
    where t.jid in (select target from job_dependencies where jid = $1 and outcome is distinct from 'met')
    order by t.jid for share
  )
  update job_dependencies d set outcome =
    case when t.status in ('Done', 'Failed', 'Killed', 'Deleted') then ${OUTCOME('t.status')} end
  from targets t where d.jid = $1 and d.target = t.jid and d.outcome is distinct from 'met'`;

const JUDGED = `
  select d.jid, bool_or(d.outcome is not distinct from 'impossible') as "isImpossible",
    bool_and(d.outcome is not distinct from 'met') as "isMet",
    min(case when d.outcome = 'impossible' then format('job %s will not be %s', d.target, d.condition) end) as why
  from job_dependencies d where d.jid = any($1::bigint[])
  group by d.jid
  having bool_or(d.outcome is not distinct from 'impossible') or bool_and(d.outcome is not distinct from 'met')`;

const RELEASE = `
  with found as materialized (
    select j.jid, ${BEFORE} as before from jobs j
    where j.jid = any($1::bigint[]) and j.held_by = 'jobs' order by j.jid for no key update of j
  ), freed as (
    update jobs j set held_by = null,
      minor_status = case when j.status = 'Waiting' then $2 else j.minor_status end,
      last_update = case when j.status = 'Waiting' then greatest($3, j.last_update) else j.last_update end
    from found where j.jid = found.jid
    returning j.jid, j.status, j.minor_status as minor, j.app_status as app, j.site, j.last_update,
      found.before, 1 as n
  ), noted as (select * from freed where status = 'Waiting'
  ), ${noteMoves('noted', `'Dependencies'`)}
  select jid from freed`;
