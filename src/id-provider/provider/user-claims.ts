import { OAuthError } from '#src/oauth2-client/index.js';
import { claimParser, type ClaimAttributes, type ClaimGroups } from '../claims/claim-parser.js';
import { isFrom, parseEntitlement } from './entitlement.js';
import type { GroupScopes } from './group-scopes.js';
import type { TokenClaims } from '../verify/token-verifier.js';

/** Who a user is here. `groups` is there when the token says anything about groups. */
export interface UserProfile {
  ID: string;
  DN: string;
  groups?: string[];
  group?: string;
}

/** How claims become a profile. */
export interface ProfileRules {
  dnPrefix: string;
  scopes: GroupScopes;
  attributes: ClaimAttributes | undefined;
  /** Namespaces whose entitlements count; all of them when absent. */
  entitlements?: readonly string[] | undefined;
}

/** What the claims of a provider say beyond scopes. */
interface ParsedIdentity {
  ID: string | undefined;
  groups: string[];
}

const MAX_ENTITLEMENTS = 1000;
/** The claims of AARC-G069 (now, and where the eduPerson schema named it) in which entitlements stand. */
const ENTITLEMENT_CLAIMS = ['entitlements', 'eduperson_entitlement'];
/** What an entitlement to a group says when it names no role (AARC-G069 §2). */
const ROLE_OF_MEMBERS = 'member';

function textsOf(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value.slice(0, MAX_ENTITLEMENTS) : [value];
  return list.filter((item) => typeof item === 'string');
}

/** eduperson claims: the unique id, and entitlements as AARC-G069 writes them. */
function edupersonIdentity(
  claims: TokenClaims,
  { scopes, entitlements }: ProfileRules,
): ParsedIdentity {
  const values = ENTITLEMENT_CLAIMS.flatMap((claim) => textsOf(claims[claim]));
  const groups = values.flatMap((value) => {
    const entitlement = parseEntitlement(value);
    if (entitlement === undefined || !isFrom(entitlement, entitlements)) return [];
    const { vo, subgroups, role = ROLE_OF_MEMBERS } = entitlement;
    return scopes.groupsOfRole(vo, subgroups, role);
  });
  const [ID] = textsOf(claims['eduperson_unique_id']);
  return { ID: ID === '' ? undefined : ID, groups };
}

/** The same by patterns of the configuration: named groups ID, VO and VORole anywhere in the result. */
function configuredIdentity(
  claims: TokenClaims,
  attributes: ClaimAttributes,
  scopes: GroupScopes,
): ParsedIdentity {
  const identity: ParsedIdentity = { ID: undefined, groups: [] };
  for (const parsed of Object.values(claimParser(claims, attributes)).flat()) {
    const { ID, VO, VORole } = parsed as ClaimGroups;
    if (typeof ID === 'string') identity.ID = ID;
    if (typeof VO === 'string' && typeof VORole === 'string') {
      identity.groups.push(...scopes.groupsOfRole(VO, [], VORole));
    }
  }
  return identity;
}

/**
 * Makes a profile of claims (interface getUserGroups): the groups of the scopes; when there are none, those of
 * entitlements and of the `wlcg.groups` and `groups` claims, in the order of the configuration. Throws OAuthError
 * `missing_sub`.
 */
export function profileOf(claims: TokenClaims, rules: ProfileRules): UserProfile {
  const { scopes, attributes, dnPrefix } = rules;
  if (typeof claims.sub !== 'string' || claims.sub === '') {
    throw new OAuthError('missing_sub', { description: 'the claims name no subject (sub)' });
  }
  let ID = claims.sub;
  const { scope } = claims;
  const hasScope = typeof scope === 'string';
  let groups = hasScope ? scopes.getScopeGroups(scope) : [];
  if (groups.length === 0) {
    const identity =
      attributes === undefined
        ? edupersonIdentity(claims, rules)
        : configuredIdentity(claims, attributes, scopes);
    ID = identity.ID ?? ID;
    const paths = [...textsOf(claims['wlcg.groups']), ...textsOf(claims['groups'])];
    groups = scopes.inOrder([...identity.groups, ...scopes.groupsOfPaths(paths)]);
  }
  const profile: UserProfile = { ID, DN: dnPrefix + ID };
  if (hasScope || groups.length > 0) profile.groups = groups;
  const [first] = groups;
  if (first !== undefined) profile.group = first;
  return profile;
}
