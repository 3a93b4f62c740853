import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { Database, LOCK_SEEDS, type Queryable, type Transaction } from '#src/database/index.js';
import { EventLog } from '#src/events/index.js';
import type { Site } from '#src/registry/index.js';
import { JobsRepository, type Move } from '../state/jobs.repository.js';
import { MINOR } from '../state/job-state.js';
import { BEFORE, noteMoves } from '../state/logged-move.sql.js';
import type { Claimant, RunOrder } from '../run/executor.js';
import { countedOf, LimitsRepository } from '../limits/limits.repository.js';
import { DispatchRepository } from './dispatch.repository.js';
import {
  IN_LANE_ORDER,
  isQueued,
  isUnplaceable,
  LANE,
  QUEUED_COLUMNS,
} from './lanes.repository.js';
import type { Match, Placement } from './match.js';
import type { LaneKey, QueuedJob } from './queued-job.js';
import { isCounted, type SiteUse } from './site-capacity.js';

/** What a claim is made for. */
export interface Claim {
  executor: string;
  sites: readonly Site[];
  match: Match;
  reference?: string | undefined;
  mayTake?: Claimant['mayTake'];
}

/** What came of a claim. */
export interface Claimed {
  orders: RunOrder[];
  jobs: QueuedJob[];
}

const NOTHING: Claimed = { orders: [], jobs: [] };

/** A lane whose jobs no site can hold, and why not. */
export interface NotedLane extends LaneKey {
  why: string;
}

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
      if (claim.mayTake && !(await claim.mayTake(transaction))) return NOTHING;
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
   * Writes into the jobs of lanes why they wait: at most 500 at a time, answers how many. Jobs of others stay as they are: who knew two
   * wishes of one hash could write into them.
   */
  async noteUnplaceable(transaction: Transaction, lanes: readonly NotedLane[]): Promise<number> {
    return this.note(transaction, lanes, { isFound: true });
  }

  /** Takes that back of jobs that a site can hold now. */
  async notePlaceable(transaction: Transaction, lanes: readonly LaneKey[]): Promise<number> {
    const noted = lanes.map((lane) => ({ ...lane, why: 'Unknown' }));
    return this.note(transaction, noted, { isFound: false });
  }

  private async note(
    transaction: Transaction,
    lanes: readonly NotedLane[],
    { isFound }: { isFound: boolean },
  ): Promise<number> {
    if (lanes.length === 0) return 0;
    const rows = await transaction.query({
      name: isFound ? 'jobs-note-unplaceable' : 'jobs-note-placeable',
      text: isFound ? NOTE_UNPLACEABLE : NOTE_PLACEABLE,
      values: [
        lanes.map(({ ownerGroup }) => ownerGroup),
        lanes.map(({ owner }) => owner),
        lanes.map(({ shape }) => String(shape)),
        lanes.map(({ why }) => why),
        isFound ? MINOR.noSites : MINOR.waiting,
        this.now(),
        NOTE_BATCH,
      ],
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
    steps: [{ to: 'Matched', minor: MINOR.matched, app: 'Unknown' }],
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

/** A step of one index for each lane, so `which` says which index it is. */
const noteOf = (which: string): string => `
  with held as materialized (
    select j.jid, lane.why, ${BEFORE} as before
    from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) as lane (owner_group, owner, shape, why)
    cross join lateral (
      select * from jobs j where ${which} and (${LANE}) = (lane.owner_group, lane.owner, lane.shape)
      order by ${IN_LANE_ORDER} limit $7 for update skip locked
    ) j limit $7
  ), noted as (
    update jobs j set minor_status = $5, app_status = held.why, last_update = greatest($6, j.last_update)
    from held where j.jid = held.jid
    returning j.jid, j.status, $5 as minor, held.why as app, j.site, j.last_update, held.before, 1 as n
  ), ${noteMoves('noted', `'Dispatcher'`)}
  select jid from noted`;

const NOTE_UNPLACEABLE = noteOf(isQueued('j'));
const NOTE_PLACEABLE = noteOf(isUnplaceable('j'));
