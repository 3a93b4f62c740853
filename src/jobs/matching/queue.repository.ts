import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#src/kernel/index.js';
import { CLOCK, columnsOf, Database, type Transaction } from '#src/platform/index.js';
import type { Site } from '#src/registry/index.js';
import { JobEntity } from '../state/job.entity.js';
import { JobsRepository, type Move } from '../state/jobs.repository.js';
import { MINOR } from '../state/job-state.js';
import type { RunOrder } from '../run/executor.js';
import { DispatchRepository } from './dispatch.repository.js';
import type { Match, Placement, QueuedJob } from './match.js';
import { isCounted, type SiteUse } from './rooms.js';
import { WISH_COLUMNS } from './shape.js';

/** What a claim is made for. */
export interface Claim {
  executor: string;
  sites: readonly Site[];
  match: Match;
  reference?: string | undefined;
}

/** Jobs that are noted in one statement. */
const NOTE_BATCH = 500;

/** The queue of waiting jobs: its shapes, and claims. */
@Injectable()
export class QueueRepository {
  constructor(
    private readonly database: Database,
    private readonly jobs: JobsRepository,
    private readonly dispatch: DispatchRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The first job of each of at most `limit` shapes, in the order of the shapes, from behind `after` on. */
  async heads(after: bigint | undefined, limit: number): Promise<QueuedJob[]> {
    return this.database.query<QueuedJob>({
      name: 'jobs-heads',
      text: HEADS,
      values: [String(after ?? FIRST), limit],
    });
  }

  /**
   * Claims for an executor what the match chooses. Rows that others hold are skipped, so instances never get the same
   * job; only where the jobs of a site are counted one waits for the other, for as long as a claim takes.
   */
  async claim(claim: Claim): Promise<RunOrder[]> {
    const { match } = claim;
    return this.database.transaction(async (transaction) => {
      const counted = claim.sites.filter(isCounted);
      if (counted.length > 0) match.note(await this.usedAlone(transaction, counted));
      const pages = match.pages();
      if (pages.shapes.length === 0) return [];
      const jobs = await transaction.query<QueuedJob>({
        name: 'jobs-candidates',
        text: CANDIDATES,
        values: [pages.shapes.map(String), pages.perShape],
      });
      const placements = match.choose(jobs, pages);
      const moves = placements.map((placement) => matchMove(placement, claim));
      const moved = await this.jobs.move(moves, this.now(), transaction);
      if (moved.length === 0) return [];
      return withWaiting(
        await this.dispatch.orders(transaction, moved),
        placements,
        this.clock.now(),
      );
    });
  }

  /**
   * Writes into all jobs of a shape why they wait: at most 500 at a time, answers how many. `why` is undefined for
   * those that only wait for their turn.
   */
  async noteWaiting(
    transaction: Transaction,
    shape: QueuedJob['shape'],
    why: string | undefined,
  ): Promise<number> {
    const minor = why === undefined ? MINOR.waiting : MINOR.noSites;
    const rows = await transaction.query({
      name: 'jobs-note-waiting',
      text: NOTE_WAITING,
      values: [String(shape), minor, why ?? 'Unknown', this.now(), NOTE_BATCH],
    });
    return rows.length;
  }

  private async usedAlone(
    transaction: Transaction,
    sites: readonly Site[],
  ): Promise<ReadonlyMap<string, SiteUse>> {
    const names = sites.map(({ name }) => name);
    await transaction.query({
      name: 'jobs-count-alone',
      text: `select pg_advisory_xact_lock(hashtextextended(name, ${LOCK_SEED}))
        from (select name from unnest($1::text[]) as x (name) order by name) as sorted`,
      values: [names],
    });
    const rows = await transaction.query<SiteUse & { site: string }>({
      name: 'jobs-used',
      text: USED,
      values: [names, sites.map(({ ramMB }) => ramMB ?? null)],
    });
    return new Map(rows.map((row) => [row.site, row]));
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

function matchMove({ job, site }: Placement, { executor, reference }: Claim): Move {
  return {
    jid: job.jid,
    steps: [{ to: 'Matched', minor: MINOR.matched, ...(job.isUnplaceable && { app: 'Unknown' }) }],
    source: 'Dispatcher',
    set: { site, executor, newAttempt: true, ...(reference === undefined ? {} : { reference }) },
  };
}

function withWaiting(
  orders: readonly RunOrder[],
  placements: readonly Placement[],
  now: number,
): RunOrder[] {
  const since = new Map(
    placements.map(({ job }) => [String(job.jid), job.lastUpdate.getTime()] as const),
  );
  return orders.map((order) => ({
    ...order,
    waitedSeconds: Math.max(0, now - (since.get(String(order.jid)) ?? now)) / 1000,
  }));
}

const FIRST = -(2n ** 63n);
const LOCK_SEED = 8;
const IS_WAITING = `j.status = 'Waiting' and j.executor is null`;
const HEAD_COLUMNS = columnsOf(JobEntity, {
  alias: 'j',
  only: ['jid', 'priority', 'lastUpdate'],
});
const QUEUED = `j.shape, ${HEAD_COLUMNS}, ${WISH_COLUMNS},
  j.minor_status = '${MINOR.noSites}' as "isUnplaceable"`;
const HEAD = `select ${QUEUED} from jobs j where ${IS_WAITING}`;

/** One step of the index for each shape, however many jobs it has. */
const HEADS = `
  with recursive heads as (
    (${HEAD} and j.shape >= $1 order by j.shape, j.priority desc, j.jid limit 1)
    union all
    select next.* from heads h cross join lateral (
      ${HEAD} and j.shape > h.shape order by j.shape, j.priority desc, j.jid limit 1) as next
  )
  select * from heads limit $2`;

const CANDIDATES = `
  select w.* from unnest($1::bigint[]) as queue (shape) cross join lateral (
    select ${QUEUED} from jobs j
    where ${IS_WAITING} and j.shape = queue.shape
    order by j.priority desc, j.jid limit $2 for update of j skip locked
  ) w`;

/** A job takes its part until its executor lets go of it: as long as something of it may run. */
const USED = `
  select j.site, count(*)::integer as jobs, sum(j.processors)::integer as processors,
    sum(j.gpus)::integer as gpus,
    sum(least(case when j.max_ram_mb > 0 then j.max_ram_mb else j.min_ram_mb end, s.ram_mb))::float8 as "ramMB"
  from unnest($1::text[], $2::integer[]) as s (name, ram_mb) join jobs j on j.site = s.name
  where j.executor is not null group by j.site`;

const NOTE_WAITING = `
  with noted as (
    update jobs set minor_status = $2, app_status = $3, last_update = greatest($4, last_update)
    where jid in (
      select j.jid from jobs j where ${IS_WAITING} and j.shape = $1
      order by j.priority desc, j.jid limit $5 for update skip locked)
    returning jid, last_update
  ), logged as (
    insert into job_history (jid, status, minor_status, app_status, time, source)
    select jid, 'Waiting', $2, $3, last_update, 'Dispatcher' from noted order by jid
  )
  select jid from noted`;
