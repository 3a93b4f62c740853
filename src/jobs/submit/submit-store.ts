import { Inject, Injectable } from '@nestjs/common';
import { Problem, type Clock, CLOCK } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { ArraysRepository } from '../arrays/arrays.repository.js';
import { Dependencies } from '../dependencies/dependencies.js';
import { WaitingLimits } from '../limits/waiting-limits.js';
import type { ManifestWarning } from '../manifest/manifest-warning.js';
import type { Jid } from '../state/job.js';
import { JobMetrics } from '../state/job-metrics.js';
import { GatheredSubmits } from './gathered-submits.js';
import { newcomers, type Prepared } from './submit-check.js';
import { SubmitRepository, type IdempotencyKey } from './submit.repository.js';
import type { SubmitResponse } from './submit.response.js';

/** With all that belongs to it. */
type ToStore = Prepared & { inputSandbox: string | undefined; key: string | undefined };

/** Jobs of a request, and the text of them, that are written together with those of others. */
const MOST_FEW = 10;
const MOST_FEW_CHARACTERS = 32 * 1024;
const KEY_LIFE_MS = 24 * 3600_000;

/** What a submit is answered with; `isRepeated` when an earlier one with its key has made the jobs. */
interface Stored {
  answer: SubmitResponse;
  isRepeated: boolean;
}

/** Makes the jobs of a checked submit, all or none. */
@Injectable()
export class SubmitStore {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly repository: SubmitRepository,
    private readonly gathered: GatheredSubmits,
    private readonly limits: WaitingLimits,
    private readonly arrays: ArraysRepository,
    private readonly dependencies: Dependencies,
    private readonly metrics: JobMetrics,
  ) {}

  /** Throws Problem 409 or 422 for the idempotency key, and what the limits of waiting jobs say. */
  async add(principal: Principal, jobs: ToStore): Promise<Stored> {
    const few = await this.fewOf(principal, jobs);
    if (few === undefined) return this.addAll(principal, jobs);
    return { answer: await this.addFew(principal, { ...jobs, few }), isRepeated: false };
  }

  /** The lines of jobs that can be written together with those of other requests: they are few and all that there is to write. */
  private async fewOf(principal: Principal, jobs: ToStore): Promise<readonly string[] | undefined> {
    const { key, array, links, templates, tokenRights } = jobs;
    if (key !== undefined || array || !links.isEmpty || templates + tokenRights.length > 0) {
      return undefined;
    }
    if (await this.limits.concern(newcomers(principal, jobs))) return undefined;
    return jobs.lines.few(MOST_FEW, MOST_FEW_CHARACTERS);
  }

  private async addFew(
    principal: Principal,
    { few, inputSandbox, warnings }: ToStore & { few: readonly string[] },
  ): Promise<SubmitResponse> {
    const { user: owner, dn: ownerDn, group: ownerGroup, vo = '', setup } = principal;
    const jobs = { lines: few, owner, ownerDn, ownerGroup, vo, setup, inputSandbox };
    const jids = await this.gathered.write(jobs);
    this.metrics.added(jids.length);
    return answerOf(jids, warnings);
  }

  private async addAll(principal: Principal, jobs: ToStore): Promise<Stored> {
    const { user: owner, group: ownerGroup, setup } = principal;
    const now = new Date(this.clock.now());
    const key = jobs.key && { owner, ownerGroup, setup, key: jobs.key, bodyHash: jobs.bodyHash };
    return this.repository.transaction(async (transaction) => {
      if (key) {
        const earlier = await this.earlierAnswer(transaction, key, now);
        if (earlier) return { answer: earlier, isRepeated: true };
      }
      await this.limits.require(newcomers(principal, jobs), transaction);
      const vo = principal.vo ?? '';
      const whose = { owner, ownerGroup, setup, vo };
      const rest = { name: jobs.array?.name ?? null, total: jobs.count, submissionTime: now };
      const arrayId = jobs.array && (await this.arrays.add(transaction, { ...whose, ...rest }));
      await this.dependencies.begin(transaction, jobs.links);
      const jids = await this.repository.add(transaction, {
        ...whose,
        arrayId,
        lines: jobs.lines.read(),
        count: jobs.count,
        templates: jobs.templates,
        tokenRights: jobs.tokenRights,
        ownerDn: principal.dn,
        inputSandbox: jobs.inputSandbox,
        now,
      });
      await this.dependencies.add(transaction, jobs.links, { jids, owner: principal.user });
      this.metrics.added(jids.length);
      const answer = answerOf(jids, jobs.warnings, arrayId);
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
    if (earlier.bodyHash === key.bodyHash) return earlier.answer;
    const text = 'The Idempotency-Key was used before with another body';
    throw new Problem('idempotency.mismatch', text);
  }
}

function answerOf(jids: Jid[], warnings: ManifestWarning[], arrayId?: Jid): SubmitResponse {
  return {
    jids,
    ...(arrayId !== undefined && { arrayId }),
    ...(warnings.length > 0 && { warnings }),
  };
}
