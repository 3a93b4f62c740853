import { columnsOf } from '#src/database/index.js';
import { runsJobsOf, type Site } from '#src/registry/index.js';
import { allowedSites } from '../manifest/manifest.js';
import { lackOf, type JobResources } from '../manifest/resources.js';
import { JobEntity } from '../state/job.entity.js';

const WISH_PROPERTIES = [
  'setup',
  'vo',
  'wantedSites',
  'bannedSites',
  'processors',
  'minRamMb',
  'maxRamMb',
  'gpus',
  'tags',
  'wallTime',
] as const;

/** The columns of a job that say where it may run and what of a site it takes. */
export type Wishes = Pick<JobEntity, (typeof WISH_PROPERTIES)[number]>;

/** The same, for statements on `jobs j`. */
export const WISH_COLUMNS = columnsOf(JobEntity, { alias: 'j', only: WISH_PROPERTIES });

/** What a job needs, as its columns say it. */
function resourcesOfWishes(wishes: Wishes): JobResources {
  return {
    processors: wishes.processors,
    ...(wishes.minRamMb > 0 && { minRamMB: wishes.minRamMb }),
    ...(wishes.maxRamMb > 0 && { maxRamMB: wishes.maxRamMb }),
    ...(wishes.wallTime !== null && { wallTimeSeconds: wishes.wallTime }),
    tags: wishes.tags,
    gpus: wishes.gpus,
  };
}

/** The sites that may run such a job, with what each lacks for it; undefined when it could hold it. */
export function lacksOf(wishes: Wishes, sites: readonly Site[]): [Site, string | undefined][] {
  const { wantedSites, bannedSites } = wishes;
  const resources = resourcesOfWishes(wishes);
  const allowed = allowedSites({ sites: wantedSites, bannedSites }, sites);
  return allowed
    .filter((site) => runsJobsOf(site, wishes))
    .map((site) => [site, lackOf(site, resources)]);
}

/** The sites that could hold such a job if nothing else ran there. */
export function holdersOf(wishes: Wishes, sites: readonly Site[]): Site[] {
  return lacksOf(wishes, sites).flatMap(([site, lack]) => (lack === undefined ? [site] : []));
}

/** The same for jobs that the same sites can hold. */
export function keyOf(wishes: Wishes): string {
  const { setup, vo, wantedSites, bannedSites, processors, minRamMb, gpus, tags, wallTime } =
    wishes;
  return JSON.stringify([
    setup,
    vo,
    wantedSites,
    bannedSites,
    processors,
    minRamMb,
    gpus,
    tags,
    wallTime,
  ]);
}
