import { stringifyJson } from '#src/kernel/index.js';
import { MANIFEST_KEYS } from '../manifest/manifest-keys.js';
import type { SharedManifest } from '../manifest/stored-manifest.js';
import type { Step } from '../state/jobs.repository.js';
import { admissionSteps } from '../state/admission.js';
import { shownSite } from '../state/job.js';
import type { PreparedJob } from './preparation.js';

/** Mark of the line of a template; every other line is a job. */
const TEMPLATE = 'T';

/** What the line of a job says: columns of `jobs` of the same names, and their types. */
export const JOB_COLUMNS = {
  job_group: 'text',
  job_type: 'text',
  site: 'text',
  priority: 'integer',
  cpu_time: 'integer',
  wanted_sites: 'text[]',
  banned_sites: 'text[]',
  processors: 'integer',
  min_ram_mb: 'integer',
  max_ram_mb: 'integer',
  gpus: 'integer',
  tags: 'text[]',
  wall_time: 'integer',
} as const;

/** All members of such a line. */
export const LINE_MEMBERS = {
  name: 'text',
  ...JOB_COLUMNS,
  status: 'text',
  minor: 'text',
  has_input: 'boolean',
  held_by: 'text',
  manifest: 'json',
  place_values: 'json',
  template: 'integer',
  token_right: 'text',
} as const;

/** What a job has of which its line says nothing: most of them do. Lists are empty then. */
export const USUAL = {
  priority: MANIFEST_KEYS.Priority.fallback,
  cpu_time: MANIFEST_KEYS.CPUTime.fallback,
  processors: 1,
  min_ram_mb: 0,
  max_ram_mb: 0,
  gpus: 0,
  has_input: false,
} as const;

const unusual = (key: keyof typeof USUAL, value: number | boolean): number | boolean | undefined =>
  value === USUAL[key] ? undefined : value;
const named = (list: readonly string[]): readonly string[] | undefined =>
  list.length > 0 ? list : undefined;

/** A job as one line of JSON: what the statement that adds it reads as a record. */
export function jobLine({ request, manifest, template, tokenRight }: PreparedJob): string {
  const { resources } = request;
  const hasInput = request.inputData.length > 0;
  const heldBy = request.hold ? 'owner' : request.after && 'jobs';
  const steps: Step[] = admissionSteps(hasInput, heldBy);
  const last = steps[steps.length - 1] as Step;
  const shown = manifest['JobName'];
  const line: Record<keyof typeof LINE_MEMBERS, unknown> = {
    name: typeof shown === 'string' ? shown : request.name,
    job_group: request.jobGroup,
    job_type: request.jobType,
    site: shownSite(request.sites),
    priority: unusual('priority', request.priority),
    cpu_time: unusual('cpu_time', request.cpuTime),
    wanted_sites: named(request.sites),
    banned_sites: named(request.bannedSites),
    processors: unusual('processors', resources.processors),
    min_ram_mb: unusual('min_ram_mb', resources.minRamMB ?? 0),
    max_ram_mb: unusual('max_ram_mb', resources.maxRamMB ?? 0),
    gpus: unusual('gpus', resources.gpus),
    tags: named(resources.tags),
    wall_time: resources.wallTimeSeconds,
    status: last.to,
    minor: last.minor,
    has_input: unusual('has_input', hasInput),
    held_by: heldBy,
    manifest: template ? template.own : manifest,
    place_values: template?.values,
    template: template?.number,
    token_right: tokenRight,
  };
  return stringifyJson(line);
}

/** What jobs have in common as one line, in front of them. */
export function templateLine({ template, added }: SharedManifest): string {
  return `${TEMPLATE}${stringifyJson({ manifest: template, added })}`;
}

/** The JSON text of a template's line; undefined for the line of a job. */
export function templateOf(line: string): string | undefined {
  return line.startsWith(TEMPLATE) ? line.slice(TEMPLATE.length) : undefined;
}
