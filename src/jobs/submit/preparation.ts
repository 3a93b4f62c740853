import { Problem, Slices, stringifyJson } from '#src/kernel/index.js';
import type { JsonObject, Violation } from '#src/kernel/index.js';
import { readManifest, type JobRequest, type ManifestContext } from '../manifest/manifest.js';
import { pointerTo, type ManifestWarning } from '../manifest/manifest-warning.js';
import { fixedTarget } from '../manifest/output-data.js';
import { brokenValue, fillTemplate, isParametric, readTemplate } from '../manifest/parametric.js';
import type { ManifestTemplate, PlaceValues } from '../manifest/parametric.js';
import { SharedManifest } from '../manifest/stored-manifest.js';
import { RequestLinks, type PlacedViolation } from '../dependencies/request-links.js';
import { NamedResources, type PlacedWarning } from './named-resources.js';
import type { TokenWish } from '../manifest/job-token.js';
import type { ReceivedManifest } from './manifest-texts.js';
import type { JudgedToken } from './token-rights.js';

/** What is done with what a request will make; nothing of it is kept in memory here. */
export interface PreparationTarget {
  /** A job: `stored` is its manifest or, with a template, what it has for itself. */
  job(job: PreparedJob): Promise<void>;
  /** What the following jobs with `template` have in common. */
  template(shared: SharedManifest): Promise<void>;
  /** Whether a job may have such a token. */
  token(wish: TokenWish): Promise<JudgedToken>;
}

/** A job that was found good. */
export interface PreparedJob {
  request: JobRequest;
  /** With `place-holders` replaced; as it is read later but for the id. */
  manifest: JsonObject;
  /** Id of what its token may be. */
  tokenRight?: string;
  template?: { number: number; own: JsonObject; values: PlaceValues };
}

/** Upper bounds of what one request makes. */
export interface PreparationLimits {
  maxJobs: number;
  maxManifestBytes: number;
  maxSubmitBytes: number;
}

const MAX_VIOLATIONS = 100;
/** Of a job without a token. */
const NONE: JudgedToken = { violations: [], warnings: [] };
const KEPT_WHOLE = 'a list of texts in Arguments keeps values whole';
/** Warnings of one answer. */
const MAX_WARNINGS = 100;

/**
 * Checks the manifests of one request as they arrive and expands the parametric ones. What is made of templates is
 * counted before it is made. After a fault it looks on for further ones but makes nothing.
 */
export class Preparation {
  jobs = 0;
  templates = 0;
  /** What the manifests name and what may not be there. */
  readonly named = new NamedResources(MAX_WARNINGS);
  /** Which of the jobs wait for which. */
  readonly links = new RequestLinks();
  private manifests = 0;
  /** Jobs of the manifests before this one. */
  private before = 0;
  /** The last manifest with a value that is split: it is said once for each. */
  private split = -1;
  /** Where the job before stores its first file, if that does not depend on its id. */
  private storedAt: string | undefined;
  private madeBytes = 0;
  private tooLarge: Problem | undefined;
  private readonly slices = new Slices();
  private readonly violations: (Violation & { place: string })[] = [];
  private readonly warnings = new Map<string, PlacedWarning>();
  private readonly filesBytes: number;

  constructor(
    private readonly context: ManifestContext,
    private readonly limits: PreparationLimits,
    private readonly target: PreparationTarget,
  ) {
    const { files } = context;
    this.filesBytes = files.length === 0 ? 0 : Buffer.byteLength(stringifyJson(files));
  }

  /** Takes the next manifest of the request. */
  async add({ manifest, place }: ReceivedManifest): Promise<void> {
    this.manifests += 1;
    if (this.tooLarge || this.violations.length >= MAX_VIOLATIONS) return;
    if (!isParametric(manifest)) {
      if (this.countMade(this.filesBytes)) await this.addJob(manifest, place);
      return;
    }
    const read = readTemplate(manifest, this.limits.maxJobs - this.jobs);
    if ('violations' in read) this.noteViolations(read.violations, place);
    else if (manifest['Label'] !== undefined) {
      const problem = 'names one job, but the manifest makes several';
      this.noteViolations([{ field: 'Label', problem }], place);
    } else if (!(await this.overflows(read.template, place))) {
      if (await this.countTemplate(read.template)) await this.addTemplate(read.template, place);
    }
  }

  /**
   * To be called at the end. Throws Problem 413 when the request would make too much, 400 with the faults of all
   * manifests (those of one manifest are those of its first faulty job).
   */
  finish(): void {
    if (this.tooLarge) throw this.tooLarge;
    if (this.violations.length === 0) return;
    const isOne = this.manifests === 1;
    throw Problem.invalid(
      this.violations
        .slice(0, MAX_VIOLATIONS)
        .map(({ place, field, ...rest }) => ({ field: isOne ? field : place + field, ...rest })),
    );
  }

  /** What looks like a mistake, at most 100, none twice. */
  allWarnings(): ManifestWarning[] {
    const isOne = this.manifests === 1;
    return [...this.warnings.values()].map(({ place, code, detail, pointer }) => ({
      code,
      detail,
      pointer: isOne ? pointer : `/manifests/${place}${pointer}`,
    }));
  }

  /** Adds a warning, unless there are enough or it is there. */
  warn(warning: PlacedWarning): void {
    if (this.warnings.size >= MAX_WARNINGS) return;
    const { place, code, pointer, detail } = warning;
    const key = JSON.stringify([place, code, pointer, detail]);
    if (!this.warnings.has(key)) this.warnings.set(key, warning);
  }

  private async addTemplate(template: ManifestTemplate, place: string): Promise<void> {
    let shared: SharedManifest | undefined;
    this.warnOfHolders(template);
    this.before = this.jobs;
    for (const values of template.values()) {
      if (this.breaks(template, values, place)) return;
      const filled = fillTemplate(template.manifest, values);
      const read = await this.read(filled, place);
      if (!read) return;
      const { manifest } = read;
      if (template.count === 1) return this.keep(read);
      if (!shared) {
        shared = new SharedManifest(template.manifest, filled, manifest);
        await this.target.template(shared);
        this.templates += 1;
      }
      const own = shared.ownOf(filled, manifest);
      await this.keep({ ...read, template: { number: this.templates, own, values } });
    }
  }

  private warnOfHolders({ unknown, constant, count }: ManifestTemplate): void {
    const place = this.manifests - 1;
    for (const { field, holder } of count > 1 ? constant : []) {
      const step = field.replace('Parameters', 'ParameterStep');
      const detail = `${holder} stands for the same number in all ${count} jobs, as ${step} is 0`;
      this.warn({ code: 'manifest.no-effect', detail, pointer: pointerTo(field), place });
    }
    for (const holder of unknown) {
      const detail = `${holder} stays as it is: there is no Parameters.${holder.slice(2, -2)}`;
      this.warn({ code: 'manifest.no-effect', detail, pointer: '', place });
    }
  }

  /** Notes a value that is no argument as it stands: a fault when it cannot be read (true), else a warning for the first one. */
  private breaks(template: ManifestTemplate, values: PlaceValues, place: string): boolean {
    const { value, hasNoEnd } = brokenValue(template, values) ?? {};
    if (value === undefined) return false;
    const number = this.jobs - this.before;
    if (hasNoEnd) {
      const problem = `has a quote or backslash without its end in the value ${value} (number ${number}, counted from 0)`;
      this.noteViolations([{ field: 'Arguments', problem, instead: KEPT_WHOLE }], place);
      return true;
    }
    const index = this.manifests - 1;
    if (this.split === index) return false;
    this.split = index;
    const detail = `The value ${value} (number ${number}, counted from 0) is split like a shell splits words; ${KEPT_WHOLE}`;
    this.warn({ code: 'manifest.value-split', detail, pointer: '/Arguments', place: index });
    return false;
  }

  private async addJob(manifest: JsonObject, place: string): Promise<void> {
    const read = await this.read(manifest, place);
    if (read) await this.keep(read);
  }

  private async read(raw: JsonObject, place: string): Promise<PreparedJob | undefined> {
    const { job, violations, warnings } = readManifest(raw, this.context);
    const token = job.token && violations.length === 0 ? await this.target.token(job.token) : NONE;
    const faults = [...violations, ...token.violations];
    const index = this.manifests - 1;
    for (const warning of [...warnings, ...token.warnings]) this.warn({ ...warning, place: index });
    this.noteViolations(faults, place);
    if (faults.length > 0) return undefined;
    this.named.note(job, index);
    this.warnOfSharedOutput(job.manifest, index);
    this.links.note(this.jobs, place, job);
    const { manifest } = job;
    return {
      request: job,
      manifest,
      ...(token.right !== undefined && { tokenRight: token.right }),
    };
  }

  /** Nothing is overwritten: of jobs that store a file at one path all but one fail. */
  private warnOfSharedOutput(manifest: JsonObject, place: number): void {
    const target = fixedTarget(manifest);
    const before = this.storedAt;
    this.storedAt = target;
    if (target === undefined || before !== target) return;
    const detail = `Several jobs would store ${target}, which only one can; %j in OutputPath stands for the id of the job`;
    this.warn({ code: 'manifest.output-path-shared', detail, pointer: '/OutputPath', place });
  }

  private async keep(job: PreparedJob): Promise<void> {
    this.jobs += 1;
    if (this.violations.length === 0) await this.target.job(job);
    await this.rest();
  }

  /** Adds faults that were found in the request as a whole. */
  fault(faults: readonly PlacedViolation[]): void {
    for (const { place, ...fault } of faults.slice(0, MAX_VIOLATIONS)) {
      this.noteViolations([fault], place);
    }
  }

  /** Notes the sequences of a template that have no numbers any more; false when there are none such. */
  private async overflows(template: ManifestTemplate, place: string): Promise<boolean> {
    const found: Violation[] = [];
    for (const violation of template.overflows()) {
      if (violation) found.push(violation);
      if (found.length >= MAX_VIOLATIONS) break;
      await this.rest();
    }
    this.noteViolations(found, place);
    return found.length > 0;
  }

  /** Counts what a template would make, value by value; false when it is too much. */
  private async countTemplate(template: ManifestTemplate): Promise<boolean> {
    const { maxManifestBytes } = this.limits;
    for (const values of template.values()) {
      const bytes = template.bytesWith(values);
      if (bytes > maxManifestBytes) {
        return this.refuse(
          `A manifest would be larger than ${maxManifestBytes} bytes`,
          maxManifestBytes,
        );
      }
      if (!this.countMade(bytes + this.filesBytes)) return false;
      await this.rest();
    }
    return true;
  }

  private countMade(bytes: number): boolean {
    const limit = this.limits.maxSubmitBytes;
    this.madeBytes += bytes;
    if (this.madeBytes <= limit) return true;
    return this.refuse(`The request would make more than ${limit} bytes of manifests`, limit);
  }

  private refuse(text: string, limit: number): false {
    this.tooLarge = new Problem('request.too-large', text, { members: { limit } });
    return false;
  }

  private noteViolations(violations: readonly Violation[], place: string): void {
    for (const violation of violations.slice(0, MAX_VIOLATIONS)) {
      this.violations.push({ ...violation, place });
    }
  }

  private async rest(): Promise<void> {
    if (this.slices.isOver) await this.slices.rest();
  }
}
