import type { Site } from '#src/registry/index.js';
import { allowedSites } from '../manifest/manifest.js';
import { lackOf, type JobResources } from '../manifest/resources.js';

/** The columns of a job that say where it may run and what of a site it takes. */
export interface Wishes {
  setup: string;
  wanted_sites: string[];
  banned_sites: string[];
  processors: number;
  min_ram_mb: number;
  max_ram_mb: number;
  gpus: number;
  tags: string[];
  wall_time: number | null;
}

export const WISH_COLUMNS = `j.setup, j.wanted_sites, j.banned_sites, j.processors, j.min_ram_mb, j.max_ram_mb,
  j.gpus, j.tags, j.wall_time`;

/** What a job needs, as its columns say it. */
export function resourcesOfWishes(wishes: Wishes): JobResources {
  return {
    processors: wishes.processors,
    ...(wishes.min_ram_mb > 0 && { minRamMB: wishes.min_ram_mb }),
    ...(wishes.max_ram_mb > 0 && { maxRamMB: wishes.max_ram_mb }),
    ...(wishes.wall_time !== null && { wallTimeSeconds: wishes.wall_time }),
    tags: wishes.tags,
    gpus: wishes.gpus,
  };
}

/** The sites that may run such a job, with what each lacks for it; undefined when it could hold it. */
export function lacksOf(wishes: Wishes, sites: readonly Site[]): [Site, string | undefined][] {
  const { wanted_sites: wanted, banned_sites: bannedSites, setup } = wishes;
  const resources = resourcesOfWishes(wishes);
  const allowed = allowedSites({ sites: wanted, bannedSites }, sites);
  return allowed
    .filter(({ setups }) => setups === undefined || setups.includes(setup))
    .map((site) => [site, lackOf(site, resources)]);
}

/** The sites that could hold such a job if nothing else ran there. */
export function holdersOf(wishes: Wishes, sites: readonly Site[]): Site[] {
  return lacksOf(wishes, sites).flatMap(([site, lack]) => (lack === undefined ? [site] : []));
}

/** The same for jobs that the same sites can hold. */
export function keyOf(wishes: Wishes): string {
  const { wanted_sites: wanted, banned_sites: banned, min_ram_mb: minRamMB } = wishes;
  const { setup, processors, gpus, tags, wall_time: wallTime } = wishes;
  return JSON.stringify([setup, wanted, banned, processors, minRamMB, gpus, tags, wallTime]);
}
