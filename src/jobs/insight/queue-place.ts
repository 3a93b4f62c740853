import { Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import type { RegistrySnapshot } from '#src/registry/index.js';
import { countedGroups } from '../access/counted-groups.js';
import { JobPolicy } from '../access/job.policy.js';
import { DispatchRepository } from '../matching/dispatch.repository.js';
import { ShareReport, type ShareStanding } from '../matching/share-report.js';
import type { Job } from '../state/job.entity.js';

/** What comes before a job. */
export interface Ahead {
  /** Of its owner, when places are shared. */
  jobs: number;
  /** Where its owner stands; only when places are shared. */
  share?: ShareStanding;
}

/** Says where waiting jobs stand in the queue, among the jobs that count for who asks. */
@Injectable()
export class QueuePlace {
  constructor(
    private readonly policy: JobPolicy,
    private readonly dispatch: DispatchRepository,
    private readonly shares: ShareReport,
  ) {}

  async ahead(principal: Principal, job: Job, registry: RegistrySnapshot): Promise<Ahead> {
    const counted = countedGroups(registry, this.policy.borderOf(principal));
    const share = await this.shares.standingOf(job, counted);
    const jobs = await this.dispatch.jobsAhead(job, share ? 'owner' : counted);
    return { jobs, ...(share && { share }) };
  }
}
