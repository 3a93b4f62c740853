/** What is known about a group of the service. */
export interface GroupOptions {
  /** Scopes that stand for the group at the provider, separated by blanks. */
  IdPRole?: string | undefined;
  /** The virtual organisation the group belongs to. */
  VO?: string | undefined;
}

/** All groups by name, in the order in which they count. */
export type GroupTable = Readonly<Record<string, GroupOptions>>;
/** Groups that may change: called with a name it answers that group, called without it answers all. */
export type GroupLookup = (group?: string) => GroupOptions | GroupTable | undefined;
/** VO → role → groups of the service, for entitlements. */
export type VoTable = Readonly<
  Record<string, Readonly<Record<string, string | readonly string[]>>>
>;
/** The provider flavours that differ in how a group becomes a scope. */
export type ProviderType = 'OAuth2' | 'IAM' | 'CheckIn';

/** Splits scopes on blanks. */
export function splitScopes(scope: string): string[] {
  return scope.split(/\s+/).filter((item) => item !== '');
}

/** The VO and the second part of the group's name; undefined when either is missing. */
function voAndPart(group: string, options: GroupOptions): [vo: string, part: string] | undefined {
  const part = group.split('_')[1];
  if (!options.VO || part === undefined || part === '') return undefined;
  return [options.VO, part];
}

/** The scopes of one group in one flavour (interface getGroupScopes). */
export function scopesOfGroup(type: ProviderType, group: string, options: GroupOptions): string[] {
  const given = splitScopes(options.IdPRole ?? '');
  if (given.length > 0 || type === 'OAuth2') return given;
  const names = voAndPart(group, options);
  if (names === undefined) return [];
  const [vo, part] = names;
  if (type === 'IAM') return [`wlcg.groups:/${vo}/${part}`];
  return [`eduperson_entitlement?value=urn:mace:egi.eu:group:${vo}:role=${part}#aai.egi.eu`];
}

/** Which groups need which scope, so that a lookup costs as much as the scopes asked about. */
class ScopeIndex {
  readonly #groups: string[] = [];
  readonly #needed: number[] = [];
  readonly #byScope = new Map<string, number[]>();

  constructor(type: ProviderType, table: GroupTable) {
    for (const [group, options] of Object.entries(table)) {
      const scopes = new Set(scopesOfGroup(type, group, options));
      if (scopes.size === 0) continue;
      const position = this.#groups.push(group) - 1;
      this.#needed.push(scopes.size);
      for (const scope of scopes) {
        const positions = this.#byScope.get(scope) ?? [];
        positions.push(position);
        this.#byScope.set(scope, positions);
      }
    }
  }

  groupsOf(scopes: Iterable<string>): string[] {
    const seen = new Map<number, number>();
    for (const scope of new Set(scopes)) {
      for (const position of this.#byScope.get(scope) ?? []) {
        seen.set(position, (seen.get(position) ?? 0) + 1);
      }
    }
    return [...seen]
      .filter(([position, count]) => count === this.#needed[position])
      .map(([position]) => position)
      .sort((left, right) => left - right)
      .map((position) => this.#groups[position] as string);
  }
}

/** The mapping between groups of the service and scopes of a provider; it is handed in, never looked up here. */
export class GroupScopes {
  #index: { table: GroupTable; index: ScopeIndex } | undefined;

  constructor(
    private readonly type: ProviderType,
    private readonly groups: GroupTable | GroupLookup,
    private readonly vos: VoTable,
  ) {}

  /** The scopes of a group; none for an unknown one. */
  getGroupScopes(group: string): string[] {
    const options = this.optionsOf(group);
    return options === undefined ? [] : scopesOfGroup(this.type, group, options);
  }

  /** The groups whose scopes are all among those given, in the order of the table. */
  getScopeGroups(scope: string): string[] {
    return this.indexed().groupsOf(splitScopes(scope));
  }

  /** The groups of the paths in a `wlcg.groups` or `groups` claim. */
  groupsOfPaths(paths: readonly string[]): string[] {
    const byScope = this.indexed().groupsOf(paths.map((path) => `wlcg.groups:${path}`));
    const byVo = paths.flatMap((path) => {
      const [vo = '', ...rest] = path.replace(/^\//, '').split('/');
      return this.lookUp(vo, [`/${vo}/${rest.join('/')}`, rest.join('/')]);
    });
    return this.inOrder([...byScope, ...byVo]);
  }

  /**
   * The groups of a role in a VO, or in a sub-group of one by its path: who has a role there has it in no group above.
   */
  groupsOfRole(vo: string, subgroups: readonly string[], role: string): string[] {
    const path = [...subgroups, role].join('/');
    return this.lookUp(vo, [`/${vo}/${path}`, path]);
  }

  /** The groups under the first of the keys that the VO's table knows. */
  private lookUp(vo: string, keys: readonly string[]): string[] {
    const roles = Object.hasOwn(this.vos, vo) ? (this.vos[vo] ?? {}) : {};
    for (const key of keys) {
      if (!Object.hasOwn(roles, key)) continue;
      const groups = roles[key] ?? [];
      return typeof groups === 'string' ? [groups] : [...groups];
    }
    return [];
  }

  /** Groups once each: those of the table in its order, then the others as they came. */
  inOrder(groups: readonly string[]): string[] {
    const unique = new Set(groups);
    const known = Object.keys(this.table()).filter((group) => unique.delete(group));
    return [...known, ...unique];
  }

  private optionsOf(group: string): GroupOptions | undefined {
    if (typeof this.groups === 'function') return this.groups(group);
    return Object.hasOwn(this.groups, group) ? this.groups[group] : undefined;
  }

  private table(): GroupTable {
    if (typeof this.groups !== 'function') return this.groups;
    return (this.groups() ?? {}) as GroupTable;
  }

  private indexed(): ScopeIndex {
    const table = this.table();
    if (this.#index?.table !== table) {
      this.#index = { table, index: new ScopeIndex(this.type, table) };
    }
    return this.#index.index;
  }
}
