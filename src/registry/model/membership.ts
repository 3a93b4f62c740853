import { ChangeFault } from './change-fault.js';
import type { Group, RegistryContents, User } from './registry.types.js';

/** The sections that a change of members changes. */
export type ChangedGroups = Pick<RegistryContents, 'groups'>;

/** A user is removed, from all groups, too. Throws ChangeFault. */
export function withoutUser(
  contents: RegistryContents,
  user: string,
): Pick<RegistryContents, 'users' | 'groups'> {
  userIn(contents, user);
  return {
    users: contents.users.filter(({ name }) => name !== user),
    groups: contents.groups.map((group) => without(group, user)),
  };
}

/** No token of a disabled user is good; the groups stay, for when they are enabled again. Throws ChangeFault. */
export function withDisabled(
  contents: RegistryContents,
  user: string,
  disabled: boolean,
): Pick<RegistryContents, 'users'> {
  userIn(contents, user);
  const changed = ({ disabled: _before, ...one }: User): User =>
    disabled ? { ...one, disabled } : one;
  return { users: contents.users.map((one) => (one.name === user ? changed(one) : one)) };
}

/** A user is taken into a group; nothing changes for a member. Throws ChangeFault. */
export function withMember(contents: RegistryContents, group: string, user: string): ChangedGroups {
  const { members } = groupIn(contents, group);
  userIn(contents, user);
  if (members.includes(user)) return { groups: contents.groups };
  return replaced(contents, group, (one) => ({ ...one, members: [...one.members, user] }));
}

/** A user is taken out of a group. Throws ChangeFault. */
export function withoutMember(
  contents: RegistryContents,
  group: string,
  user: string,
): ChangedGroups {
  const { members } = groupIn(contents, group);
  userIn(contents, user);
  if (!members.includes(user)) {
    throw new ChangeFault('no-member', `${user} is no member of ${group}`);
  }
  return replaced(contents, group, (one) => without(one, user));
}

function userIn({ users }: RegistryContents, name: string): User {
  const user = users.find((one) => one.name === name);
  if (!user) throw new ChangeFault('no-user', `there is no user ${name}`);
  return user;
}

function groupIn({ groups }: RegistryContents, name: string): Group {
  const group = groups.find((one) => one.name === name);
  if (!group) throw new ChangeFault('no-group', `there is no group ${name}`);
  return group;
}

function replaced(
  { groups }: RegistryContents,
  name: string,
  change: (group: Group) => Group,
): ChangedGroups {
  return { groups: groups.map((group) => (group.name === name ? change(group) : group)) };
}

function without(group: Group, user: string): Group {
  if (!group.members.includes(user)) return group;
  return { ...group, members: group.members.filter((member) => member !== user) };
}
