import { Injectable } from '@nestjs/common';
import { Problem, stringifyJson } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { clientSignal, labelRequest, type HttpRequest } from '#src/http/index.js';
import { JobPolicy } from '../access/job.policy.js';
import { isProgram } from '../run/script-head.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { SandboxSpool } from '../sandbox/sandbox-spool.js';
import { jobLine, templateLine } from './job-lines.js';
import { LineSpool } from './line-spool.js';
import { SubmissionReader, type Submission } from './submission.js';
import { SubmitCheck, type LineWriter, type Prepared } from './submit-check.js';
import type { SubmitQuery } from './submit.query.js';
import { SubmitRate } from './submit-rate.js';
import type { SubmitResponse } from './submit.response.js';
import { SubmitStore } from './submit-store.js';

const TO_STORE: LineWriter = { job: jobLine, template: templateLine };
const TO_SHOW: LineWriter = { job: ({ manifest }) => stringifyJson(manifest) };

/** POST /jobs: reads, checks everything, and then makes all jobs of the request or none. */
@Injectable()
export class SubmitService {
  constructor(
    private readonly policy: JobPolicy,
    private readonly rate: SubmitRate,
    private readonly reader: SubmissionReader,
    private readonly spool: SandboxSpool,
    private readonly sandboxes: SandboxService,
    private readonly check: SubmitCheck,
    private readonly store: SubmitStore,
  ) {}

  /**
   * Makes the jobs and answers their ids. Throws Problem 400 with every fault, 403, 409 or 422 for idempotency
   * keys, 413.
   */
  async submit(
    principal: Principal,
    request: HttpRequest,
    query: Pick<SubmitQuery, 'array'>,
  ): Promise<SubmitResponse> {
    this.requireRight(principal);
    await this.rate.count(principal.user);
    const key = idempotencyKeyOf(request);
    const submission = await this.reader.read(request);
    submission.array.take(query.array);
    const lines = new LineSpool(this.spool, clientSignal(request));
    try {
      const prepared = await this.check.prepare(principal, submission, {
        lines,
        writer: TO_STORE,
        key,
      });
      const inputSandbox = await this.keepFiles(submission);
      const jobs = { ...prepared, inputSandbox, key };
      const { answer, isRepeated } = await this.store.add(principal, jobs);
      if (isRepeated) labelRequest(request, { repeated: 'true' });
      return answer;
    } finally {
      await Promise.all([submission.discard(), lines.discard()]);
    }
  }

  /**
   * Does everything that `submit` does before it makes jobs. Throws what it would throw. The answer (DryRunResponse)
   * is text in pieces, since it may be large; who reads it ends or returns the generator.
   */
  async dryRun(
    principal: Principal,
    request: HttpRequest,
    query: Pick<SubmitQuery, 'array'>,
  ): Promise<AsyncGenerator<string>> {
    this.requireRight(principal);
    await this.rate.count(principal.user);
    idempotencyKeyOf(request);
    const submission = await this.reader.read(request);
    submission.array.take(query.array);
    const lines = new LineSpool(this.spool, clientSignal(request));
    try {
      const prepared = await this.check.prepare(principal, submission, { lines, writer: TO_SHOW });
      return dryRunAnswer(prepared);
    } catch (error) {
      await lines.discard();
      throw error;
    } finally {
      await submission.discard();
    }
  }

  private requireRight(principal: Principal): void {
    if (this.policy.maySubmit(principal)) return;
    throw new Problem('job.forbidden', `Group ${principal.group} may not submit jobs`);
  }

  private async keepFiles(submission: Submission): Promise<string | undefined> {
    if (submission.files.length === 0) return undefined;
    // Forms carry no modes; helpers of the program are to be started as well.
    const files = submission.files.map(({ name, path, sizeBytes, head }) => ({
      ...{ name, sizeBytes, isExecutable: isProgram(head) },
      content: { path },
    }));
    return this.sandboxes.keep(files);
  }
}

/** The key of the request. Throws Problem 400 for one that is empty, too long or not printable. */
function idempotencyKeyOf(request: HttpRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw Problem.invalidField('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
}

async function* dryRunAnswer({ lines, count, warnings }: Prepared): AsyncGenerator<string> {
  try {
    yield `{"valid":true,"jobs":${count},"manifests":[`;
    let separator = '';
    for await (const line of lines.read()) {
      yield separator + line;
      separator = ',';
    }
    yield `],"warnings":${stringifyJson(warnings)}}`;
  } finally {
    await lines.discard();
  }
}
