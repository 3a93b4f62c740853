import type { Group, RegistryContents, User } from './registry.types.js';

/** Why somebody's place in groups cannot be changed. */
export type MembershipReason = 'no-user' | 'no-group' | 'no-member' | 'last-administrator';

/** A change of members that cannot be. */
export class MembershipFault extends Error {
  constructor(
    readonly reason: MembershipReason,
    message: string,
  ) {
    super(message);
    this.name = 'MembershipFault';
  }
}

/** The sections that a change of members changes. */
export type ChangedGroups = Pick<RegistryContents, 'groups'>;

/** A user is removed, from all groups, too. Throws MembershipFault. */
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

/** No token of a disabled user is good; the groups stay, for when they are enabled again. Throws MembershipFault. */
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

/** A user is taken into a group; nothing changes for a member. Throws MembershipFault. */
export function withMember(contents: RegistryContents, group: string, user: string): ChangedGroups {
  const { members } = groupIn(contents, group);
  userIn(contents, user);
  if (members.includes(user)) return { groups: contents.groups };
  return replaced(contents, group, (one) => ({ ...one, members: [...one.members, user] }));
}

/** A user is taken out of a group. Throws MembershipFault. */
export function withoutMember(
  contents: RegistryContents,
  group: string,
  user: string,
): ChangedGroups {
  const { members } = groupIn(contents, group);
  userIn(contents, user);
  if (!members.includes(user)) {
    throw new MembershipFault('no-member', `${user} is no member of ${group}`);
  }
  return replaced(contents, group, (one) => without(one, user));
}

/**
 * Throws MembershipFault for a change after which nobody could administer the service any more; of the groups those count that
 * there may be tokens for.
 */
export function keepAdministrator(
  before: RegistryContents,
  after: RegistryContents,
  isOfIssuer: (group: Group) => boolean,
): void {
  if (hasAdministrator(after, isOfIssuer) || !hasAdministrator(before, isOfIssuer)) return;
  throw new MembershipFault(
    'last-administrator',
    'Nobody could administer the service any more: make somebody else a member of a group with ServiceAdministrator first',
  );
}

/** Whether a member of such a group with ServiceAdministrator can sign in, for some setup. */
function hasAdministrator(
  contents: RegistryContents,
  isOfIssuer: (group: Group) => boolean,
): boolean {
  const canSignIn = new Set(contents.users.filter(maySignIn).map(({ name }) => name));
  return contents.groups.some(
    (group) =>
      group.properties.has('ServiceAdministrator') &&
      isOfIssuer(group) &&
      hasSetup(contents, group) &&
      group.members.some((member) => canSignIn.has(member)),
  );
}

function maySignIn({ certificates, subjects, disabled }: User): boolean {
  return !disabled && (certificates.length > 0 || subjects.length > 0);
}

function hasSetup({ setups }: RegistryContents, { name }: Group): boolean {
  return setups.some(({ groups }) => groups === undefined || groups.includes(name));
}

function userIn({ users }: RegistryContents, name: string): User {
  const user = users.find((one) => one.name === name);
  if (!user) throw new MembershipFault('no-user', `there is no user ${name}`);
  return user;
}

function groupIn({ groups }: RegistryContents, name: string): Group {
  const group = groups.find((one) => one.name === name);
  if (!group) throw new MembershipFault('no-group', `there is no group ${name}`);
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
