import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { Database, type Statement } from '#src/database/index.js';
import { EventLog } from '#src/events/index.js';
import type { Jid } from '../state/job.js';
import { ADD_GATHERED, ADD_MANY_GATHERED, LOGGED_TOGETHER } from './add-jobs.sql.js';

/** The few jobs of one request that needs nothing else of the database. */
export interface FewJobs {
  /** Lines of jobs (job-lines.ts). */
  lines: readonly string[];
  owner: string;
  ownerDn: string;
  ownerGroup: string;
  vo: string;
  setup: string;
  inputSandbox: string | undefined;
}

/**
 * Submits of few jobs that come together are one statement and one commit; each is answered once that is durable.
 */
@Injectable()
export class GatheredSubmits {
  /** Adds the jobs and wakes the dispatchers; answers their ids in the order of the lines. */
  readonly write: (jobs: FewJobs) => Promise<Jid[]>;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    private readonly events: EventLog,
  ) {
    this.write = database.batchedWrites((requests: FewJobs[]) => this.add(requests));
  }

  private async add(requests: readonly FewJobs[]): Promise<Map<FewJobs, Jid[]>> {
    const rows = await this.database.write<{ jid: Jid; request: number }>(
      this.statementOf(requests),
    );
    this.events.wrote('jobs', this.database);
    const added = new Map(requests.map((request): [FewJobs, Jid[]] => [request, []]));
    for (const { jid, request } of rows) added.get(requests[request] as FewJobs)?.push(jid);
    return added;
  }

  private statementOf(requests: readonly FewJobs[]): Statement {
    const lines = requests.flatMap((request) => request.lines);
    const ofEach = <T>(of: (request: FewJobs, index: number) => T): T[] =>
      requests.flatMap((request, index) => request.lines.map(() => of(request, index)));
    return {
      ...(lines.length < LOGGED_TOGETHER ? ADD_GATHERED : ADD_MANY_GATHERED),
      values: [
        `[${lines.join(',')}]`,
        new Date(this.clock.now()),
        ofEach((_request, index) => index),
        ofEach(({ setup }) => setup),
        ofEach(({ owner }) => owner),
        ofEach(({ ownerDn }) => ownerDn),
        ofEach(({ ownerGroup }) => ownerGroup),
        ofEach(({ vo }) => vo),
        ofEach(({ inputSandbox }) => inputSandbox ?? null),
      ],
    };
  }
}
