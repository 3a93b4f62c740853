import { isProgram } from '../run/script-head.js';
import { Inject, Injectable } from '@nestjs/common';
import { Problem, stringifyJson, type Clock, type JsonObject, CLOCK } from '#src/kernel/index.js';
import { Delegations, type Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { clientSignal, labelRequest, type HttpRequest } from '#src/http/index.js';
import { RegistryService } from '#src/registry/index.js';
import { ArraysRepository } from '../arrays/arrays.repository.js';
import { JobPolicy } from '../access/job.policy.js';
import type { SubmitQuery } from './submit.query.js';
import type { SubmitResponse } from './submit.response.js';
import type { ManifestContext } from '../manifest/manifest.js';
import type { ManifestWarning } from '../manifest/manifest-warning.js';
import { isOwnProgram, ONLY_OWN_PROGRAMS } from '../manifest/own-programs.js';
import type { SharedManifest } from '../manifest/stored-manifest.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { SandboxSpool } from '../sandbox/sandbox-spool.js';
import { SubmissionReader, type Submission } from './submission.js';
import type { Jid } from '../state/job.js';
import { JobMetrics } from '../state/job-metrics.js';
import { Dependencies } from '../dependencies/dependencies.js';
import type { RequestLinks } from '../dependencies/request-links.js';
import { countSite, WaitingLimits, type Newcomers } from '../limits/waiting-limits.js';
import { BodyHash } from './body-hash.js';
import { GatheredSubmits } from './gathered-submits.js';
import { jobLine, templateLine } from './job-lines.js';
import { LineSpool } from './line-spool.js';
import { Preparation, type PreparedJob } from './preparation.js';
import { SubmitLookup } from './submit-lookup.js';
import { SubmitRate } from './submit-rate.js';
import { SubmitRepository, type IdempotencyKey } from './submit.repository.js';
import { TokenRights, type TokenRight } from './token-rights.js';

/** What a submit will make, checked and waiting in the spool. */
interface Prepared {
  lines: LineSpool;
  count: number;
  /** Of them, by the one site that they name. */
  bySite: ReadonlyMap<string, number>;
  templates: number;
  tokenRights: readonly TokenRight[];
  /** The array that they are to be. */
  array: { name: string | undefined } | undefined;
  links: RequestLinks;
  warnings: ManifestWarning[];
  /** Stands for the body, when an Idempotency-Key asks for it. */
  bodyHash: string;
}

/** With all that belongs to it. */
type ToStore = Prepared & { inputSandbox: string | undefined; key: string | undefined };

/** Turns a job or a template into the line that is kept of it, if any. */
interface LineWriter {
  job(job: PreparedJob): string;
  template?(shared: SharedManifest): string;
}

const TO_STORE: LineWriter = { job: jobLine, template: templateLine };
const TO_SHOW: LineWriter = { job: ({ manifest }) => stringifyJson(manifest) };
/** Jobs of a request, and the text of them, that are written together with those of others. */
const MOST_FEW = 10;
const MOST_FEW_CHARACTERS = 32 * 1024;
const KEY_LIFE_MS = 24 * 3600_000;

/** POST /jobs: reads, checks everything, and then makes all jobs of the request or none. */
@Injectable()
export class SubmitService {
  @Inject() private readonly delegations!: Delegations;
  @Inject() private readonly limits!: WaitingLimits;
  @Inject() private readonly arrays!: ArraysRepository;
  @Inject() private readonly dependencies!: Dependencies;
  @Inject() private readonly gathered!: GatheredSubmits;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly policy: JobPolicy,
    private readonly registry: RegistryService,
    private readonly reader: SubmissionReader,
    private readonly sandboxes: SandboxService,
    private readonly spool: SandboxSpool,
    private readonly repository: SubmitRepository,
    private readonly rate: SubmitRate,
    private readonly lookup: SubmitLookup,
    private readonly metrics: JobMetrics,
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
      const prepared = await this.prepare(principal, submission, { lines, writer: TO_STORE, key });
      const inputSandbox = await this.keepFiles(submission);
      const jobs = { ...prepared, inputSandbox, key };
      const few = await this.fewOf(principal, jobs);
      if (few !== undefined) return await this.storeFew(principal, { ...jobs, few });
      const { answer, isRepeated } = await this.store(principal, jobs);
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
      const prepared = await this.prepare(principal, submission, { lines, writer: TO_SHOW });
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

  private requireOwnProgram(manifest: JsonObject, files: Submission['files']): void {
    const { localPrograms } = this.config;
    if (localPrograms.length === 0 || isOwnProgram(manifest, files, localPrograms)) return;
    throw new Problem('job.forbidden', ONLY_OWN_PROGRAMS);
  }

  private async prepare(
    principal: Principal,
    submission: Submission,
    { lines, writer, key }: { lines: LineSpool; writer: LineWriter; key?: string | undefined },
  ): Promise<Prepared> {
    const registry = await this.registry.current();
    const siteList = registry.sitesOf(principal.setup);
    const context: ManifestContext = {
      user: principal.user,
      dn: principal.dn,
      group: principal.group,
      setup: principal.setup,
      vo: principal.vo,
      sites: new Set(siteList.map((site) => site.name)),
      siteList,
      drained: new Set(siteList.flatMap(({ name }) => (registry.drainOf(name) ? [name] : []))),
      files: submission.files.map((file) => file.name),
      maxInputData: this.config.maxInputData,
    };
    const { maxParametricJobs: maxJobs, maxManifestBytes, maxSubmitBytes } = this.config;
    const tokenRights = new TokenRights(this.delegations, principal);
    const bySite = new Map<string, number>();
    const preparation = new Preparation(
      context,
      { maxJobs, maxManifestBytes, maxSubmitBytes },
      {
        job: (job) => {
          countSite(bySite, job.request.sites);
          return lines.add(writer.job(job));
        },
        template: async (shared) => {
          if (writer.template) await lines.add(writer.template(shared));
        },
        token: (wish) => tokenRights.judge(wish),
      },
    );
    const hash = new BodyHash();
    const { array } = submission;
    for await (const received of submission.manifests) {
      this.requireOwnProgram(received.manifest, submission.files);
      const own = array.read(received);
      if (key !== undefined) hash.add(own.manifest);
      await preparation.add(own);
    }
    const { links } = preparation;
    preparation.fault(await this.dependencies.faultsOf(principal, links));
    preparation.finish();
    array.finish();
    const said = { named: preparation.named, files: submission.files };
    for (const warning of await this.lookup.warningsOf(principal, said, siteList)) {
      preparation.warn(warning);
    }
    const warnings = preparation.allWarnings();
    const bodyHash = hash.digest(submission.files, array.isWanted);
    const { jobs: count, templates } = preparation;
    const wanted = array.isWanted ? { name: array.name } : undefined;
    const prepared = { lines, count, bySite, templates, array: wanted, warnings, bodyHash, links };
    // With a key it may be the repetition of what was taken before: that is known later.
    if (key === undefined) await this.limits.require(newcomers(principal, prepared));
    return { ...prepared, tokenRights: tokenRights.all };
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

  /** The lines of jobs that can be written together with those of other requests: they are few and all that there is to write. */
  private async fewOf(principal: Principal, jobs: ToStore): Promise<readonly string[] | undefined> {
    const { key, array, links, templates, tokenRights } = jobs;
    if (key !== undefined || array || !links.isEmpty || templates + tokenRights.length > 0) {
      return undefined;
    }
    if (await this.limits.concern(newcomers(principal, jobs))) return undefined;
    return jobs.lines.few(MOST_FEW, MOST_FEW_CHARACTERS);
  }

  private async storeFew(
    principal: Principal,
    { few, inputSandbox, warnings }: ToStore & { few: readonly string[] },
  ): Promise<SubmitResponse> {
    const { user: owner, dn: ownerDn, group: ownerGroup, vo = '', setup } = principal;
    const jobs = { lines: few, owner, ownerDn, ownerGroup, vo, setup, inputSandbox };
    const jids = await this.gathered.write(jobs);
    this.metrics.added(jids.length);
    return answerOf(jids, warnings);
  }

  private async store(
    principal: Principal,
    jobs: ToStore,
  ): Promise<{ answer: SubmitResponse; isRepeated: boolean }> {
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

function newcomers(
  { user, group }: Principal,
  { count, bySite }: Pick<Prepared, 'count' | 'bySite'>,
): Newcomers {
  return { owner: user, ownerGroup: group, count, bySite };
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
