import { isDictionary } from '#src/http-client/index.js';
import {
  ConfigurationError,
  requireFitting,
  type OAuth2ClientOptions,
} from '#src/oauth2-client/index.js';
import { checkAttributes, type ClaimAttributes } from '../claims/claim-parser.js';
import type { GroupLookup, GroupTable, ProviderType, VoTable } from './group-scopes.js';
import { DEFAULT_ALGORITHMS, KeySet, type JsonWebKeySet } from '../verify/key-set.js';
import type { LoginSessionStore } from '../flows/login-sessions.js';

/** Keywords of a provider: its own, those of a session, and any metadata field given statically (RFC 8414 §2). */
export interface ProviderParameters extends OAuth2ClientOptions {
  ProviderName?: string;
  ProviderType?: ProviderType;
  issuer?: string;
  /** Where the metadata are; default below the issuer. */
  server_metadata_url?: string;
  /** Keys to use while none can be fetched. */
  jwks?: JsonWebKeySet;
  /** Metadata fields that win over fetched ones. */
  overrides?: Record<string, unknown>;
  /** Audience that access tokens must have; not checked when absent. */
  audience?: string | readonly string[];
  /** Prefix of the DN of a user; default `/O=GRID/CN=`. */
  dnPrefix?: string;
  groups?: GroupTable | GroupLookup;
  vos?: VoTable;
  /**
   * Whose entitlements count: namespaces (`urn:mace:egi.eu`), each with an authority behind a `#` where only that one's
   * do; default all that the provider passes on.
   */
  entitlements?: string | readonly string[];
  loginSessions?: LoginSessionStore;
  /** Patterns for claimParser in place of the eduperson rules: named groups ID, VO, VORole. */
  attributes?: ClaimAttributes;
  /** Accepted signature algorithms, a part of the default ones. */
  algorithms?: readonly string[];
  /** Seconds by which clocks may differ in tokens, 0 to 120; default 60. */
  tolerance?: number;
  /** Origins, beside the issuer's, at which endpoints may be; any when absent. */
  allowedOrigins?: readonly string[];
}

/** What a provider derives from its parameters. */
export interface ProviderSettings {
  name: string;
  type: ProviderType;
  issuer: string;
  metadataUrl: string | undefined;
  jwks: JsonWebKeySet | undefined;
  overrides: Readonly<Record<string, unknown>>;
  audiences: readonly string[];
  dnPrefix: string;
  groups: GroupTable | GroupLookup;
  vos: VoTable;
  entitlements: readonly string[] | undefined;
  attributes: ClaimAttributes | undefined;
  algorithms: ReadonlySet<string>;
  tolerance: number;
  allowedOrigins: ReadonlySet<string> | undefined;
}

const TYPES: readonly string[] = ['OAuth2', 'IAM', 'CheckIn'];
const MAX_TOLERANCE = 120;
const OWN_KEYWORDS = new Set([
  'ProviderName',
  'ProviderType',
  'server_metadata_url',
  'jwks',
  'overrides',
  'audience',
  'dnPrefix',
  'groups',
  'vos',
  'entitlements',
  'loginSessions',
  'attributes',
  'algorithms',
  'tolerance',
  'allowedOrigins',
]);

function listOf(value: unknown, name: string): readonly string[] {
  const list: unknown[] = Array.isArray(value) ? value : value ? [value] : [];
  if (!list.every((item) => typeof item === 'string')) {
    throw new ConfigurationError(`${name} must be text or a list of texts`);
  }
  return list;
}

function sourcesOf(value: unknown): readonly string[] {
  const sources = listOf(value, 'entitlements');
  const broken = sources.find((source) => !/^urn:[^:#]+(?::[^:#]+)*(?:#.+)?$/i.test(source));
  if (broken !== undefined) {
    throw new ConfigurationError(
      `entitlements: "${broken}" is no namespace (urn:…), nor one with an authority (urn:…#…)`,
    );
  }
  return sources;
}

function algorithmsOf(value: unknown): ReadonlySet<string> {
  if (value === undefined || value === null) return new Set(DEFAULT_ALGORITHMS);
  const wanted = listOf(value, 'algorithms');
  const unknown = wanted.find((name) => !DEFAULT_ALGORITHMS.includes(name));
  if (unknown !== undefined || wanted.length === 0) {
    throw new ConfigurationError(`algorithms may be ${DEFAULT_ALGORITHMS.join(', ')}`);
  }
  return new Set(wanted);
}

function toleranceOf(value: unknown): number {
  const tolerance = value ?? 60;
  if (typeof tolerance !== 'number' || !(tolerance >= 0 && tolerance <= MAX_TOLERANCE)) {
    throw new ConfigurationError(`tolerance must be 0 to ${MAX_TOLERANCE} seconds`);
  }
  return tolerance;
}

function jwksOf(value: unknown): JsonWebKeySet | undefined {
  if (value === undefined || value === null) return undefined;
  const set = KeySet.from(value);
  if (set === undefined) throw new ConfigurationError('jwks is no key set');
  return set.jwks;
}

function recordOf(value: unknown, name: string): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new ConfigurationError(`${name} must be a dictionary`);
  }
  return value as Record<string, unknown>;
}

/** Validates parameters and derives the settings; throws ConfigurationError. */
export function providerSettings(parameters: ProviderParameters): ProviderSettings {
  const groups = parameters.groups ?? {};
  const issuer = parameters.issuer ?? '';
  const attributes = parameters.attributes ?? undefined;
  const type = parameters.ProviderType ?? 'OAuth2';
  if (!TYPES.includes(type))
    throw new ConfigurationError('ProviderType may be OAuth2, IAM, CheckIn');
  if (typeof issuer !== 'string') throw new ConfigurationError('issuer must be text');
  if (attributes !== undefined) checkAttributes(attributes);
  const origins = parameters.allowedOrigins ?? undefined;
  const entitlements = parameters.entitlements ?? undefined;
  return {
    name: parameters.ProviderName ?? '',
    type,
    issuer,
    metadataUrl: parameters.server_metadata_url ?? undefined,
    jwks: jwksOf(parameters.jwks),
    overrides: recordOf(parameters.overrides, 'overrides'),
    audiences: listOf(parameters.audience, 'audience'),
    dnPrefix: parameters.dnPrefix ?? '/O=GRID/CN=',
    groups: typeof groups === 'function' ? groups : (recordOf(groups, 'groups') as GroupTable),
    vos: recordOf(parameters.vos, 'vos') as VoTable,
    entitlements: entitlements === undefined ? undefined : sourcesOf(entitlements),
    attributes,
    algorithms: algorithmsOf(parameters.algorithms),
    tolerance: toleranceOf(parameters.tolerance),
    allowedOrigins: origins === undefined ? undefined : new Set(listOf(origins, 'allowedOrigins')),
  };
}

/** `verify` as configuration files write it: "True", "no" or the path of a CA bundle. */
function verifyOf(value: boolean | string): boolean | string {
  if (typeof value !== 'string') return value;
  if (/^(?:true|yes|1|y)$/i.test(value)) return true;
  return /^(?:false|no|0|n)$/i.test(value) ? false : value;
}

/** Scopes as configuration files write them: divided by blanks, commas or plus signs. */
function scopeOf(scope: string | readonly string[]): string {
  const items = typeof scope === 'string' ? scope.split(/[\s,+]+/) : scope;
  return items.filter((item) => item !== '').join(' ');
}

/** The keywords for the session of a provider: scopes and verify as configuration writes them. */
export function sessionOptions(parameters: ProviderParameters): OAuth2ClientOptions {
  requireFitting('setParameters', 'parameters', parameters, isDictionary(parameters));
  const options: OAuth2ClientOptions = Object.fromEntries(
    Object.entries(parameters).filter(([name]) => !OWN_KEYWORDS.has(name)),
  );
  if (options.scope) options.scope = scopeOf(options.scope);
  if (options.verify !== undefined) options.verify = verifyOf(options.verify);
  return options;
}
