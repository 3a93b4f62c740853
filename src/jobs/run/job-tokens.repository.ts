import { Injectable } from '@nestjs/common';
import type { Delegation } from '#src/auth/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import type { Jid } from '../state/job.js';
import type { RunOrder } from './executor.js';

/** A run, as the tokens of it are kept together. */
export interface TokenRun {
  jid: Jid;
  attempt: number;
  tokenRight: string;
}

/** Who holds such a job looks after its run. */
const UNDER_WAY = ['Matched', 'Running', 'Stalled', 'Completing', 'Completed'];

/** Statements about the tokens of runs. */
@Injectable()
export class JobTokensRepository {
  constructor(private readonly database: Database) {}

  /** Notes that a run is given tokens; what they may be. Undefined for a job that was submitted without. */
  async begin({
    jid,
    attempt,
  }: Pick<RunOrder, 'jid' | 'attempt'>): Promise<
    { id: string; delegation: Delegation } | undefined
  > {
    const [row] = await this.database.query<{ id: string; delegation: string }>({
      name: 'jobs-token-begin',
      text: `with given as (
          select r.id, r.delegation from job_descriptions d
          join job_token_rights r on r.id = d.token_right where d.jid = $1
        ), noted as (
          insert into job_run_tokens (jid, attempt, token_right) select $1, $2, id from given
          on conflict (jid, attempt) do nothing
        )
        select id, delegation::text as delegation from given`,
      values: [jid, attempt],
    });
    return row && { id: row.id, delegation: JSON.parse(row.delegation) as Delegation };
  }

  /** Takes a run out; undefined when it has been given none. */
  async end(
    transaction: Transaction,
    { jid, attempt }: Pick<RunOrder, 'jid' | 'attempt'>,
  ): Promise<TokenRun | undefined> {
    const [row] = await transaction.query<TokenRun>({
      name: 'jobs-token-end',
      text: `delete from job_run_tokens where jid = $1 and attempt = $2
        returning jid, attempt, token_right as "tokenRight"`,
      values: [jid, attempt],
    });
    return row;
  }

  /** Takes out runs that are over although nobody has said so: killed, taken away, or of an instance that is gone. */
  async endOthers(transaction: Transaction, limit: number): Promise<TokenRun[]> {
    return transaction.query<TokenRun>({
      name: 'jobs-token-end-others',
      text: `delete from job_run_tokens where (jid, attempt) in (
          select t.jid, t.attempt from job_run_tokens t
          left join jobs j on j.jid = t.jid and j.attempt = t.attempt and j.executor is not null
            and j.status = any($1::text[])
          where j.jid is null limit $2)
        returning jid, attempt, token_right as "tokenRight"`,
      values: [UNDER_WAY, limit],
    });
  }
}
