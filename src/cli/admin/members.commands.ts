import type { Command } from 'commander';
import {
  canonicalDn,
  readEntry,
  RegistryService,
  withAdministrator,
  withChangedEntry,
  withDisabled,
  withEntry,
  withMember,
  withoutGroup,
  withoutMember,
  withoutUser,
  type Group,
  type RegistryContents,
  type User,
} from '../../registry/index.js';
import { group, type OptionsOf } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { listOf, thing, type Shown } from '../terminal/output-format.js';
import { given } from '../terminal/reading.js';
import { onService, type CliContext } from './context.js';
import { changeRegistry, entryOf } from './registry-change.js';

const NAME = ['<name>', 'name of the user'] as const;
const GROUP = ['<name>', 'name of the group'] as const;
/** What `--subject` takes. */
const ACCOUNT = 'account at an identity provider: its issuer, a blank and the subject there';

const USER_OPTIONS = [
  ['-c, --certificate <dn>', 'subject of a certificate', { repeated: true }],
  ['--issuer <dn>', 'CA that must have signed them'],
  ['-s, --subject <account>', ACCOUNT, { repeated: true }],
  ['-g, --group <name>', 'group to be a member of', { repeated: true }],
  ['--full-name <text>', 'for people'],
  ['--email <address>', 'e-mail address'],
  [
    '--administrator',
    'also a member of the first group with ServiceAdministrator; made with a setup where there is none, for a new site',
  ],
] as const;
type UserOptions = OptionsOf<typeof USER_OPTIONS>;

const args = [
  ['<user>', 'name of the user'],
  ['<dn>', 'subject of the certificate'],
] as const;
const certificateCommand = group('certificate', 'certificates of a user', [
  onService('add', 'a further certificate of a user', {
    args,
    options: [['--issuer <dn>', 'CA that must have signed it']],
    show: (service, user, dn, { issuer }) =>
      changeRegistry(service, (it) => {
        const { certificates } = entryOf(it.users, user, 'user');
        const all = [...certificates, given({ subject: dn, issuer })];
        return withChangedEntry(it, 'users', user, { certificates: all });
      }),
  }),
  onService('remove', 'a certificate that is not of the user any more', {
    args,
    show: (service, user, dn) =>
      changeRegistry(service, (it) => {
        const { certificates } = entryOf(it.users, user, 'user');
        const place = certificates.findIndex(({ subject }) => subject === spelled(dn));
        if (place < 0) throw new CommandError(`${user} has no certificate ${dn}`, 2);
        const left = certificates.toSpliced(place, 1);
        return withChangedEntry(it, 'users', user, { certificates: left });
      }),
  }),
]);

/** `gridgate user list|show|add|change|disable|enable|remove|certificate`: who may use the service. */
export const userCommand = group('user', 'who may use the service', [
  onService('list', 'all users', {
    options: [['-g, --group <name>', 'only members of this group']],
    show: async (service, { group: only }) => {
      const users = await usersOf(service);
      const found = users.filter(({ groups }) => only === undefined || groups.includes(only));
      return listOf(
        { users: found },
        found,
        {
          USER: 'name',
          STATE: ({ disabled }) => (disabled ? 'disabled' : ''),
          GROUPS: 'groups',
          CERTIFICATE: ({ certificates: [first] }) => first?.subject,
        },
        { NAME: 'fullName', 'E-MAIL': 'email' },
      );
    },
  }),
  onService('show', 'one user', {
    args: [NAME],
    show: async (service, name) => thing(entryOf(await usersOf(service), name, 'user'), [name]),
  }),
  onService('add', 'a new user; nobody signs in as one without a certificate or a subject', {
    args: [NAME],
    options: USER_OPTIONS,
    show: addUser,
  }),
  onService(
    'change',
    'change what is said of a user; what is left out stays, an empty text takes away',
    {
      args: [NAME],
      options: [
        ['--full-name <text>', 'for people'],
        ['--email <address>', 'e-mail address'],
        ['-s, --subject <account>', `${ACCOUNT}; in place of all others`, { repeated: true }],
      ],
      show: (service, name, { fullName, email, subject }) => {
        const subjects = subject.filter((text) => text !== '').map(subjectOf);
        const changes = {
          fullName: fullName === '' ? null : fullName,
          email: email === '' ? null : email,
          ...(subject.length > 0 && { subjects }),
        };
        return changeRegistry(service, (it) => withChangedEntry(it, 'users', name, changes));
      },
    },
  ),
  onService('disable', 'no token of the user is good any more; the groups stay', {
    args: [NAME],
    show: (service, name) => changeRegistry(service, (it) => withDisabled(it, name, true)),
  }),
  onService('enable', 'a disabled user may do again what the groups allow', {
    args: [NAME],
    show: (service, name) => changeRegistry(service, (it) => withDisabled(it, name, false)),
  }),
  onService('remove', 'remove a user from the registry and from all groups; jobs and files stay', {
    args: [NAME],
    show: (service, name) => changeRegistry(service, (it) => withoutUser(it, name)),
  }),
  certificateCommand,
]);

/** Users with the names of their groups. */
async function usersOf(service: CliContext): Promise<(User & { groups: string[] })[]> {
  const { contents } = await (await service.get(RegistryService)).current();
  return contents.users.map((user) => {
    const groups = contents.groups.filter(({ members }) => members.includes(user.name));
    return { ...user, groups: groups.map(({ name }) => name) };
  });
}

/** Repeated, `--administrator` changes nothing. Throws CommandError where the file of GRID_REGISTRY is still to be loaded into the empty registry. */
async function addUser(service: CliContext, name: string, options: UserOptions): Promise<Shown> {
  const body = bodyOf(options);
  if (!options.administrator) {
    return changeRegistry(service, (it) =>
      inGroups({ ...it, ...withEntry(it, 'users', name, body) }, name, options.group),
    );
  }
  const registry = await (await service.get(RegistryService)).current();
  const { registryFile: file } = service.config;
  return changeRegistry(service, (it) => {
    if (file !== undefined && it.users.length === 0 && it.groups.length === 0) {
      const text =
        'the registry is empty, and the file of GRID_REGISTRY would not be loaded any more';
      const hint = `load it first (gridgate registry load ${file}), or leave GRID_REGISTRY out`;
      throw new CommandError(text, 2, hint);
    }
    const user = readEntry('users', name, body);
    const changed = withAdministrator(it, user, (one) => registry.isOfIssuer(one));
    return inGroups({ ...it, ...changed }, name, options.group);
  });
}

/** What the file would say of the user. */
function bodyOf({ certificate, subject, issuer, fullName, email }: UserOptions): object {
  return {
    certificates: certificate.map((dn) => given({ subject: dn, issuer })),
    subjects: subject.map(subjectOf),
    fullName,
    email,
  };
}

function subjectOf(text: string): { issuer: string; sub: string } {
  const [issuer = '', sub = '', ...rest] = text.split(' ');
  if (issuer !== '' && sub !== '' && rest.length === 0) return { issuer, sub };
  const problem = `--subject ${text} is not an issuer, a blank and the subject there`;
  throw new CommandError(problem, 2, 'give one such as "https://idp.example.org 7d3f"');
}

function inGroups(contents: RegistryContents, user: string, groups: string[]): RegistryContents {
  return groups.reduce((it, name) => ({ ...it, ...withMember(it, name, user) }), contents);
}

/** The DN as the registry spells it. Throws CommandError. */
function spelled(dn: string): string {
  try {
    return canonicalDn(dn);
  } catch (error) {
    throw new CommandError(`${dn} is no distinguished name: ${(error as Error).message}`, 2);
  }
}

const GROUP_OPTIONS = [
  ['--vo <name>', 'its virtual organisation; an empty one takes it away'],
  ['-p, --property <name>', 'what it may do, NormalUser for example', { repeated: true }],
] as const;

/** What the file would say of the group, of what was given. */
function groupBodyOf({ vo, property }: OptionsOf<typeof GROUP_OPTIONS>): object {
  return { vo: vo === '' ? null : vo, ...(property.length > 0 && { properties: property }) };
}

/** `gridgate group list|show|add|change|remove|add-member|remove-member`: groups and who is in them. */
export const groupCommand = group('group', 'groups and who is in them', [
  onService('list', 'all groups', {
    show: async (service) => {
      const groups = await groupsOf(service);
      return listOf({ groups }, groups, {
        GROUP: 'name',
        VO: 'vo',
        MEMBERS: ({ members }) => members.length,
        PROPERTIES: 'properties',
      });
    },
  }),
  onService('show', 'one group with its members', {
    args: [GROUP],
    show: async (service, name) => {
      const found = entryOf(await groupsOf(service), name, 'group');
      return thing(found, found.members);
    },
  }),
  onService('add', 'a new group', {
    args: [
      ['<name>', 'its name'],
      ['[user...]', ''],
    ],
    options: [...GROUP_OPTIONS, ['-m, --member <user>', 'a member', { repeated: true }]],
    show: (service, name, users, { member, ...options }) => {
      if (users.length > 0) {
        const hint = `take users into one with gridgate group add-member ${name} ${users.join(' ')}`;
        throw new CommandError('group add makes a new group', 2, hint);
      }
      const body = { ...groupBodyOf(options), ...(member.length > 0 && { members: member }) };
      return changeRegistry(service, (it) => withEntry(it, 'groups', name, body));
    },
  }),
  onService('change', 'change what is said of a group; what is left out stays', {
    args: [GROUP],
    options: GROUP_OPTIONS,
    show: (service, name, options) => {
      const changes = groupBodyOf(options);
      return changeRegistry(service, (it) => withChangedEntry(it, 'groups', name, changes));
    },
  }),
  onService('remove', 'remove a group, also from the setups that name it; jobs and files stay', {
    args: [GROUP],
    options: [['--force', 'also one that has members']],
    show: (service, name, { force }) =>
      changeRegistry(service, (it) => {
        const length = it.groups.find((one) => one.name === name)?.members.length ?? 0;
        if (length === 0) return withoutGroup(it, name);
        if (!force) {
          const hint = '--force removes it anyway';
          throw new CommandError(`${name} has ${length} member(s)`, 2, hint);
        }
        const groups = withChangedEntry(it, 'groups', name, { members: [] });
        return withoutGroup({ ...it, ...groups }, name);
      }),
  }),
  memberCommand('add-member', 'take users into a group', withMember),
  memberCommand(
    'remove-member',
    'take users out of a group; their tokens for it end',
    withoutMember,
  ),
]);

/** Groups as people and programs read them: a set is a list. */
async function groupsOf(
  service: CliContext,
): Promise<(Omit<Group, 'properties'> & { properties: string[] })[]> {
  const { contents } = await (await service.get(RegistryService)).current();
  return contents.groups.map((one) => ({ ...one, properties: [...one.properties] }));
}

function memberCommand(name: string, description: string, change: typeof withMember): Command {
  return onService(name, description, {
    args: [
      ['<group>', 'name of the group'],
      ['<user...>', 'names of users'],
    ],
    show: (service, of, users) =>
      changeRegistry(service, (contents) =>
        users.reduce<RegistryContents>(
          (it, user) => ({ ...it, ...change(it, of, user) }),
          contents,
        ),
      ),
  });
}
