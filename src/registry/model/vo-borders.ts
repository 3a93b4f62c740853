import type { Group } from './registry.types.js';

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

/** Are there virtual organisations to keep apart? */
export function hasSeveralVos(groups: readonly Group[]): boolean {
  return new Set(groups.flatMap(({ vo }) => vo ?? [])).size > 1;
}
