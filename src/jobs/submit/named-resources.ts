import { cataloguePath, LFN } from '../manifest/manifest-places.js';
import { environmentOf } from '../manifest/execution-environment.js';
import type { JobRequest } from '../manifest/manifest.js';
import { pointerTo, type ManifestWarning } from '../manifest/manifest-warning.js';
import { executableOf, uploadedProgram } from '../run/run-plan.js';

/** A warning about the manifest of that number, from 0. */
export type PlacedWarning = ManifestWarning & { place: number };

/** A program, and what decides where it is looked for. */
export interface NamedProgram {
  name: string;
  /** It is an uploaded file of that name. */
  isUploaded: boolean;
  /** It was uploaded, and the job has a PATH of its own. */
  hasPath: boolean;
  wanted: Pick<JobRequest, 'sites' | 'bannedSites' | 'resources'>;
  /** Numbers of the manifests that name it. */
  places: number[];
}

/** Where a manifest names an input file. */
interface Mention {
  place: number;
  pointer: string;
  /** The file is to be brought to the job. */
  isFetched: boolean;
}

const MAX_PROGRAMS = 100;
const MAX_FILES = 500;

/**
 * Programs and input files that the manifests of one request name, each once: they are looked for together when all
 * manifests have been read. What is more than can be looked for is left out.
 */
export class NamedResources {
  private readonly byKey = new Map<string, NamedProgram>();
  /** Catalogue path → where it is named. */
  readonly files = new Map<string, Mention[]>();

  /** `maxPlaces`: so many manifests are remembered for each thing. */
  constructor(private readonly maxPlaces: number) {}

  get programs(): Iterable<NamedProgram> {
    return this.byKey.values();
  }

  /** Takes what a job names; the jobs of one manifest come one after the other. */
  note(job: JobRequest, place: number): void {
    this.noteProgram(job, place);
    if (job.inputData.length > 0) {
      this.noteFiles(job, place, 'InputData', job.manifest['InputDataPolicy'] === 'download');
    }
    this.noteFiles(job, place, 'InputSandbox', true);
  }

  private noteProgram(job: JobRequest, place: number): void {
    const { sites, bannedSites, resources } = job;
    const uploaded = uploadedProgram(job);
    const [name, isUploaded] = [uploaded ?? executableOf(job), uploaded !== undefined];
    const hasPath = isUploaded && hasOwnPath(job);
    const key = JSON.stringify([name, isUploaded, hasPath, sites, bannedSites, resources]);
    const known = this.byKey.get(key);
    if (!known) {
      if (this.byKey.size >= MAX_PROGRAMS) return;
      const wanted = { sites, bannedSites, resources };
      this.byKey.set(key, { name, isUploaded, hasPath, wanted, places: [place] });
    } else if (known.places.at(-1) !== place && known.places.length < this.maxPlaces) {
      known.places.push(place);
    }
  }

  private noteFiles(
    { manifest }: JobRequest,
    place: number,
    key: 'InputData' | 'InputSandbox',
    isFetched: boolean,
  ): void {
    const value = manifest[key] ?? [];
    const texts = (Array.isArray(value) ? value : [value]) as string[];
    texts.forEach((text, index) => {
      const path = cataloguePath(text);
      if (path === '' || (key === 'InputSandbox' && !LFN.test(text))) return;
      const mentions = this.files.get(path);
      if (!mentions && this.files.size >= MAX_FILES) return;
      if (mentions && (mentions.at(-1)?.place === place || mentions.length >= this.maxPlaces)) {
        return;
      }
      const pointer = pointerTo(key, ...(Array.isArray(value) ? [index] : []));
      const mention = { place, pointer, isFetched };
      if (mentions) mentions.push(mention);
      else this.files.set(path, [mention]);
    });
  }
}

function hasOwnPath({ manifest }: JobRequest): boolean {
  return environmentOf(manifest['ExecutionEnvironment'] ?? {})?.['PATH'] !== undefined;
}
