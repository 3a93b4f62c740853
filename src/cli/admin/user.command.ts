import { Command } from 'commander';
import {
  canonicalDn,
  RegistryService,
  withDisabled,
  withoutUser,
  type Group,
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
import { addEntry, changeRegistry, changeSections, entryOf, takeOut } from './registry-change.js';

interface AddOptions extends Printing {
  certificate: string[];
  issuer?: string;
  group: string[];
  fullName?: string;
  email?: string;
}

/** `gridgate user list|show|add|remove|disable|enable|certificate`: who may use the service, one change at a time. */
export function userCommand(context: CliContext): Command {
  return new Command('user')
    .description('who may use the service; one change at a time, in one step')
    .addCommand(listCommand(context))
    .addCommand(showCommand(context))
    .addCommand(addCommand(context))
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
        heading: ['USER', 'GROUPS', 'CERTIFICATE', 'NAME', 'E-MAIL'],
        rows: found.map(({ name, groups: of, certificates: [first], fullName, email }) => [
          ...[name, of.join(' '), first?.subject ?? '', fullName ?? '', email ?? ''],
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
    .option('-g, --group <name>', 'group to be a member of; may be repeated', collect, [])
    .option('--full-name <text>', 'for people')
    .option('--email <address>', 'e-mail address')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((name: string, options: AddOptions) =>
      changeRegistry(context, options, (document) => {
        const { issuer, fullName, email } = options;
        const entry: UserEntry = {
          certificates: options.certificate.map((subject) =>
            issuer === undefined ? subject : { subject, issuer },
          ),
          ...(fullName !== undefined && { fullName }),
          ...(email !== undefined && { email }),
        };
        addEntry(document.users, name, entry);
        for (const group of options.group) {
          entryOf(document.groups, group, 'group').members.push(name);
        }
      }),
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

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
