import type { Property } from '#src/registry/index.js';

/** Scopes of access tokens. */
export const SCOPES = [
  'jobs:read',
  'jobs:submit',
  'jobs:kill',
  'catalogue:read',
  'catalogue:write',
  'webhooks',
] as const;

/**
 * The scope of administration. It is none of SCOPES: no property gives it by itself, it is granted only where it is asked for by
 * name (docs/design/auth.md).
 */
export const ADMIN_SCOPE = 'admin';

/** One of the scopes of access tokens. */
export type Scope = (typeof SCOPES)[number];

const SCOPES_OF: Partial<Record<Property, readonly Scope[]>> = {
  NormalUser: [
    'jobs:read',
    'jobs:submit',
    'jobs:kill',
    'catalogue:read',
    'catalogue:write',
    'webhooks',
  ],
  JobMonitor: ['jobs:read', 'catalogue:read', 'webhooks'],
  JobAdministrator: ['jobs:read', 'jobs:kill', 'catalogue:read', 'webhooks'],
  FileCatalogManagement: ['catalogue:read', 'catalogue:write', 'webhooks'],
};

/** Scopes that the properties of a group allow, in the order of SCOPES. */
export function scopesOf(properties: ReadonlySet<Property>): Scope[] {
  // Stryker disable next-line ArrayDeclaration: what is no scope is not among SCOPES
  const allowed = new Set([...properties].flatMap((property) => SCOPES_OF[property] ?? []));
  return SCOPES.filter((scope) => allowed.has(scope));
}
