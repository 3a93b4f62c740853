import { Injectable } from '@nestjs/common';
import { columnsOf, Database } from '#src/database/index.js';
import { JobEntity } from '../state/job.entity.js';
import { MINOR } from '../state/job-state.js';
import type { Owned } from './fair-share.js';
import type { LaneKey, QueuedJob } from './queued-job.js';
import { WISH_COLUMNS } from './shape.js';

/** The first job of a lane; `turn` counts the lanes of its owner that the look has come to, from 1 on, and is 0 of a lane that was asked for. */
export type LaneHead = QueuedJob & { turn: number };

/** Which lanes are looked at. */
export interface LanesWanted {
  /** At most so many. */
  limit: number;
  /** Owners from behind this one on, in the order of groups and owners. */
  after?: Owned | undefined;
  /** Lanes from behind these on; of owners of whom none is named, or nothing is behind it, from the first one on. */
  behind?: readonly LaneKey[];
  /** Lanes that are looked at besides. */
  also?: readonly LaneKey[];
  /** Those of jobs that were found to fit nowhere, instead of those of the queue. */
  unplaceable?: boolean;
}

/** Who waits, and for what. */
@Injectable()
export class LanesRepository {
  constructor(private readonly database: Database) {}

  /**
   * The first job of each of at most `limit` lanes: one of each owner, then a second one of each who has more, and so on. However
   * many lanes an owner has, every other owner is looked at.
   */
  async heads({
    limit,
    after,
    behind = [],
    also = [],
    unplaceable = false,
  }: LanesWanted): Promise<LaneHead[]> {
    return this.database.query<LaneHead>({
      name: unplaceable ? 'jobs-heads-unplaceable' : 'jobs-heads',
      text: unplaceable ? HEADS_UNPLACEABLE : HEADS,
      values: [
        after?.ownerGroup ?? '',
        after?.owner ?? '',
        behind.map(({ ownerGroup }) => ownerGroup),
        behind.map(({ owner }) => owner),
        behind.map(({ shape }) => String(shape)),
        limit,
        ...[also.map(({ ownerGroup }) => ownerGroup), also.map(({ owner }) => owner)],
        also.map(({ shape }) => String(shape)),
      ],
    });
  }

  /** At most `limit` of the owners who have jobs in the queue, by group and name. */
  async owners(limit: number): Promise<Owned[]> {
    return this.database.query<Owned>({
      name: 'jobs-queue-owners',
      text: `with recursive ${ownersOf(isQueued('j'))} select owner_group as "ownerGroup", owner from owners limit $3`,
      values: ['', '', limit],
    });
  }
}

/** A job that waits for its turn, as far as anybody has found out. */
export function isQueued(alias: string): string {
  return `${isUnheld(alias)} and ${alias}.minor_status <> '${MINOR.noSites}'`;
}

/** A job that waits, and was found to fit nowhere. */
export function isUnplaceable(alias: string): string {
  return `${isUnheld(alias)} and ${alias}.minor_status = '${MINOR.noSites}'`;
}

/** A job that is held by nobody, so that sites decide when it runs. */
function isUnheld(alias: string): string {
  return `${alias}.status = 'Waiting' and ${alias}.executor is null and ${alias}.held_by is null`;
}

const HEAD_COLUMNS = columnsOf(JobEntity, {
  alias: 'j',
  only: ['jid', 'priority', 'lastUpdate', 'owner', 'ownerGroup'],
});

/** The columns of a `QueuedJob`, of `jobs j`. */
export const QUEUED_COLUMNS = `j.shape, ${HEAD_COLUMNS}, ${WISH_COLUMNS}`;

/** The lane of `jobs j`. */
export const LANE = 'j.owner_group, j.owner, j.shape';

/** The order of the index of the queue. */
export const IN_LANE_ORDER = `${LANE}, j.priority desc, j.jid`;

/** One step of the index for each owner behind ($1, $2), however many jobs they have. */
const ownersOf = (which: string): string => `owners as (
    (select j.owner_group, j.owner from jobs j where ${which} and (j.owner_group, j.owner) > ($1, $2)
      order by ${IN_LANE_ORDER} limit 1)
    union all
    select next.* from owners o cross join lateral (
      select j.owner_group, j.owner from jobs j
      where ${which} and (j.owner_group, j.owner) > (o.owner_group, o.owner)
      order by ${IN_LANE_ORDER} limit 1) as next
  )`;

/** One step of the index for each lane, however many jobs it has; the second lanes come after all first ones. */
const headsOf = (which: string): string => {
  const head = `select ${QUEUED_COLUMNS} from jobs j where ${which}`;
  const ofOwner = `and (j.owner_group, j.owner) = (f.owner_group, f.owner)`;
  return `
  with recursive ${ownersOf(which)}, firsts as (
    select o.*, b.shape from owners o
    left join unnest($3::text[], $4::text[], $5::bigint[]) as b (owner_group, owner, shape) using (owner_group, owner)
    limit $6
  ), heads as (
    select first.*, 1 as turn from firsts f cross join lateral (
      (${head} ${ofOwner} and j.shape > f.shape order by ${IN_LANE_ORDER} limit 1)
      union all
      (${head} ${ofOwner} order by ${IN_LANE_ORDER} limit 1)
      limit 1) as first
    union all
    select next.*, h.turn + 1 from heads h cross join lateral (
      ${head} and (j.owner_group, j.owner) = (h."ownerGroup", h.owner) and j.shape > h.shape
      order by ${IN_LANE_ORDER} limit 1) as next
  )
  (select * from heads limit $6)
  union all
  select also.*, 0 as turn from unnest($7::text[], $8::text[], $9::bigint[]) as a (owner_group, owner, shape)
  cross join lateral (
    ${head} and (${LANE}) = (a.owner_group, a.owner, a.shape) order by ${IN_LANE_ORDER} limit 1) as also`;
};

const HEADS = headsOf(isQueued('j'));
const HEADS_UNPLACEABLE = headsOf(isUnplaceable('j'));
