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

/** Properties of groups that this service knows (contract 3). */
export type Property =
  | 'NormalUser'
  | 'JobSharing'
  | 'JobMonitor'
  | 'JobAdministrator'
  | 'ServiceAdministrator'
  | 'FileCatalogManagement';

/** On whose behalf a request acts: what the access token and the registry say of its bearer. */
export interface Principal {
  /** User name in the registry. */
  readonly user: string;
  /** Canonical DN of the user, '' when the user has no certificate. */
  readonly dn: string;
  /** Group of the token. */
  readonly group: string;
  /** Setup of the token. */
  readonly setup: string;
  /** Virtual organisation of the group, when it has one. */
  readonly vo?: string;
  /** Properties of the group. */
  readonly properties: ReadonlySet<Property>;
  /** Scopes of the token, narrowed to what the group allows now. */
  readonly scopes: ReadonlySet<Scope>;
  /** Application that got the token; `certificate` for the certificate flow. */
  readonly clientId: string;
  /** All groups of the user (POSIX checks use the token's group first). */
  readonly userGroups: readonly string[];
}
