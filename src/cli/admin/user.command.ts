import { Command } from 'commander';
import {
  canonicalDn,
  readEntry,
  RegistryService,
  withAdministrator,
  withChangedEntry,
  withDisabled,
  withEntry,
  withMember,
  withoutUser,
  type Group,
  type RegistryContents,
  type User,
  type UserEntry,
} from '../../registry/index.js';
import { CommandError } from '../terminal/command-error.js';
import {
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';
import type { CliContext } from './context.js';
import { changeRegistry, changeSections, entryOf, takeOut } from './registry-change.js';

/** What `--subject` takes. */
const ACCOUNT =
  'account at an identity provider: its issuer, a blank and the subject there; may be repeated';

interface AddOptions extends Printing {
  certificate: string[];
  issuer?: string;
  group: string[];
  fullName?: string;
  email?: string;
  subject: string[];
  administrator?: boolean;
}

/** `gridgate user list|show|add|change|remove|disable|enable|certificate`: who may use the service, one change at a time. */
export function userCommand(context: CliContext): Command {
  return new Command('user')
    .description('who may use the service; one change at a time, in one step')
    .addCommand(listCommand(context))
    .addCommand(showCommand(context))
    .addCommand(addCommand(context))
    .addCommand(changeCommand(context))
    .addCommand(
      setDisabledCommand(
        context,
        'disable',
        'no token of the user is good any more; the groups stay',
      ),
    )
    .addCommand(
      setDisabledCommand(context, 'enable', 'a disabled user may do again what the groups allow'),
    )
    .addCommand(removeCommand(context))
    .addCommand(certificateCommand(context));
}

async function contents(
  context: CliContext,
): Promise<{ users: readonly User[]; groups: readonly Group[] }> {
  return (await (await context.application()).get(RegistryService).current()).contents;
}

function groupsOf(user: User, groups: readonly Group[]): string[] {
  return groups.filter(({ members }) => members.includes(user.name)).map(({ name }) => name);
}

function listCommand(context: CliContext): Command {
  return new Command('list')
    .description('all users')
    .option('-g, --group <name>', 'only members of this group')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: Printing & { group?: string }) => {
      const { users, groups } = await contents(context);
      const { group } = options;
      const found = users
        .map((user) => ({ ...user, groups: groupsOf(user, groups) }))
        .filter((user) => group === undefined || user.groups.includes(group));
      await present(options, {
        value: { users: found },
        heading: ['USER', 'STATE', 'GROUPS', 'CERTIFICATE', 'NAME', 'E-MAIL'],
        rows: found.map(({ name, disabled, groups: of, certificates: [first], ...more }) => [
          ...[name, disabled ? 'disabled' : '', of.join(' '), first?.subject ?? ''],
          ...[more.fullName ?? '', more.email ?? ''],
        ]),
        names: found.map(({ name }) => name),
        wide: 2,
      });
    });
}

function showCommand(context: CliContext): Command {
  return new Command('show')
    .description('one user')
    .argument('<name>', 'name of the user')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (name: string, options: Printing) => {
      const { users, groups } = await contents(context);
      const user = users.find((one) => one.name === name);
      if (!user) throw new CommandError(`there is no user ${name}`, 2);
      const value = { ...user, groups: groupsOf(user, groups) };
      const lines = (): string[] =>
        Object.entries(value).map(([key, member]: [string, unknown]) => {
          return `${key}: ${typeof member === 'string' ? member : JSON.stringify(member)}`;
        });
      await show(options, value, lines, [name]);
    });
}

function addCommand(context: CliContext): Command {
  return new Command('add')
    .description(
      'a new user; without a certificate or a subject at an identity provider nobody signs in as one',
    )
    .argument('<name>', 'name of the user')
    .option('-c, --certificate <dn>', 'subject of a certificate; may be repeated', collect, [])
    .option('--issuer <dn>', 'CA that must have signed them')
    .option('-s, --subject <account>', ACCOUNT, collect, [])
    .option('-g, --group <name>', 'group to be a member of; may be repeated', collect, [])
    .option('--full-name <text>', 'for people')
    .option('--email <address>', 'e-mail address')
    .option(
      '--administrator',
      'also a member of the first group with ServiceAdministrator; made with a setup where there is none, for a new site',
    )
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((name: string, options: AddOptions) =>
      options.administrator
        ? addAdministrator(context, name, options)
        : changeSections(context, options, (before) =>
            inGroups(
              { ...before, ...withEntry(before, 'users', name, bodyOf(options)) },
              name,
              options.group,
            ),
          ),
    );
}

function changeCommand(context: CliContext): Command {
  return new Command('change')
    .description('change what is said of a user; what is left out stays, an empty text takes away')
    .argument('<name>', 'name of the user')
    .option('--full-name <text>', 'for people')
    .option('--email <address>', 'e-mail address')
    .option('-s, --subject <account>', `${ACCOUNT}; in place of all others`, collect)
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((name: string, options: Printing & Partial<AddOptions>) => {
      const { fullName, email, subject } = options;
      const changes = {
        fullName: fullName === '' ? null : fullName,
        email: email === '' ? null : email,
        subjects: subject?.filter((text) => text !== '').map(subjectOf),
      };
      return changeSections(context, options, (it) => withChangedEntry(it, 'users', name, changes));
    });
}

/** Repeated, it changes nothing. Throws CommandError where the file of GRID_REGISTRY is still to be loaded into the empty registry. */
async function addAdministrator(
  context: CliContext,
  name: string,
  options: AddOptions,
): Promise<void> {
  const registry = await (await context.application()).get(RegistryService).current();
  const { registryFile: file } = context.config;
  await changeSections(context, options, (before) => {
    if (file !== undefined && before.users.length === 0 && before.groups.length === 0) {
      const text = `the registry is empty, and the file of GRID_REGISTRY would not be loaded any more: load it first (gridgate registry load ${file}), or leave GRID_REGISTRY out`;
      throw new CommandError(text, 2);
    }
    const user = readEntry('users', name, bodyOf(options));
    const changed = withAdministrator(before, user, (group) => registry.isOfIssuer(group));
    return inGroups({ ...before, ...changed }, name, options.group);
  });
}

/** What the file would say of the user. */
function bodyOf({ certificate, subject, issuer, fullName, email }: AddOptions): object {
  return {
    certificates: certificate.map((dn) => (issuer === undefined ? dn : { subject: dn, issuer })),
    subjects: subject.map(subjectOf),
    fullName,
    email,
  };
}

function subjectOf(text: string): { issuer: string; sub: string } {
  const [issuer = '', sub = '', ...rest] = text.split(' ');
  if (issuer !== '' && sub !== '' && rest.length === 0) return { issuer, sub };
  const problem = `--subject ${text} is not an issuer, a blank and the subject there, such as "https://idp.example.org 7d3f"`;
  throw new CommandError(problem, 2);
}

function inGroups(contents: RegistryContents, user: string, groups: string[]): RegistryContents {
  return groups.reduce(
    (before, group) => ({ ...before, ...withMember(before, group, user) }),
    contents,
  );
}

function setDisabledCommand(
  context: CliContext,
  name: 'disable' | 'enable',
  description: string,
): Command {
  return new Command(name)
    .description(description)
    .argument('<name>', 'name of the user')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((user: string, options: Printing) =>
      changeSections(context, options, (contents) =>
        withDisabled(contents, user, name === 'disable'),
      ),
    );
}

function removeCommand(context: CliContext): Command {
  return new Command('remove')
    .description('remove a user from the registry and from all groups; jobs and files stay')
    .argument('<name>', 'name of the user')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((name: string, options: Printing) =>
      changeSections(context, options, (contents) => withoutUser(contents, name)),
    );
}

function certificateCommand(context: CliContext): Command {
  const verb = (name: string, description: string): Command =>
    new Command(name)
      .description(description)
      .argument('<user>', 'name of the user')
      .argument('<dn>', 'subject of the certificate')
      .addOption(outputOption())
      .addOption(jsonOption());
  const add = verb('add', 'a further certificate of a user')
    .option('--issuer <dn>', 'CA that must have signed it')
    .action((user: string, dn: string, options: Printing & { issuer?: string }) =>
      changeRegistry(context, options, (document) => {
        const { issuer } = options;
        const { certificates } = entryOf(document.users, user, 'user');
        certificates.push(issuer === undefined ? dn : { subject: dn, issuer });
      }),
    );
  const remove = verb('remove', 'a certificate that is not of the user any more').action(
    (user: string, dn: string, options: Printing) =>
      changeRegistry(context, options, (document) => {
        const { certificates } = entryOf(document.users, user, 'user');
        const isIt = (one: UserEntry['certificates'][number]): boolean =>
          (typeof one === 'string' ? one : one.subject) === spelled(dn);
        if (takeOut(certificates, isIt)) return;
        throw new CommandError(`${user} has no certificate ${dn}`, 2);
      }),
  );
  return new Command('certificate')
    .description('certificates of a user')
    .addCommand(add)
    .addCommand(remove);
}

/** The DN as the registry spells it. Throws CommandError. */
function spelled(dn: string): string {
  try {
    return canonicalDn(dn);
  } catch (error) {
    throw new CommandError(`${dn} is no distinguished name: ${(error as Error).message}`, 2);
  }
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
