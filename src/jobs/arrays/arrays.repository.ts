import { Injectable } from '@nestjs/common';
import { columnsOf, Database, type Queryable, type Transaction } from '#src/database/index.js';
import type { Jid } from '../state/job.js';
import type { JobState } from '../state/job-state.js';
import { JobArrayEntity } from './job-array.entity.js';

/** A new array: what it has before it has an id. */
export type NewArray = Omit<JobArrayEntity, 'id'>;

/** A member that is to be moved. */
export interface ArrayMember {
  jid: Jid;
  wantedSites: string[];
  reschedules: number;
  /** Somebody has a run of it, or a claim, that is to be ended. */
  isHeld: boolean;
}

/** The next members of an array, behind one of them. */
export interface MembersWanted {
  id: Jid;
  states: readonly JobState[];
  after: Jid;
  limit: number;
}

/** Arrays and their members. */
@Injectable()
export class ArraysRepository {
  constructor(private readonly database: Database) {}

  /** Adds an array; answers its id. */
  async add(transaction: Transaction, array: NewArray): Promise<Jid> {
    const { setup, owner, ownerGroup, vo, name, total, submissionTime } = array;
    const [row] = await transaction.query<{ id: Jid }>({
      name: 'arrays-add',
      text: `insert into job_arrays (setup, owner, owner_group, vo, name, total, submission_time)
        values ($1, $2, $3, $4, $5, $6, $7) returning id`,
      values: [setup, owner, ownerGroup, vo, name, total, submissionTime],
    });
    return (row as { id: Jid }).id;
  }

  /** The array, or undefined. */
  async find(id: Jid): Promise<JobArrayEntity | undefined> {
    const [row] = await this.database.query<JobArrayEntity>({
      name: 'arrays-find',
      text: `select ${columnsOf(JobArrayEntity)} from job_arrays where id = $1`,
      values: [String(id)],
    });
    return row;
  }

  /** Numbers of members by state; none has the number 0. Sums of counters, like the totals of lists: exact in every snapshot. */
  async states({
    id,
    setup,
  }: Pick<JobArrayEntity, 'id' | 'setup'>): Promise<{ status: JobState; total: number }[]> {
    return this.database.query({
      name: 'arrays-states',
      text: `select status, sum(n)::bigint as total from job_label_counts
        where setup = $1 and kind = 'array' and label = $2
        group by status having sum(n) <> 0 order by status`,
      values: [setup, String(id)],
    });
  }

  /** The next members that are in one of the states, in the order of their ids. */
  async members(
    { id, states, after, limit }: MembersWanted,
    queryable: Queryable = this.database,
  ): Promise<ArrayMember[]> {
    return queryable.query({
      name: 'arrays-members',
      text: `select jid, wanted_sites as "wantedSites", reschedules, executor is not null as "isHeld"
        from jobs where array_id = $1 and jid > $2 and status = any ($3::text[])
        order by array_id, jid limit $4`,
      values: [String(id), String(after), states, limit],
    });
  }
}
