import { ChangeFault } from './change-fault.js';
import { certificateKey } from './user-certificate.js';
import type { Group, Member, RegistryContents, User } from './registry.types.js';

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

/**
 * Memberships that a change ends: of those who leave the group, are removed or disabled, or lose a certificate or a subject of
 * an identity provider. Tokens from before are dead, also when there is the same membership afterwards.
 */
export function endedMemberships(before: RegistryContents, after: RegistryContents): Member[] {
  const stay = new Set(membersOf(after).map(keyOf));
  const users = new Map(after.users.map((user) => [user.name, user]));
  const withFewer = new Set(
    before.users
      .filter((user) => !maySignInAsBefore(user, users.get(user.name)))
      .map(({ name }) => name),
  );
  return membersOf(before).filter(
    (member) => withFewer.has(member.user) || !stay.has(keyOf(member)),
  );
}

/** A disabled user is in no group. */
function membersOf({ users, groups }: RegistryContents): Member[] {
  const disabled = new Set(users.flatMap((user) => (user.disabled ? [user.name] : [])));
  return groups.flatMap(({ name: group, members }) =>
    members.filter((user) => !disabled.has(user)).map((user) => ({ user, group })),
  );
}

/** Whether each way to sign in is there still; a certificate that may be of any CA now is. */
function maySignInAsBefore(before: User, after: User | undefined): boolean {
  const certificates = new Set(
    after?.certificates.map(({ subject, issuer }) => certificateKey(subject, issuer)),
  );
  const subjects = new Set(after?.subjects.map(({ issuer, sub }) => JSON.stringify([issuer, sub])));
  return (
    before.certificates.every(
      ({ subject, issuer }) =>
        certificates.has(certificateKey(subject, issuer)) ||
        certificates.has(certificateKey(subject)),
    ) && before.subjects.every(({ issuer, sub }) => subjects.has(JSON.stringify([issuer, sub])))
  );
}

function keyOf({ user, group }: Member): string {
  return JSON.stringify([user, group]);
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
