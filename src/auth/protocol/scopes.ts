import type { Property } from '#src/registry/index.js';

/** Scopes of access tokens (contract 4). */
export const SCOPES = [
  'jobs:read',
  'jobs:submit',
  'jobs:kill',
  'catalogue:read',
  'catalogue:write',
  'webhooks',
  'admin',
] as const;

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
  ServiceAdministrator: ['admin'],
};

/** Scopes that the properties of a group allow (contract 10), in the order of SCOPES. */
export function scopesOf(properties: ReadonlySet<Property>): Scope[] {
  // Stryker disable next-line ArrayDeclaration: what is no scope is not among SCOPES
  const allowed = new Set([...properties].flatMap((property) => SCOPES_OF[property] ?? []));
  return SCOPES.filter((scope) => allowed.has(scope));
}

/** Those that a token gets when no scope is asked for: `admin` is given by name only. */
export function defaultScopesOf(properties: ReadonlySet<Property>): Scope[] {
  return scopesOf(properties).filter((scope) => scope !== 'admin');
}
