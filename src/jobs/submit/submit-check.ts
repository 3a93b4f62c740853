import { Inject, Injectable } from '@nestjs/common';
import { Problem, type JsonObject } from '#src/kernel/index.js';
import { Delegations, requireFiles, type Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { RegistryService, takesFilesOf, type RegistrySnapshot } from '#src/registry/index.js';
import { Dependencies } from '../dependencies/dependencies.js';
import type { RequestLinks } from '../dependencies/request-links.js';
import { countSite, WaitingLimits, type Newcomers } from '../limits/waiting-limits.js';
import type { ManifestContext } from '../manifest/manifest.js';
import type { ManifestWarning } from '../manifest/manifest-warning.js';
import { fetchedPaths, fetchesFiles } from '../manifest/manifest-places.js';
import { outputDirectory, outputWishes, targetOf } from '../manifest/output-data.js';
import { isOwnProgram, ONLY_OWN_PROGRAMS } from '../manifest/own-programs.js';
import type { SharedManifest } from '../manifest/stored-manifest.js';
import { BodyHash } from './body-hash.js';
import type { LineSpool } from './line-spool.js';
import { Preparation, type PreparedJob } from './preparation.js';
import type { Submission } from './submission.js';
import { SubmitLookup } from './submit-lookup.js';
import { TokenRights, type TokenRight } from './token-rights.js';

/** What a submit will make, checked and waiting in the spool. */
export interface Prepared {
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

/** Turns a job or a template into the line that is kept of it, if any. */
export interface LineWriter {
  job(job: PreparedJob): string;
  template?(shared: SharedManifest): string;
}

/** Checks all jobs of a submit, and has the lines of them written. */
@Injectable()
export class SubmitCheck {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly registry: RegistryService,
    private readonly delegations: Delegations,
    private readonly dependencies: Dependencies,
    private readonly limits: WaitingLimits,
    private readonly lookup: SubmitLookup,
  ) {}

  /** Throws Problem 400 with every fault of the manifests, 403, 413. */
  async prepare(
    principal: Principal,
    submission: Submission,
    { lines, writer, key }: { lines: LineSpool; writer: LineWriter; key?: string | undefined },
  ): Promise<Prepared> {
    const registry = await this.registry.current();
    const context = this.contextOf(principal, registry, submission);
    const { siteList } = context;
    const { maxParametricJobs: maxJobs, maxManifestBytes, maxSubmitBytes } = this.config;
    const tokenRights = new TokenRights(this.delegations, principal);
    const bySite = new Map<string, number>();
    const preparation = new Preparation(
      context,
      { maxJobs, maxManifestBytes, maxSubmitBytes },
      {
        job: (job) => {
          requireData(principal, job.manifest);
          countSite(bySite, job.request.sites, context.sites);
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

  /** What the rules of the manifests depend on. */
  private contextOf(
    principal: Principal,
    registry: RegistrySnapshot,
    submission: Submission,
  ): ManifestContext {
    const siteList = registry.sitesOf(principal);
    return {
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
      storageElements: new Set(
        registry
          .storageElements()
          .filter((element) => takesFilesOf(element, principal.vo))
          .map(({ name }) => name),
      ),
    };
  }

  private requireOwnProgram(manifest: JsonObject, files: Submission['files']): void {
    const { localPrograms } = this.config;
    if (localPrograms.length === 0 || isOwnProgram(manifest, files, localPrograms)) return;
    throw new Problem('job.forbidden', ONLY_OWN_PROGRAMS);
  }
}

/** Files that are brought to a job, and those that it stores, are within the token that submits it. */
function requireData(principal: Principal, manifest: JsonObject): void {
  if (fetchesFiles(manifest)) {
    const { sandbox, inputData } = fetchedPaths(manifest);
    requireFiles(principal, 'read', [...sandbox, ...inputData]);
  }
  const wishes = outputWishes(manifest);
  if (wishes.length === 0) return;
  const directory = outputDirectory(manifest, 0) ?? '';
  const targets = wishes.map((wish) => targetOf(directory, wish, wish.name));
  requireFiles(principal, 'create', targets);
}

/** As the limits of waiting jobs count them. */
export function newcomers(
  { user, group }: Principal,
  { count, bySite }: Pick<Prepared, 'count' | 'bySite'>,
): Newcomers {
  return { owner: user, ownerGroup: group, count, bySite };
}
