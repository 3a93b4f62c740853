import type { Group, Property } from '#src/registry/index.js';

/** Scopes of access tokens (contract 4). */
export const SCOPES = [
  'jobs:read',
  'jobs:submit',
  'jobs:kill',
  'catalogue:read',
  'catalogue:write',
] as const;

/** One of the scopes of access tokens. */
export type Scope = (typeof SCOPES)[number];

const SCOPES_OF: Partial<Record<Property, readonly Scope[]>> = {
  NormalUser: ['jobs:read', 'jobs:submit', 'jobs:kill', 'catalogue:read', 'catalogue:write'],
  JobMonitor: ['jobs:read', 'catalogue:read'],
  JobAdministrator: ['jobs:read', 'jobs:kill', 'catalogue:read'],
  FileCatalogManagement: ['catalogue:read', 'catalogue:write'],
};

/** Scopes that the properties of a group allow (contract 10), in the order of SCOPES. */
export function scopesOf(properties: ReadonlySet<Property>): Scope[] {
  // Stryker disable next-line ArrayDeclaration: what is no scope is not among SCOPES
  const allowed = new Set([...properties].flatMap((property) => SCOPES_OF[property] ?? []));
  return SCOPES.filter((scope) => allowed.has(scope));
}

/**
 * Scopes of a token: all that the group allows, narrowed to the asked ones (words separated by blanks) when there
 * are any. Empty when nothing is left.
 */
export function narrowScopes(group: Group, asked: string | undefined): Scope[] {
  const allowed = scopesOf(group.properties);
  const words = (asked ?? '').split(' ').filter((word) => word !== '');
  if (words.length === 0) return allowed;
  return allowed.filter((scope) => words.includes(scope));
}

/** The known ones among the words of a scope parameter; undefined when it is absent. */
export function knownScopes(asked: string | undefined): Scope[] | undefined {
  if (asked === undefined) return undefined;
  const words = asked.split(' ');
  return SCOPES.filter((scope) => words.includes(scope));
}
