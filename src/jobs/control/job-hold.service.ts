import { Inject, Injectable } from '@nestjs/common';
import { Problem, type Clock, CLOCK } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { JobAccess } from '../access/job-access.service.js';
import { JobPolicy } from '../access/job.policy.js';
import { WORK_CHANNEL } from '../state/admission.js';
import { HoldRepository, type HoldChange } from '../state/hold.repository.js';
import type { Job } from '../state/job.entity.js';
import type { Jid } from '../state/job.js';

/** Holds waiting jobs back, and releases them. What an administrator has held nobody else releases. */
@Injectable()
export class JobHoldService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly access: JobAccess,
    private readonly policy: JobPolicy,
    private readonly holds: HoldRepository,
    private readonly feed: ChangeFeed,
  ) {}

  /** Holds a waiting job; a held one is fine. Throws Problem 404, 403, and 409 when it does not wait. */
  async hold(principal: Principal, jid: string): Promise<Jid> {
    const job = await this.access.control(principal, jid);
    const isOwn = !this.policy.readsByPrivilege(principal, job, 'inside');
    const by = isOwn ? 'owner' : 'administrator';
    if (await this.holds.hold(this.change(principal, job), by)) return job.jid;
    throw await this.conflict(principal, job, 'held');
  }

  /**
   * Releases a held job; one that is not held is fine. Throws Problem 404, 403 also for somebody else than an
   * administrator when one has held it, and 409 when it does not wait.
   */
  async release(principal: Principal, jid: string): Promise<Jid> {
    const job = await this.access.control(principal, jid);
    const mayAll = this.policy.mayOverrule(principal, job);
    if (job.heldBy === 'administrator' && !mayAll) {
      const detail = `Job ${job.jid} was held by an administrator, and only one can release it`;
      throw new Problem('job.forbidden', detail);
    }
    if (!(await this.holds.release(this.change(principal, job), mayAll))) {
      throw await this.conflict(principal, job, 'released');
    }
    await this.feed.notify(WORK_CHANNEL);
    return job.jid;
  }

  private change({ user }: Principal, { jid }: Job): HoldChange {
    return { jid, source: user, now: new Date(this.clock.now()) };
  }

  private async conflict(principal: Principal, job: Job, verb: string): Promise<Problem> {
    const { jid, status } = await this.access.again(principal, job);
    const detail = `Job ${jid} is ${status} and cannot be ${verb}: only waiting jobs can`;
    return new Problem('job.state-conflict', detail, { members: { jobStatus: status } });
  }
}
