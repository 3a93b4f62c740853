import { availableParallelism, totalmem } from 'node:os';
import type { JsonObject } from '#src/kernel/index.js';
import { isSiteTag, SITE_TAG_FORM, type Site } from '#src/registry/index.js';
import { TOKEN_TAG, wantsToken } from './job-token.js';
import { MANIFEST_KEYS, type KeyOfKind } from './manifest-keys.js';
import { DATA_TAG, fetchesFiles } from './manifest-places.js';
import { outputWishes } from './output-data.js';
import { Faults, wholeNumber } from './manifest-values.js';

/** What a job needs of a site. Memory in MB of 2^20 bytes, as Slurm counts. */
export interface JobResources {
  /** `NumberOfProcessors`, else `MinNumberOfProcessors`, else 1. */
  processors: number;
  /** It is not started where less is free. */
  minRamMB?: number;
  /** It is ended when it takes more. */
  maxRamMB?: number;
  /** It is ended when it has run for so long. */
  wallTimeSeconds?: number;
  /** Each once, in the order of the manifest; at the end those of NATURAL_TAGS, for a job with a token, or with files that are brought. */
  tags: string[];
  gpus: number;
}

/** What of a machine counts where a site declares nothing. */
export interface Machine {
  processors: number;
  ramMB: number;
}

const NATURAL_TAGS: ReadonlySet<string> = new Set([TOKEN_TAG, DATA_TAG]);
const MAX_TAGS = MANIFEST_KEYS.Tags.most;
const MIB = 1024 * 1024;

/** Processors and memory of the machine that this instance runs on. */
const THIS_MACHINE: Machine = {
  processors: availableParallelism(),
  ramMB: Math.floor(totalmem() / MIB),
};

/** Reads the resource keys of a manifest. Notes wrong types, impossible values and contradictions. */
export function readResources(manifest: JsonObject, faults: Faults): JobResources {
  const number = (key: KeyOfKind<'integer'>): number | undefined =>
    wholeNumber(manifest, key, faults);
  const processors = number('NumberOfProcessors');
  const least = number('MinNumberOfProcessors');
  const most = number('MaxNumberOfProcessors');
  if (isLess(most, least)) {
    faults.add('MaxNumberOfProcessors', 'is less than MinNumberOfProcessors');
  }
  const minRamMB = number('MinRAM');
  const maxRamMB = number('MaxRAM');
  if (isLess(maxRamMB, minRamMB)) faults.add('MaxRAM', 'is less than MinRAM');
  const wallTimeSeconds = number('WallTime');
  return {
    processors: processors ?? least ?? 1,
    ...(minRamMB !== undefined && { minRamMB }),
    ...(maxRamMB !== undefined && { maxRamMB }),
    ...(wallTimeSeconds !== undefined && { wallTimeSeconds }),
    tags: [
      ...readTags(manifest, faults),
      ...(wantsToken(manifest) ? [TOKEN_TAG] : []),
      ...(fetchesFiles(manifest) || outputWishes(manifest).length > 0 ? [DATA_TAG] : []),
    ],
    gpus: number('GPUs') ?? 0,
  };
}

/** The resources of a manifest that was checked when it was submitted; what an older release let pass is left out. */
export function resourcesOf(manifest: JsonObject): JobResources {
  return readResources(manifest, new Faults());
}

/**
 * Why the site could not hold the job even if nothing else ran there; undefined when it could. What a local site does
 * not declare is the machine's; of a batch system it is not known and taken as enough.
 */
export function lackOf(
  site: Site,
  wanted: JobResources,
  machine: Machine = THIS_MACHINE,
): string | undefined {
  const own = site.backend === 'local-process' ? machine : undefined;
  const processors = site.processors ?? own?.processors ?? Infinity;
  if (wanted.processors > processors) return `It has ${processors} processors`;
  const ramMB = site.ramMB ?? own?.ramMB ?? Infinity;
  if ((wanted.minRamMB ?? 0) > ramMB) return `It has ${ramMB} MB of memory`;
  const gpus = site.gpus ?? 0;
  if (wanted.gpus > gpus) return `It has ${gpus} GPUs`;
  const { tags = [] } = site;
  if (site.backend === 'slurm' && wanted.tags.includes(TOKEN_TAG)) return 'It gives jobs no tokens';
  if (site.backend === 'slurm' && wanted.tags.includes(DATA_TAG)) {
    return 'It brings no files of the catalogue to jobs';
  }
  const missing = missingTags(wanted.tags, tags);
  if (missing.length > 0) return `It does not have ${missing.join(', ')}`;
  const limit = site.maxWallTime ?? Infinity;
  if ((wanted.wallTimeSeconds ?? 0) > limit) return `Jobs may run for ${limit} s there`;
  return undefined;
}

/** Those of the tags that are not among these; what a site or a machine has by its nature is never missing. */
export function missingTags(tags: readonly string[], present: readonly string[]): string[] {
  return tags.filter((tag) => !NATURAL_TAGS.has(tag) && !present.includes(tag));
}

function readTags(manifest: JsonObject, faults: Faults): string[] {
  const tags = faults.texts(manifest, 'Tags').map((tag) => tag.trim());
  if (tags.length > MAX_TAGS) {
    faults.add('Tags', `has ${tags.length} elements, at most ${MAX_TAGS} are allowed`);
    return [];
  }
  for (const tag of tags) if (!isSiteTag(tag)) faults.add('Tags', `${tag}: ${SITE_TAG_FORM}`);
  return [...new Set(tags)].filter(isSiteTag);
}

function isLess(left: number | undefined, right: number | undefined): boolean {
  return left !== undefined && right !== undefined && left < right;
}
