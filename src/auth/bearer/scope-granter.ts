import { Inject, Injectable } from '@nestjs/common';
import { RegistryService, type Group, type User } from '#src/registry/index.js';
import {
  catalogueRight,
  claimedGroups,
  coversScope,
  groupScopes,
  possibleScopes,
  readScopes,
  scopeWords,
  type GridScope,
} from '../protocol/grid-scopes.js';
import { nothingLeft } from '../protocol/oauth-errors.js';
import { plainPath } from '../protocol/scope-path.js';
import { STORAGE_RIGHTS, type StorageRights } from './storage-rights.js';

/** For whom scopes are asked, and what bounds them. */
export interface ScopeWish {
  user: Pick<User, 'name'>;
  group: Group;
  /** Words separated by blanks; everything when absent. */
  asked: string | undefined;
  /** Scope of the consent or the token that it comes from. */
  within?: string;
  /** Claim `wlcg.groups` of the token that it comes from; what `within` gives when absent. */
  withinGroups?: readonly string[];
  /** What the one who asks may not have. */
  isRefused?: (scope: GridScope) => boolean;
}

/** What a token may carry. */
export interface GrantedScopes {
  scopes: string[];
  groups?: string[];
}

/** Which of the scopes that are asked for a token gets. */
@Injectable()
export class ScopeGranter {
  constructor(
    private readonly registry: RegistryService,
    @Inject(STORAGE_RIGHTS) private readonly storage: StorageRights,
  ) {}

  /**
   * The scopes that user and group may have now, within what bounds them; what is not granted is left out. Throws 400
   * `invalid_scope` when nothing is left.
   */
  async grant(wish: ScopeWish): Promise<GrantedScopes> {
    const { user, group, asked, within, withinGroups, isRefused = () => false } = wish;
    const outer = within === undefined ? undefined : readScopes(within.split(' '));
    const words = scopeWords(asked) ?? outer?.map(({ word }) => word);
    const ofGroup = outer ? possibleScopes(group, words) : groupScopes(group, words);
    const possible = ofGroup.filter(
      (scope) => !isRefused(scope) && (outer?.some((bound) => coversScope(bound, scope)) ?? true),
    );
    const ofUser = (await this.registry.current()).groupsOf(user.name);
    const claimed = claimedGroups(possible, { group, ofUser });
    const bound = withinGroups ?? (outer && claimedGroups(outer, { group, ofUser }));
    const groups = claimed?.filter((one) => bound?.includes(one) ?? true);
    const isClaimed = (scope: GridScope): boolean =>
      scope.kind !== 'groups' || scope.group === undefined || !!groups?.includes(scope.group);
    const scopes = (await this.withRights(wish, possible)).filter(isClaimed);
    if (scopes.length === 0) throw nothingLeft();
    return {
      scopes: scopes.map(({ word }) => word),
      ...(groups && groups.length > 0 && { groups }),
    };
  }

  /** Those whose paths the catalogue opens to the user and the group. */
  private async withRights(
    { user, group }: ScopeWish,
    scopes: readonly GridScope[],
  ): Promise<readonly GridScope[]> {
    const storage = scopes.filter((scope) => scope.kind === 'storage');
    if (storage.length === 0) return scopes;
    const wishes = storage.map(({ action, path }) => ({
      path: plainPath(path),
      right: catalogueRight(action) === 'catalogue:write' ? ('write' as const) : ('read' as const),
    }));
    const allowed = await this.storage.allowed({ user: user.name, group }, wishes);
    const refused = new Set<GridScope>(storage.filter((_scope, place) => !allowed[place]));
    return scopes.filter((scope) => !refused.has(scope));
  }
}
