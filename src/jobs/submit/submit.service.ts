import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Problem, stringifyJson } from '#src/kernel/index.js';
import type { Clock, JsonObject, Violation } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { CLOCK, CONFIG, labelRequest, type Config, type HttpRequest } from '#src/platform/index.js';
import { RegistryService } from '#src/registry/index.js';
import { JobPolicy } from '../job.policy.js';
import type { DryRunResponse, SubmitResponse } from '../job.response.js';
import { readManifest, type JobRequest, type ManifestContext } from '../manifest/manifest.js';
import { expandParameters, isParametric } from '../manifest/parametric.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { SubmissionReader, type Submission } from './submission.js';
import { JobMetrics } from '../job-metrics.js';
import { SubmitRate } from './submit-rate.js';
import { SubmitRepository, type IdempotencyKey } from './submit.repository.js';

interface Prepared {
  requests: JobRequest[];
  warnings: string[];
}

const KEY_LIFE_MS = 24 * 3600_000;
const MAX_VIOLATIONS = 100;

/** POST /jobs: reads, checks everything, and then makes all jobs of the request or none. */
@Injectable()
export class SubmitService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly policy: JobPolicy,
    private readonly registry: RegistryService,
    private readonly reader: SubmissionReader,
    private readonly sandboxes: SandboxService,
    private readonly repository: SubmitRepository,
    private readonly rate: SubmitRate,
    private readonly metrics: JobMetrics,
  ) {}

  /**
   * Makes the jobs and answers their ids. Throws Problem 400 with every fault, 403, 409 or 422 for idempotency
   * keys, 413.
   */
  async submit(principal: Principal, request: HttpRequest): Promise<SubmitResponse> {
    this.requireRight(principal);
    await this.rate.count(principal.user);
    const key = idempotencyKeyOf(request);
    const submission = await this.reader.read(request);
    try {
      const prepared = await this.prepare(principal, submission);
      const inputSandbox = await this.keepFiles(submission);
      const { answer, isRepeated } = await this.store(principal, submission, {
        ...prepared,
        inputSandbox,
        key,
      });
      if (isRepeated) labelRequest(request, { repeated: 'true' });
      return answer;
    } finally {
      await submission.discard();
    }
  }

  /** Does everything that `submit` does before it makes jobs. Throws what it would throw. */
  async dryRun(principal: Principal, request: HttpRequest): Promise<DryRunResponse> {
    this.requireRight(principal);
    await this.rate.count(principal.user);
    idempotencyKeyOf(request);
    const submission = await this.reader.read(request);
    try {
      const { requests, warnings } = await this.prepare(principal, submission);
      const manifests = requests.map(({ manifest }) => manifest);
      return { valid: true, jobs: requests.length, manifests, warnings };
    } finally {
      await submission.discard();
    }
  }

  private requireRight(principal: Principal): void {
    if (this.policy.maySubmit(principal)) return;
    throw new Problem('job.forbidden', `Group ${principal.group} may not submit jobs`);
  }

  private async prepare(principal: Principal, submission: Submission): Promise<Prepared> {
    const registry = await this.registry.current();
    const context: ManifestContext = {
      user: principal.user,
      dn: principal.dn,
      group: principal.group,
      setup: principal.setup,
      vo: principal.vo,
      sites: new Set(registry.sitesOf(principal.setup).map((site) => site.name)),
      files: submission.files.map((file) => file.name),
      maxInputData: this.config.maxInputData,
    };
    const { requests, warnings, violations } = readAll(
      submission.manifests,
      context,
      this.config.maxParametricJobs,
    );
    if (violations.length > 0) throw Problem.invalid(violations.slice(0, MAX_VIOLATIONS));
    return { requests, warnings };
  }

  private async keepFiles(submission: Submission): Promise<string | undefined> {
    if (submission.files.length === 0) return undefined;
    const files = submission.files.map(({ name, path, sizeBytes }) => ({
      name,
      sizeBytes,
      content: { path },
    }));
    return this.sandboxes.keep(files);
  }

  private async store(
    principal: Principal,
    submission: Submission,
    jobs: Prepared & { inputSandbox: string | undefined; key: string | undefined },
  ): Promise<{ answer: SubmitResponse; isRepeated: boolean }> {
    const { user: owner, group: ownerGroup, setup } = principal;
    const now = new Date(this.clock.now());
    const bodyHash = hashOf(submission);
    const key = jobs.key && { owner, ownerGroup, setup, key: jobs.key, bodyHash };
    return this.repository.transaction(async (transaction) => {
      if (key) {
        const earlier = await this.earlierAnswer(transaction, key, now);
        if (earlier) return { answer: earlier, isRepeated: true };
      }
      const jids = await this.repository.add(transaction, {
        requests: jobs.requests,
        owner,
        ownerDn: principal.dn,
        ownerGroup,
        vo: principal.vo ?? '',
        setup,
        inputSandbox: jobs.inputSandbox,
        now,
      });
      this.metrics.added(jids.length);
      const answer: SubmitResponse = { jids };
      if (jobs.warnings.length > 0) answer.warnings = jobs.warnings;
      if (key) await this.repository.remember(transaction, key, answer, now);
      return { answer, isRepeated: false };
    });
  }

  private async earlierAnswer(
    transaction: Parameters<SubmitRepository['lockKey']>[0],
    key: IdempotencyKey,
    now: Date,
  ): Promise<SubmitResponse | undefined> {
    if (!(await this.repository.lockKey(transaction, key))) {
      const text = 'Another request with this Idempotency-Key is under way';
      throw new Problem('idempotency.in-flight', text, { retryAfterSeconds: 1 });
    }
    const after = new Date(now.getTime() - KEY_LIFE_MS);
    const earlier = await this.repository.earlierAnswer(transaction, key, after);
    if (!earlier) return undefined;
    if (earlier.bodyHash === key.bodyHash) return earlier.answer as unknown as SubmitResponse;
    const text = 'The Idempotency-Key was used before with another body';
    throw new Problem('idempotency.mismatch', text);
  }
}

/** Reads and expands all manifests. The faults of one manifest are those of its first faulty job. */
function readAll(
  manifests: readonly JsonObject[],
  context: ManifestContext,
  maxJobs: number,
): Prepared & { violations: Violation[] } {
  const requests: JobRequest[] = [];
  const warnings = new Set<string>();
  const violations: Violation[] = [];
  manifests.forEach((manifest, index) => {
    const prefix = manifests.length === 1 ? '' : `manifests[${index}].`;
    const expansion = isParametric(manifest)
      ? expandParameters(manifest, maxJobs - requests.length)
      : { manifests: [manifest], violations: [] };
    const faults = [...expansion.violations];
    for (const single of expansion.manifests) {
      const reading = readManifest(single, context);
      for (const warning of reading.warnings) warnings.add(prefix + warning);
      faults.push(...reading.violations);
      if (reading.violations.length > 0) break;
      requests.push(reading.job);
    }
    for (const { field, problem } of faults) violations.push({ field: prefix + field, problem });
  });
  return { requests, warnings: [...warnings], violations };
}

/** The key of the request. Throws Problem 400 for one that is empty, too long or not printable. */
function idempotencyKeyOf(request: HttpRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw Problem.invalidField('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
}

/** Equal for the same manifests (whatever the order of their keys) with the same file contents. */
function hashOf(submission: Submission): string {
  const files = submission.files.map(({ name, hash }) => [name, hash]).sort();
  const body = stringifyJson([submission.manifests.map(sorted), files]);
  return createHash('sha256').update(body).digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}
