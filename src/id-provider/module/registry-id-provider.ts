import type { RegistryService, RegistrySnapshot } from '#src/registry/index.js';
import type { GroupOptions, GroupTable, VoTable } from '../provider/group-scopes.js';
import { OAuth2IdProvider } from '../provider/oauth2-id-provider.js';
import type { ProviderParameters } from '../provider/provider-settings.js';
import type { TokenClaims } from '../verify/token-verifier.js';
import type { UserProfile } from '../provider/user-claims.js';

/** The mapping between groups of the registry and what providers say, kept up with the registry. */
export class RegistryGroups {
  private seen: RegistrySnapshot | undefined;
  private readonly voTables: { given: VoTable; live: Record<string, Record<string, string[]>> }[] =
    [];
  private table: GroupTable = {};

  constructor(private readonly registry: RegistryService) {}

  /** Takes over what the registry says now. Throws Problem 503 while the database is away. */
  async bringUpToDate(): Promise<void> {
    this.update(await this.registry.current());
  }

  /** All groups, or one, as they were read last. */
  latest(group?: string): GroupTable | GroupOptions | undefined {
    const registry = this.registry.latest();
    if (registry) this.update(registry);
    if (group === undefined) return this.table;
    return Object.hasOwn(this.table, group) ? this.table[group] : undefined;
  }

  /** VO → role → groups: what the file says and, kept up to date in place, what the registry says. */
  vosWith(given: VoTable = {}): VoTable {
    const live: Record<string, Record<string, string[]>> = {};
    this.voTables.push({ given, live });
    return live;
  }

  private update(registry: RegistrySnapshot): void {
    if (this.seen === registry) return;
    this.seen = registry;
    this.table = Object.fromEntries(
      registry
        .groups()
        .map(({ name, vo, idpScopes }) => [name, { IdPRole: idpScopes.join(' '), VO: vo }]),
    );
    for (const { given, live } of this.voTables) {
      for (const vo of Object.keys(live)) delete live[vo];
      for (const { name, vo, idpRole } of registry.groups()) {
        if (vo === undefined || idpRole === undefined) continue;
        ((live[vo] ??= {})[idpRole] ??= []).push(name);
      }
      for (const [vo, roles] of Object.entries(given)) {
        for (const [role, groups] of Object.entries(roles))
          (live[vo] ??= {})[role] = [groups].flat();
      }
    }
  }
}

/**
 * A provider whose groups and scopes are mapped as the registry says at the time of each call. getGroupScopes and
 * getScopeGroups, which cannot wait, use what was read last.
 */
export class RegistryIdProvider extends OAuth2IdProvider {
  constructor(
    parameters: ProviderParameters,
    private readonly registryGroups: RegistryGroups,
  ) {
    super({
      ...parameters,
      groups: (group) => registryGroups.latest(group),
      vos: registryGroups.vosWith(parameters.vos),
    });
  }

  protected override async scopesOf(group: string): Promise<string[]> {
    await this.registryGroups.bringUpToDate();
    return super.scopesOf(group);
  }

  protected override async profileOf(claims: TokenClaims): Promise<UserProfile> {
    await this.registryGroups.bringUpToDate();
    return super.profileOf(claims);
  }
}
