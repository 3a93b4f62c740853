import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import type { AuditOrigin } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import {
  ChangeFault,
  RegistryService,
  withChangedEntry,
  withDisabled,
  withEntry,
  withMember,
  withoutGroup,
  withoutMember,
  withoutUser,
  type RegistryContents,
} from '#src/registry/index.js';
import { RegistryChanges } from '../registry/registry-changes.js';
import type { AddGroupRequest, ChangeGroupRequest } from './group.request.js';
import { GroupResponse, UserResponse } from './member.response.js';
import type { RegistryChangeResponse } from '../registry/registry-change.response.js';
import { membershipsOf, pageOf } from './user-list.js';
import type { AddUserRequest, ChangeUserRequest } from './user.request.js';
import type { ListUsersQuery } from './users.query.js';

/** Users and groups as administrators see them, and who is in which group. */
@Injectable()
export class MembersService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl'>,
    private readonly registry: RegistryService,
    private readonly changes: RegistryChanges,
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

  /** Throws Problem 400, 409. */
  async addUser(
    { name, groups = [], ...body }: AddUserRequest,
    origin: AuditOrigin,
  ): Promise<UserResponse> {
    await this.changes.make((contents) => {
      const unknown = groups.find((group) => !contents.groups.some((one) => one.name === group));
      if (unknown !== undefined) {
        throw new ChangeFault('conflict', `there is no group ${unknown}: add it first`);
      }
      return groups.reduce<RegistryContents>(
        (before, group) => ({ ...before, ...withMember(before, group, name) }),
        { ...contents, ...withEntry(contents, 'users', name, body) },
      );
    }, origin);
    return this.user(name);
  }

  /** Throws Problem 400, 404, 409. */
  changeUser(
    name: string,
    body: ChangeUserRequest,
    origin: AuditOrigin,
  ): Promise<RegistryChangeResponse> {
    return this.changes.make((it) => withChangedEntry(it, 'users', name, body), origin);
  }

  /** Throws Problem 404, 409. */
  async removeUser(name: string, origin: AuditOrigin): Promise<void> {
    await this.changes.make((contents) => withoutUser(contents, name), origin);
  }

  /** Throws Problem 400, 409. */
  async addGroup({ name, ...body }: AddGroupRequest, origin: AuditOrigin): Promise<GroupResponse> {
    await this.changes.make((contents) => withEntry(contents, 'groups', name, body), origin);
    return this.group(name);
  }

  /** Throws Problem 400, 404, 409. */
  changeGroup(
    name: string,
    body: ChangeGroupRequest,
    origin: AuditOrigin,
  ): Promise<RegistryChangeResponse> {
    return this.changes.make((it) => withChangedEntry(it, 'groups', name, body), origin);
  }

  /** Throws Problem 404, 409. */
  async removeGroup(name: string, origin: AuditOrigin): Promise<void> {
    await this.changes.make((contents) => withoutGroup(contents, name), origin);
  }

  /** No token of the user is good until they are enabled again. Throws Problem 404, 409. */
  disable(user: string, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    return this.changes.make((contents) => withDisabled(contents, user, true), origin);
  }

  /** Throws Problem 404, 409. */
  enable(user: string, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    return this.changes.make((contents) => withDisabled(contents, user, false), origin);
  }

  /** Throws Problem 404. */
  addMember(group: string, user: string, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    return this.changes.make((contents) => withMember(contents, group, user), origin);
  }

  /** Throws Problem 404, 409. */
  removeMember(group: string, user: string, origin: AuditOrigin): Promise<RegistryChangeResponse> {
    return this.changes.make((contents) => withoutMember(contents, group, user), origin);
  }
}
