import { Injectable } from '@nestjs/common';
import { Problem, type JsonObject } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { JobAccess } from '../access/job-access.service.js';
import { OutputReads } from '../matching/output-reads.js';
import { tailText } from '../run/output-tail.js';
import { planOf } from '../run/run-plan.js';
import type { Jid } from '../state/job.js';
import { isRunning } from '../state/job-state.js';
import { JobsRepository } from '../state/jobs.repository.js';
import type { JobHistoryResponse, JobPeekResponse } from './job-insight.response.js';

const PEEK_BYTES = 8_192;

/** What else users ask about one job: manifest, history, parameters and the running output. */
@Injectable()
export class JobInsightService {
  constructor(
    private readonly access: JobAccess,
    private readonly jobs: JobsRepository,
    private readonly outputs: OutputReads,
  ) {}

  /** GET /jobs/<jid>/manifest. */
  async manifest(principal: Principal, jid: string): Promise<JsonObject> {
    const job = await this.access.readManifest(principal, jid);
    return (await this.jobs.manifest(job.jid)) ?? {};
  }

  /** GET /jobs/<jid>/history. */
  async history(principal: Principal, jid: string): Promise<JobHistoryResponse> {
    const job = await this.access.read(principal, jid);
    const rows = await this.jobs.history(job.jid);
    const history = rows.map((row) => ({
      status: row.status,
      minorStatus: row.minorStatus,
      appStatus: row.appStatus,
      time: row.time.toISOString(),
      source: row.source,
    }));
    return { history };
  }

  /** GET /jobs/<jid>/parameters. */
  async parameters(principal: Principal, jid: string): Promise<Record<string, unknown>> {
    const job = await this.access.read(principal, jid);
    return this.jobs.parameters(job.jid);
  }

  /**
   * The end of the output of a running job, whichever instance runs it. Throws Problem 404, 403, 409 when it does not
   * run, and 503 when its instance does not answer.
   */
  async peek(principal: Principal, jid: string): Promise<JobPeekResponse> {
    const job = await this.access.readSandbox(principal, jid, 'output');
    if (!isRunning(job.status)) throw notRunning(job.jid, job.status);
    const { stdout, stderr } = planOf({ manifest: (await this.jobs.manifest(job.jid)) ?? {} });
    const tail = async (name: string): Promise<string> => {
      const wish = { name, start: -PEEK_BYTES, mostBytes: PEEK_BYTES };
      const part = await this.outputs.read(job.jid, wish);
      return part ? tailText(part.content, part.start) : '';
    };
    const shown = {
      stdout: await tail(stdout),
      stderr: stderr === stdout ? '' : await tail(stderr),
    };
    if (shown.stdout !== '' || shown.stderr !== '') return shown;
    // It may have ended while we looked; then there is a better answer than none.
    const now = await this.access.again(principal, job);
    if (now.status !== job.status) throw notRunning(now.jid, now.status);
    return shown;
  }
}

/** 409 for output of a job that does not run. */
function notRunning(jid: Jid, status: string): Problem {
  return new Problem('job.state-conflict', `Job ${jid} is ${status}: it has no running output`, {
    members: { jobStatus: status },
  });
}
