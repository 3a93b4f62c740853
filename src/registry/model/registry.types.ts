import type { JsonObject } from '#src/kernel/index.js';
import type { GroupLimits, JobLimits, SiteLimits } from './limits.js';
import type { Property } from './property.js';
import type { SiteConnection } from './site-connection.js';
import type { StorageElement } from './storage-element.js';

/** A user at an external identity provider. */
export interface Subject {
  readonly issuer: string;
  readonly sub: string;
}

/** A certificate that a user has. */
export interface UserCertificate {
  /** Canonical DN. */
  readonly subject: string;
  /** Canonical DN of the trusted CA that must have signed it; absent: any trusted CA. */
  readonly issuer?: string;
}

/** A person (or robot) who may use the service. */
export interface User {
  readonly name: string;
  /**
   * The subject of tokens: opaque, printable ASCII, for life and never another's. Absent only in what was not
   * stored yet: then one is made.
   */
  readonly sub?: string;
  /** For people; applications may be told. */
  readonly fullName?: string;
  /** E-mail address; applications may be told. */
  readonly email?: string;
  /** The subject of the first one is shown as the user's DN. */
  readonly certificates: readonly UserCertificate[];
  readonly subjects: readonly Subject[];
  /** Of the jobs that the user owns, in all groups and setups together. */
  readonly limits?: JobLimits;
  /** No token is good, whatever groups list the user. In a file `false` enables; otherwise who is not disabled has no such member. */
  readonly disabled?: boolean;
}

/** Members who share rights; every token is for one group. */
export interface Group {
  readonly name: string;
  /** Virtual organisation. */
  readonly vo?: string;
  readonly properties: ReadonlySet<Property>;
  /** User names in the order of the registry. */
  readonly members: readonly string[];
  /** Scopes that an identity provider gives to this group's members. */
  readonly idpScopes: readonly string[];
  /** Role at the identity provider that stands for this group. */
  readonly idpRole?: string;
  /** Of jobs in the group, in all setups together. */
  readonly limits?: GroupLimits;
}

/** A user in a group. */
export interface Member {
  readonly user: string;
  readonly group: string;
}

/** A named installation within the service; jobs never cross setups. */
export interface Setup {
  readonly name: string;
  /** Groups that may use it; absent: every group. */
  readonly groups?: readonly string[];
}

/** What may run the jobs of a site. */
export const SITE_BACKENDS = ['local-process', 'slurm', 'worker'] as const;

/** Those whose jobs run, or wait to be started, without any instance of the service. */
export const BATCH_BACKENDS: readonly string[] = ['slurm'] satisfies SiteBackend[];

/** What runs the jobs of a site. */
export type SiteBackend = (typeof SITE_BACKENDS)[number];

/** What the jobs of a local site may reach: nothing, not even loopback, or what the machine reaches. */
export type SiteNetwork = 'none' | 'host';

/** A compute backend. */
export interface Site {
  readonly name: string;
  readonly backend: SiteBackend;
  /** Settings of the backend. */
  readonly options: Readonly<JsonObject>;
  /** Setups whose jobs it runs; absent: all. */
  readonly setups?: readonly string[];
  /** Virtual organisations whose jobs it runs; absent: all, and those of none. */
  readonly vos?: readonly string[];
  /** Jobs at once; absent: the backend's own default. */
  readonly slots?: number;
  /** Processors for all of its jobs together; absent: those of the machine (`local-process`), else not known. */
  readonly processors?: number;
  /** Memory in MB (2^20 bytes) for all of its jobs together; absent: as with `processors`. */
  readonly ramMB?: number;
  /** GPUs for all of its jobs together; absent: none. */
  readonly gpus?: number;
  /** What jobs may ask for by name; absent: nothing. */
  readonly tags?: readonly string[];
  /** Seconds that a job may run; absent: no limit of the site's own. */
  readonly maxWallTime?: number;
  /** Absent: `none`. A batch system has a network of its own, of which this says nothing. */
  readonly network?: SiteNetwork;
  readonly limits?: SiteLimits;
  /** Its own cluster; absent: the one of the settings. */
  readonly connection?: SiteConnection;
}

/** Why a site is given no new jobs. */
export interface Drain {
  /** When it was drained, ISO 8601. */
  readonly since: string;
  /** Who drained it. */
  readonly by: string;
  /** Empty when none was said. */
  readonly reason: string;
}

/** What a group is due of the processors, beside other groups. */
export interface Share {
  /** The group's name. */
  readonly name: string;
  /** A group of weight 2 is due twice what one of weight 1 is. */
  readonly weight: number;
}

/** The weight of groups that the registry says no share of. */
export const DEFAULT_WEIGHT = 1;

/** Who keeps an application: a loaded file (a later load may remove it) or `gridgate client`. */
export type ClientOrigin = 'file' | 'command';

/** What is demanded of an application. */
export const CLIENT_PROFILES = ['interface', 'oauth2.1', 'fapi2'] as const;

/** What is demanded of an application. */
export type ClientProfile = (typeof CLIENT_PROFILES)[number];

/** How an application proves itself without a secret (OpenID Connect Core §9, RFC 8705 §2). */
export const KEY_AUTHENTICATIONS = [
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
] as const;

/** How an application proves itself without a secret. */
export type KeyAuthentication = (typeof KEY_AUTHENTICATIONS)[number];

/** Signature algorithms of ID tokens that an application may ask for in place of that of GRID_SIGNING_ALG. */
export const ID_TOKEN_ALGORITHMS = ['RS256'] as const;

/** A program that acts on behalf of users. */
export interface Client {
  /** The OAuth client_id. */
  readonly id: string;
  /** Shown to the user who is asked for consent. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Where its users may be sent once they have signed out; absent: nowhere. */
  readonly postLogoutRedirectUris?: readonly string[];
  readonly confidential: boolean;
  /** SHA-256 of the secret, base64url; only of confidential applications. */
  readonly secretHash?: string;
  /** Services for which it may ask for tokens beside this one, `*` for every one; absent: none. */
  readonly audiences?: readonly string[];
  /** How a confidential application proves itself; absent: by its secret. */
  readonly authentication?: KeyAuthentication;
  /** Its public keys or certificates (RFC 7517), for `private_key_jwt` and `self_signed_tls_client_auth`. */
  readonly jwks?: Readonly<JsonObject>;
  /** Canonical DN of its certificate, for `tls_client_auth`. */
  readonly subjectDn?: string;
  /** Absent: `interface`. */
  readonly profile?: ClientProfile;
  /** `id_token_signed_response_alg` of RFC 7591; absent: that of GRID_SIGNING_ALG. */
  readonly idTokenAlg?: (typeof ID_TOKEN_ALGORITHMS)[number];
  /** Scopes of the tokens that it may have for itself; absent: it may have none. */
  readonly scopes?: readonly string[];
  /** Group whose rights bound those tokens. */
  readonly group?: string;
  readonly origin: ClientOrigin;
}

/** Everything the registry knows, in the order of the file. */
export interface RegistryContents {
  readonly users: readonly User[];
  readonly groups: readonly Group[];
  readonly setups: readonly Setup[];
  readonly applications: readonly Client[];
  readonly storageElements: readonly StorageElement[];
  readonly sites: readonly Site[];
  readonly shares: readonly Share[];
}

/** Name of a section of the registry, as the YAML file spells it. */
export type RegistrySection = keyof RegistryContents;
