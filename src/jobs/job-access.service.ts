import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { parseJid, type Job } from './job.js';
import { JobPolicy } from './job.policy.js';
import { JobsRepository } from './jobs.repository.js';

/** Finds a job for somebody: 404 when it is not there or not visible, 403 when it is visible but not allowed. */
@Injectable()
export class JobAccess {
  constructor(
    private readonly repository: JobsRepository,
    private readonly policy: JobPolicy,
  ) {}

  /** The job, to read its record. */
  async read(principal: Principal, jid: string): Promise<Job> {
    const id = parseJid(jid);
    const job = id === undefined ? undefined : await this.repository.find(id);
    if (!job || !this.policy.mayRead(principal, job)) throw jobNotFound(jid);
    return job;
  }

  /** The job, to read its manifest. */
  async readManifest(principal: Principal, jid: string): Promise<Job> {
    const job = await this.read(principal, jid);
    if (this.policy.mayReadManifest(principal, job)) return job;
    throw forbidden(`The manifest of job ${job.jid} is not yours to read`);
  }

  /** The job, to read its sandboxes and running output. */
  async readSandbox(principal: Principal, jid: string): Promise<Job> {
    const job = await this.read(principal, jid);
    if (this.policy.mayReadSandbox(principal, job)) return job;
    throw forbidden(`The sandboxes of job ${job.jid} are not yours to read`);
  }

  /** The job, to kill, delete or reschedule it. */
  async control(principal: Principal, jid: string): Promise<Job> {
    const job = await this.read(principal, jid);
    if (this.policy.mayControl(principal, job)) return job;
    throw forbidden(`Job ${job.jid} is not yours to change`);
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
