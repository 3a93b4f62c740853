import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import type { Jid } from '../state/job.js';
import { JobsRepository, type RecordedJob } from '../state/jobs.repository.js';

/** Jobs by their ids, many requests with one statement. */
@Injectable()
export class JobPointReads {
  private readonly read: (jid: string) => Promise<RecordedJob | undefined>;

  constructor(database: Database, jobs: JobsRepository) {
    this.read = database.batchedReads(async (jids: string[]) => {
      const rows = await jobs.records(jids);
      return new Map(rows.map((job) => [String(job.jid), job]));
    });
  }

  /** The job, or undefined; to be read only, since others may have been given the same object. */
  find(jid: Jid): Promise<RecordedJob | undefined> {
    return this.read(String(jid));
  }
}
