import { Injectable } from '@nestjs/common';
import { columnsOf, Database } from '#src/platform/index.js';
import { JobEntity } from '../state/job.entity.js';
import { MINOR } from '../state/job-state.js';
import type { Owned } from './fair-share.js';
import type { LaneKey, QueuedJob } from './queued-job.js';
import { WISH_COLUMNS } from './shape.js';

/** The first job of a lane; `turn` counts the lanes of its owner that the look has come to, from 1 on. */
export type LaneHead = QueuedJob & { turn: number };

/** Which lanes are looked at. */
export interface LanesWanted {
  /** At most so many. */
  limit: number;
  /** Owners from behind this one on, in the order of groups and owners. */
  after?: Owned | undefined;
  /** Lanes from behind these on; of owners of whom none is named, or nothing is behind it, from the first one on. */
  behind?: readonly LaneKey[];
}

/** Who waits, and for what. */
@Injectable()
export class LanesRepository {
  constructor(private readonly database: Database) {}

  /**
   * The first job of each of at most `limit` lanes: one of each owner, then a second one of each who has more, and so on. However
   * many lanes an owner has, every other owner is looked at.
   */
  async heads({ limit, after, behind = [] }: LanesWanted): Promise<LaneHead[]> {
    return this.database.query<LaneHead>({
      name: 'jobs-heads',
      text: HEADS,
      values: [
        after?.ownerGroup ?? '',
        after?.owner ?? '',
        behind.map(({ ownerGroup }) => ownerGroup),
        behind.map(({ owner }) => owner),
        behind.map(({ shape }) => String(shape)),
        limit,
      ],
    });
  }

  /** At most `limit` of the owners who have jobs in the queue, by group and name. */
  async owners(limit: number): Promise<Owned[]> {
    return this.database.query<Owned>({
      name: 'jobs-queue-owners',
      text: `with recursive ${OWNERS} select owner_group as "ownerGroup", owner from owners limit $3`,
      values: ['', '', limit],
    });
  }
}

/** A job that stands in the queue. */
export function isQueued(alias: string): string {
  return `${alias}.status = 'Waiting' and ${alias}.executor is null and ${alias}.held_by is null`;
}

const HEAD_COLUMNS = columnsOf(JobEntity, {
  alias: 'j',
  only: ['jid', 'priority', 'lastUpdate', 'owner', 'ownerGroup'],
});

/** The columns of a `QueuedJob`, of `jobs j`. */
export const QUEUED_COLUMNS = `j.shape, ${HEAD_COLUMNS}, ${WISH_COLUMNS},
  j.minor_status = '${MINOR.noSites}' as "isUnplaceable"`;

/** The lane of `jobs j`. */
export const LANE = 'j.owner_group, j.owner, j.shape';

/** The order of the index of the queue. */
export const IN_LANE_ORDER = `${LANE}, j.priority desc, j.jid`;

/** One step of the index for each owner behind ($1, $2), however many jobs they have. */
const OWNERS = `owners as (
    (select j.owner_group, j.owner from jobs j where ${isQueued('j')} and (j.owner_group, j.owner) > ($1, $2)
      order by ${IN_LANE_ORDER} limit 1)
    union all
    select next.* from owners o cross join lateral (
      select j.owner_group, j.owner from jobs j
      where ${isQueued('j')} and (j.owner_group, j.owner) > (o.owner_group, o.owner)
      order by ${IN_LANE_ORDER} limit 1) as next
  )`;

const HEAD = `select ${QUEUED_COLUMNS} from jobs j where ${isQueued('j')}`;

/** One step of the index for each lane, however many jobs it has; the second lanes come after all first ones. */
const HEADS = `
  with recursive ${OWNERS}, firsts as (
    select o.*, b.shape from owners o
    left join unnest($3::text[], $4::text[], $5::bigint[]) as b (owner_group, owner, shape) using (owner_group, owner)
    limit $6
  ), heads as (
    select first.*, 1 as turn from firsts f cross join lateral (
      (${HEAD} and (j.owner_group, j.owner) = (f.owner_group, f.owner) and j.shape > f.shape
        order by ${IN_LANE_ORDER} limit 1)
      union all
      (${HEAD} and (j.owner_group, j.owner) = (f.owner_group, f.owner) order by ${IN_LANE_ORDER} limit 1)
      limit 1) as first
    union all
    select next.*, h.turn + 1 from heads h cross join lateral (
      ${HEAD} and (j.owner_group, j.owner) = (h."ownerGroup", h.owner) and j.shape > h.shape
      order by ${IN_LANE_ORDER} limit 1) as next
  )
  select * from heads limit $6`;
