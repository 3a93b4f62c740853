import { Inject, Injectable } from '@nestjs/common';
import { Problem, type ProblemCode } from '#src/kernel/index.js';
import { CONFIG, type AuditOrigin, type Config } from '#src/platform/index.js';
import {
  describeDifference,
  ChangeFault,
  keepAdministrator,
  RegistryFileError,
  RegistryLoader,
  RegistryService,
  withMember,
  withoutMember,
  withDisabled,
  type RegistryContents,
} from '#src/registry/index.js';
import { GroupResponse, UserResponse, type RegistryChangeResponse } from './member.response.js';
import { membershipsOf, pageOf } from './user-list.js';
import type { ListUsersQuery } from './users.query.js';

type Change = (contents: RegistryContents) => Partial<Pick<RegistryContents, 'users' | 'groups'>>;

const CODES: Record<ChangeFault['reason'], ProblemCode> = {
  'no-user': 'user.not-found',
  'no-group': 'group.not-found',
  'no-site': 'site.not-found',
  'no-member': 'group.no-such-member',
  'user-exists': 'user.exists',
  'group-exists': 'group.exists',
  'site-exists': 'site.exists',
  conflict: 'registry.conflict',
  'last-administrator': 'group.last-administrator',
};

/** Users and groups as administrators see them, and who is in which group. */
@Injectable()
export class MembersService {
  @Inject(CONFIG) private readonly config!: Pick<Config, 'publicUrl'>;

  constructor(
    private readonly registry: RegistryService,
    private readonly loader: RegistryLoader,
  ) {}

  /** GET /admin/users, and where the next page is. */
  async users(
    query: ListUsersQuery,
  ): Promise<{ users: UserResponse[]; total: number; next?: string }> {
    const { contents } = await this.registry.renewed();
    const { users, total, last } = pageOf(contents.users, query);
    const memberships = membershipsOf(contents.groups);
    const shown = users.map((user) => UserResponse.from(user, memberships.get(user.name) ?? []));
    if (last === undefined) return { users: shown, total };
    const { search, limit } = query;
    const next = new URLSearchParams({ ...(search && { search }), limit: `${limit}`, after: last });
    const base = this.config.publicUrl.replace(/\/$/, '');
    return { users: shown, total, next: `${base}/admin/users?${next.toString()}` };
  }

  /** GET /admin/users/<name>. Throws Problem 404. */
  async user(name: string): Promise<UserResponse> {
    const { contents } = await this.registry.renewed();
    const user = contents.users.find((one) => one.name === name);
    if (!user) throw new Problem('user.not-found', `There is no user ${name}`);
    return UserResponse.from(user, membershipsOf(contents.groups).get(name) ?? []);
  }

  /** GET /admin/groups. */
  async groups(): Promise<GroupResponse[]> {
    const { contents } = await this.registry.renewed();
    return contents.groups.map((group) => GroupResponse.from(group));
  }

  /** GET /admin/groups/<name>. Throws Problem 404. */
  async group(name: string): Promise<GroupResponse> {
    const group = (await this.registry.renewed()).group(name);
    if (!group) throw new Problem('group.not-found', `There is no group ${name}`);
    return GroupResponse.from(group);
  }

  /** No token of the user is good until they are enabled again. Throws Problem 404, 409. */
  disable(user: string, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    return this.change((contents) => withDisabled(contents, user, true), origin);
  }

  /** Throws Problem 404, 409. */
  enable(user: string, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    return this.change((contents) => withDisabled(contents, user, false), origin);
  }

  /** Throws Problem 404. */
  addMember(group: string, user: string, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    return this.change((contents) => withMember(contents, group, user), origin);
  }

  /** Throws Problem 404, 409. */
  removeMember(group: string, user: string, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    return this.change((contents) => withoutMember(contents, group, user), origin);
  }

  /** The last administrator is looked for in what the change finds, whatever others have changed meanwhile. */
  private async change(change: Change, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    const registry = await this.registry.current();
    try {
      const found = await this.loader.change((contents) => {
        const changed = change(contents);
        const after = { ...contents, ...changed };
        keepAdministrator(contents, after, (group) => registry.isOfIssuer(group));
        return changed;
      }, origin);
      return { changes: describeDifference(found) };
    } catch (error) {
      throw problemOf(error);
    }
  }
}

function problemOf(error: unknown): unknown {
  if (error instanceof RegistryFileError) return new Problem('registry.conflict', error.message);
  if (!(error instanceof ChangeFault)) return error;
  return new Problem(CODES[error.reason], error.message.replace(/^there/, 'There'));
}
