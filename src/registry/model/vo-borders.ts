import type { Group, Site } from './registry.types.js';

/**
 * Where there are two or more virtual organisations, the groups with NormalUser that are of none: whoever is in one sees what
 * belongs to none and, with another property beside NormalUser, all of them.
 */
export function groupsBesideVos(groups: readonly Group[]): string[] {
  if (!hasSeveralVos(groups)) return [];
  return groups
    .filter(({ vo, properties }) => vo === undefined && properties.has('NormalUser'))
    .map(({ name }) => name);
}

/** Whose a job is, as far as sites ask; `vo` is undefined or '' without a virtual organisation. */
export interface JobOrigin {
  setup: string;
  vo?: string | undefined;
}

/** Does the site run jobs of the setup and the virtual organisation? */
export function runsJobsOf({ setups, vos }: Site, { setup, vo = '' }: JobOrigin): boolean {
  return (setups?.includes(setup) ?? true) && (vos?.includes(vo) ?? true);
}

/** Are there virtual organisations to keep apart? */
export function hasSeveralVos(groups: readonly Group[]): boolean {
  return new Set(groups.flatMap(({ vo }) => vo ?? [])).size > 1;
}
