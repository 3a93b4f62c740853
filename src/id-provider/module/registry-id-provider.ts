import type { Result } from '#src/kernel/index.js';
import type { TokenFields } from '#src/oauth2-client/index.js';
import type { RegistryService, RegistrySnapshot } from '#src/registry/index.js';
import type { BrowserSession, CallbackRequest } from '../authorization-code-flow.js';
import type { DeviceAuthorization } from '../device-code-flow.js';
import type { GroupOptions, GroupTable, VoTable } from '../group-scopes.js';
import { OAuth2IdProvider, type LoginResult } from '../oauth2-id-provider.js';
import { errorResult } from '../provider-result.js';
import type { ProviderParameters } from '../provider-settings.js';
import type { UserProfile } from '../user-claims.js';

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

  override refreshToken(token: string, group?: string | null): Promise<Result<TokenFields>> {
    return group
      ? this.mapped(() => super.refreshToken(token, group))
      : super.refreshToken(token, group);
  }

  override exchangeToken(
    accessToken: string,
    group?: string | null,
    scope?: readonly string[] | string | null,
  ): Promise<Result<TokenFields>> {
    return group
      ? this.mapped(() => super.exchangeToken(accessToken, group, scope))
      : super.exchangeToken(accessToken, group, scope);
  }

  override submitDeviceCodeAuthorizationFlow(
    group?: string | null,
  ): Promise<Result<DeviceAuthorization>> {
    return group
      ? this.mapped(() => super.submitDeviceCodeAuthorizationFlow(group))
      : super.submitDeviceCodeAuthorizationFlow(group);
  }

  override getUserGroups(
    accessToken?: string | null,
    payload?: unknown,
    token?: string | null,
  ): Promise<Result<UserProfile>> {
    return this.mapped(() => super.getUserGroups(accessToken, payload, token));
  }

  override parseAuthResponse(
    response: CallbackRequest,
    session?: BrowserSession | null,
  ): Promise<Result<LoginResult>> {
    return this.mapped(() => super.parseAuthResponse(response, session));
  }

  private async mapped<T>(operation: () => Promise<Result<T>>): Promise<Result<T>> {
    try {
      await this.registryGroups.bringUpToDate();
    } catch (error) {
      return errorResult(error);
    }
    return operation();
  }
}
