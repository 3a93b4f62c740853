import type { RegistrySnapshot } from '#src/registry/index.js';

/**
 * The groups that count in figures which end at a border, as `JobPolicy.borderOf` says it; undefined: all. A group that the
 * registry does not know any more is on no side of a border.
 */
export function countedGroups(
  registry: RegistrySnapshot,
  border: string | undefined,
): ReadonlySet<string> | undefined {
  if (border === undefined) return undefined;
  const groups = registry.groups().filter(({ vo = '' }) => vo === border);
  return new Set(groups.map(({ name }) => name));
}
