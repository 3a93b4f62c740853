import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import type { Job } from '../state/job.entity.js';
import type { Jid } from '../state/job.js';
import { JobsRepository } from '../state/jobs.repository.js';

/** Jobs by their ids, many requests with one statement. */
@Injectable()
export class JobPointReads {
  private readonly read: (jid: string) => Promise<Job | undefined>;

  constructor(database: Database, jobs: JobsRepository) {
    this.read = database.batchedReads(async (jids: string[]) => {
      const rows = await jobs.findAll(jids);
      return new Map(rows.map((job) => [String(job.jid), job]));
    });
  }

  /** The job, or undefined; to be read only, since others may have been given the same object. */
  find(jid: Jid): Promise<Readonly<Job> | undefined> {
    return this.read(String(jid));
  }
}
