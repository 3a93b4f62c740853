import { stringifyJson } from '#src/kernel/index.js';
import type { SharedManifest } from '../manifest/stored-manifest.js';
import type { Step } from '../state/jobs.repository.js';
import { admissionSteps } from '../state/admission.js';
import { shownSite } from '../state/job.js';
import type { PreparedJob } from './preparation.js';

/** Mark of the line of a template; every other line is a job. */
const TEMPLATE = 'T';

/** A job as one line of JSON: what the statement that adds it reads as a record. */
export function jobLine({ request, manifest, template, tokenRight }: PreparedJob): string {
  const { resources } = request;
  const hasInput = request.inputData.length > 0;
  const steps: Step[] = admissionSteps(hasInput, request.after !== undefined);
  const last = steps[steps.length - 1] as Step;
  const shown = manifest['JobName'];
  return stringifyJson({
    name: typeof shown === 'string' ? shown : request.name,
    job_group: request.jobGroup,
    job_type: request.jobType,
    site: shownSite(request.sites),
    priority: request.priority,
    cpu_time: request.cpuTime,
    wanted_sites: request.sites,
    banned_sites: request.bannedSites,
    processors: resources.processors,
    min_ram_mb: resources.minRamMB ?? 0,
    max_ram_mb: resources.maxRamMB ?? 0,
    gpus: resources.gpus,
    tags: resources.tags,
    wall_time: resources.wallTimeSeconds ?? null,
    status: last.to,
    minor: last.minor,
    has_input: hasInput,
    waits: request.after !== undefined,
    manifest: template ? template.own : manifest,
    place_values: template?.values,
    template: template?.number,
    token_right: tokenRight,
  });
}

/** What jobs have in common as one line, in front of them. */
export function templateLine({ template, added }: SharedManifest): string {
  return `${TEMPLATE}${stringifyJson({ manifest: template, added })}`;
}

/** The JSON text of a template's line; undefined for the line of a job. */
export function templateOf(line: string): string | undefined {
  return line.startsWith(TEMPLATE) ? line.slice(TEMPLATE.length) : undefined;
}
