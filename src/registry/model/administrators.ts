import { isDeepStrictEqual } from 'node:util';
import { ChangeFault } from './change-fault.js';
import { withMember } from './membership.js';
import type { Group, RegistryContents, User } from './registry.types.js';

/** The group that is made for the first administrator. */
const ADMINISTRATORS: Group = {
  name: 'grid_adm',
  properties: new Set(['JobAdministrator', 'ServiceAdministrator']),
  members: [],
  idpScopes: [],
};

/** The setup that is made where there is none: every token is for one. */
const FIRST_SETUP = 'Prod';

/**
 * A user who may administer the service, in the first group that allows it; where there is none it is made, and a setup where there is
 * none. What is so already stays. Of the groups those count that there may be tokens for. Throws ChangeFault.
 */
export function withAdministrator(
  contents: RegistryContents,
  user: User,
  isOfIssuer: (group: Group) => boolean,
): Pick<RegistryContents, 'users' | 'groups' | 'setups'> {
  const withUser = { ...contents, users: usersWith(contents, user) };
  const administering = contents.groups.filter((group) => mayAdminister(group, isOfIssuer));
  const open = administering.filter((group) => hasSetup(contents, group));
  if (open.some(({ members }) => members.includes(user.name))) return withUser;
  const [group = newGroup(contents)] = open.length > 0 ? open : administering;
  const groups = administering.includes(group) ? contents.groups : [...contents.groups, group];
  const setups = contents.setups.length > 0 ? contents.setups : [{ name: FIRST_SETUP }];
  const prepared = { ...withUser, groups, setups };
  if (hasSetup(prepared, group))
    return { ...prepared, ...withMember(prepared, group.name, user.name) };
  throw new ChangeFault(
    'conflict',
    `no setup is open to the group ${group.name}, so that nobody gets a token for it: name it in the groups of a setup (gridgate registry load)`,
  );
}

/** Who is there already must be as is said, and able to sign in. */
function usersWith({ users }: RegistryContents, user: User): readonly User[] {
  const { name } = user;
  const before = users.find((one) => one.name === name);
  if (before?.disabled) {
    const text = `${name} is disabled: enable ${name} first (gridgate user enable ${name})`;
    throw new ChangeFault('conflict', text);
  }
  const given = Object.entries(user).filter(([, value]) => !isDeepStrictEqual(value, []));
  const other = given.filter(
    ([key, value]) => before && !isDeepStrictEqual(before[key as keyof User], value),
  );
  if (other.length > 0) {
    const members = other.map(([key]) => key).join(', ');
    const text = `${name} is there already with other ${members}: change that first (gridgate user change ${name}), or leave it out here`;
    throw new ChangeFault('user-exists', text);
  }
  if (maySignIn(before ?? user)) return before ? users : [...users, user];
  const text = `nobody signs in as ${name}: an administrator needs a certificate or a subject at an identity provider`;
  throw new ChangeFault('conflict', text);
}

function newGroup({ groups }: RegistryContents): Group {
  const { name } = ADMINISTRATORS;
  if (!groups.some((group) => group.name === name)) return ADMINISTRATORS;
  const problem = `no group has ServiceAdministrator for which there are tokens, and the name ${name} is taken: give the property to a group (gridgate group change)`;
  throw new ChangeFault('group-exists', problem);
}

/**
 * Throws ChangeFault for a change after which nobody could administer the service any more; of the groups those count that
 * there may be tokens for.
 */
export function keepAdministrator(
  before: RegistryContents,
  after: RegistryContents,
  isOfIssuer: (group: Group) => boolean,
): void {
  if (hasAdministrator(after, isOfIssuer) || !hasAdministrator(before, isOfIssuer)) return;
  throw new ChangeFault(
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
      mayAdminister(group, isOfIssuer) &&
      hasSetup(contents, group) &&
      group.members.some((member) => canSignIn.has(member)),
  );
}

function mayAdminister(group: Group, isOfIssuer: (group: Group) => boolean): boolean {
  return group.properties.has('ServiceAdministrator') && isOfIssuer(group);
}

function maySignIn({ certificates, subjects, disabled }: User): boolean {
  return !disabled && (certificates.length > 0 || subjects.length > 0);
}

function hasSetup({ setups }: RegistryContents, { name }: Group): boolean {
  return setups.some(({ groups }) => groups === undefined || groups.includes(name));
}
