import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#src/kernel/index.js';
import {
  CLOCK,
  Database,
  EventLog,
  LOCK_SEEDS,
  type Queryable,
  type Transaction,
} from '#src/platform/index.js';
import type { Site } from '#src/registry/index.js';
import { JobsRepository, type Move } from '../state/jobs.repository.js';
import { MINOR } from '../state/job-state.js';
import { BEFORE, logMoves } from '../state/logged-move.sql.js';
import type { RunOrder } from '../run/executor.js';
import { countedOf, LimitsRepository } from '../limits/limits.repository.js';
import { DispatchRepository } from './dispatch.repository.js';
import { IN_LANE_ORDER, isQueued, isUnheld, LANE, QUEUED_COLUMNS } from './lanes.repository.js';
import type { Match, Placement } from './match.js';
import type { LaneKey, QueuedJob } from './queued-job.js';
import { isCounted, type SiteUse } from './site-capacity.js';

/** What a claim is made for. */
export interface Claim {
  executor: string;
  sites: readonly Site[];
  match: Match;
  reference?: string | undefined;
}

/** What came of a claim. */
export interface Claimed {
  orders: RunOrder[];
  jobs: QueuedJob[];
}

const NOTHING: Claimed = { orders: [], jobs: [] };

/** Jobs that are noted in one statement. */
const NOTE_BATCH = 500;

/** The queue of waiting jobs: claims, and why jobs wait. */
@Injectable()
export class QueueRepository {
  constructor(
    private readonly database: Database,
    private readonly jobs: JobsRepository,
    private readonly dispatch: DispatchRepository,
    private readonly events: EventLog,
    private readonly limits: LimitsRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Claims for an executor what the match chooses. Rows that others hold are skipped, so instances never get the same
   * job; only where the jobs of a site are counted one waits for the other, for as long as a claim takes.
   */
  async claim(claim: Claim): Promise<Claimed> {
    const { match } = claim;
    return this.database.transaction(async (transaction) => {
      const counted = claim.sites.filter(isCounted);
      if (counted.length > 0) match.note(await this.usedAlone(transaction, counted));
      const limited = match.limitedOwners();
      if (limited.length > 0) {
        match.noteHeld(await this.limits.held(transaction, countedOf(limited), true));
      }
      const pages = match.pages();
      if (pages.length === 0) return NOTHING;
      const jobs = await transaction.query<QueuedJob>({
        name: 'jobs-candidates',
        text: CANDIDATES,
        values: [
          pages.map(({ shape }) => String(shape)),
          pages.map(({ ownerGroup }) => ownerGroup),
          pages.map(({ owner }) => owner),
          pages.map(({ size }) => size),
        ],
      });
      const placements = match.choose(jobs, pages);
      const moves = placements.map((placement) => matchMove(placement, claim));
      const moved = await this.jobs.move(moves, this.now(), transaction);
      if (moved.length === 0) return NOTHING;
      const orders = await this.dispatch.orders(transaction, moved);
      return inTurn(orders, placements, this.clock.now());
    });
  }

  /**
   * Writes into all jobs of a lane why they wait: at most 500 at a time, answers how many. `why` is undefined for
   * those that only wait for their turn. Jobs of others stay as they are: who knew two wishes of one hash could write into them.
   */
  async noteWaiting(
    transaction: Transaction,
    { shape, ownerGroup, owner }: LaneKey,
    why: string | undefined,
  ): Promise<number> {
    const minor = why === undefined ? MINOR.waiting : MINOR.noSites;
    const rows = await transaction.query({
      name: 'jobs-note-waiting',
      text: NOTE_WAITING,
      values: [String(shape), minor, why ?? 'Unknown', this.now(), NOTE_BATCH, ownerGroup, owner],
    });
    if (rows.length > 0) this.events.wrote('jobs', transaction);
    return rows.length;
  }

  private async usedAlone(
    transaction: Transaction,
    sites: readonly Site[],
  ): Promise<ReadonlyMap<string, SiteUse>> {
    const names = sites.map(({ name }) => name);
    await transaction.query({
      name: 'jobs-count-alone',
      text: `select pg_advisory_xact_lock(hashtextextended(name, ${LOCK_SEEDS.queues}))
        from (select name from unnest($1::text[]) as x (name) order by name) as sorted`,
      values: [names],
    });
    return this.used(transaction, sites);
  }

  /** What the jobs of sites take now. */
  async used(queryable: Queryable, sites: readonly Site[]): Promise<ReadonlyMap<string, SiteUse>> {
    const names = sites.map(({ name }) => name);
    const rows = await queryable.query<SiteUse & { site: string }>({
      name: 'jobs-used',
      text: USED,
      values: [names, sites.map(({ ramMB }) => ramMB ?? null)],
    });
    const tags = await this.tagsInUse(queryable, sites);
    return new Map(rows.map((row) => [row.site, { ...row, tags: tags.get(row.site) ?? {} }]));
  }

  /** Of sites that limit tags: how many of the jobs that they hold ask for which. */
  private async tagsInUse(
    queryable: Queryable,
    sites: readonly Site[],
  ): Promise<ReadonlyMap<string, Record<string, number>>> {
    const limited = sites.filter(({ limits }) => limits?.tags !== undefined);
    if (limited.length === 0) return new Map();
    const rows = await queryable.query<{ site: string; tags: Record<string, number> }>({
      name: 'jobs-used-tags',
      text: USED_TAGS,
      values: [limited.map(({ name }) => name)],
    });
    return new Map(rows.map(({ site, tags }) => [site, tags]));
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

function matchMove({ job, site }: Placement, { executor, reference }: Claim): Move {
  return {
    jid: job.jid,
    steps: [{ to: 'Matched', minor: MINOR.matched }],
    source: 'Dispatcher',
    set: { site, executor, newAttempt: true, ...(reference === undefined ? {} : { reference }) },
  };
}

/** What was taken, in the order in which it got its places. */
function inTurn(
  orders: readonly RunOrder[],
  placements: readonly Placement[],
  now: number,
): Claimed {
  const byJid = new Map(orders.map((order) => [String(order.jid), order]));
  const claimed: Claimed = { orders: [], jobs: [] };
  for (const { job } of placements) {
    const order = byJid.get(String(job.jid));
    if (!order) continue;
    const waitedSeconds = Math.max(0, now - job.lastUpdate.getTime()) / 1000;
    claimed.orders.push({ ...order, waitedSeconds });
    claimed.jobs.push(job);
  }
  return claimed;
}

const CANDIDATES = `
  select w.* from unnest($1::bigint[], $2::text[], $3::text[], $4::integer[])
    as lane (shape, owner_group, owner, size) cross join lateral (
    select ${QUEUED_COLUMNS} from jobs j
    where ${isQueued('j')} and (${LANE}) = (lane.owner_group, lane.owner, lane.shape)
    order by j.priority desc, j.jid limit lane.size for update of j skip locked
  ) w`;

/** A job takes its part until its executor lets go of it: as long as something of it may run. */
const USED = `
  select j.site, count(*)::integer as jobs, sum(j.processors)::integer as processors,
    sum(j.gpus)::integer as gpus,
    sum(least(case when j.max_ram_mb > 0 then j.max_ram_mb else j.min_ram_mb end, s.ram_mb))::float8 as "ramMB"
  from unnest($1::text[], $2::integer[]) as s (name, ram_mb) join jobs j on j.site = s.name
  where j.executor is not null group by j.site`;

const USED_TAGS = `
  select site, json_object_agg(tag, n) as tags from (
    select j.site, tag, count(*)::integer as n from jobs j cross join lateral unnest(j.tags) as tag
    where j.executor is not null and j.site = any($1::text[]) group by j.site, tag) x
  group by site`;

const NOTE_WAITING = `
  with held as materialized (
    select j.jid, ${BEFORE} as before from jobs j where ${isUnheld('j')} and (${LANE}) = ($6, $7, $1)
    order by ${IN_LANE_ORDER} limit $5 for update skip locked
  ), noted as (
    update jobs j set minor_status = $2, app_status = $3, last_update = greatest($4, j.last_update)
    from held where j.jid = held.jid
    returning j.jid, j.status, $2 as minor, $3 as app, j.site, j.last_update, held.before, 1 as n
  ), logged as (
    insert into job_history (jid, status, minor_status, app_status, time, source)
    select jid, status, minor, app, last_update, 'Dispatcher' from noted order by jid
  ), told as (${logMoves('noted')})
  select jid from noted`;
