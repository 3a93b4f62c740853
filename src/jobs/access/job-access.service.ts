import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { actorOf, requestOf, type Principal } from '#src/auth/index.js';
import { Audit } from '#src/audit/index.js';
import type { Job } from '../state/job.entity.js';
import { parseJid, type Jid } from '../state/job.js';
import { JobPointReads } from './job-point-reads.js';
import { JobPolicy, type JobOwnership } from './job.policy.js';
import { JobsRepository, type RecordedJob } from '../state/jobs.repository.js';

/** What of a job only those see who are responsible for it. */
type Inside = 'manifest' | 'inputsandbox' | 'outputsandbox' | 'output';

/** Finds a job for somebody: 404 when it is not there or not visible, 403 when it is visible but not allowed. */
@Injectable()
export class JobAccess {
  constructor(
    private readonly repository: JobsRepository,
    private readonly reads: JobPointReads,
    private readonly policy: JobPolicy,
    private readonly audit: Audit,
  ) {}

  /** The record of the job, to read it, its history, parameters or explanation. */
  async read(principal: Principal, jid: string): Promise<RecordedJob> {
    const job = await this.find(principal, jid, this.reads);
    if (this.policy.readsByPrivilege(principal, job, 'record'))
      this.noteRead(principal, job, 'record');
    return job;
  }

  /** The job, to read its manifest. */
  async readManifest(principal: Principal, jid: string): Promise<Job> {
    const job = await this.find(principal, jid, this.repository);
    if (this.policy.mayReadManifest(principal, job)) return this.inside(principal, job, 'manifest');
    throw forbidden(`The manifest of job ${job.jid} is not yours to read`);
  }

  /** The job, to read its sandboxes or running output. */
  async readSandbox(principal: Principal, jid: string, what: Inside): Promise<Job> {
    const job = await this.find(principal, jid, this.repository);
    if (this.policy.mayReadSandbox(principal, job)) return this.inside(principal, job, what);
    throw forbidden(`The sandboxes of job ${job.jid} are not yours to read`);
  }

  /**
   * The job as it is now, for somebody who was let to its output before; undefined when it is gone, or not theirs to read
   * any more. Not audited again.
   */
  async stillReadsSandbox(principal: Principal, { jid }: Job): Promise<Job | undefined> {
    const job = await this.repository.find(jid);
    return job && this.policy.mayReadSandbox(principal, job) ? job : undefined;
  }

  /** The job, to kill, delete or reschedule it. */
  async control(principal: Principal, jid: string): Promise<Job> {
    const job = await this.find(principal, jid, this.repository);
    if (this.policy.mayControl(principal, job)) return job;
    throw forbidden(`Job ${job.jid} is not yours to change`);
  }

  /** The job as it is now, for somebody who was let to it before. Throws 404 when it is gone. */
  async again(principal: Principal, { jid }: Pick<Job, 'jid'>): Promise<Job> {
    return this.find(principal, String(jid), this.repository);
  }

  private async find<T extends JobOwnership>(
    principal: Principal,
    jid: string,
    source: { find(jid: Jid): Promise<T | undefined> },
  ): Promise<T> {
    const id = parseJid(jid);
    const job = id === undefined ? undefined : await source.find(id);
    if (!job || !this.policy.mayRead(principal, job)) throw jobNotFound(jid);
    return job;
  }

  private inside(principal: Principal, job: Job, what: Inside): Job {
    if (this.policy.readsByPrivilege(principal, job, 'inside')) this.noteRead(principal, job, what);
    return job;
  }

  private noteRead(principal: Principal, { jid, owner }: Job | RecordedJob, what: string): void {
    const origin = { request: requestOf(principal), actor: actorOf(principal) };
    this.audit.done('job.read', { what, jobs: 1, jids: [String(jid)], owner }, origin);
  }
}

/** 404 that says no more than that. */
export function jobNotFound(jid: string): Problem {
  const shown = /^\d{1,19}$/.test(jid) ? `Job ${jid} does not exist` : 'No such job';
  return new Problem('job.not-found', shown);
}

function forbidden(detail: string): Problem {
  return new Problem('job.forbidden', detail);
}
