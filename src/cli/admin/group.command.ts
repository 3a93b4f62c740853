import { Command } from 'commander';
import {
  RegistryService,
  withChangedEntry,
  withEntry,
  withMember,
  withoutGroup,
  withoutMember,
  type Group,
  type RegistryContents,
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
import { changeSections } from './registry-change.js';

interface GroupOptions extends Printing {
  vo?: string;
  property?: string[];
  member?: string[];
}

/** `gridgate group list|show|add|change|remove|add-member|remove-member`: groups and who is in them. */
export function groupCommand(context: CliContext): Command {
  return new Command('group')
    .description('groups and who is in them; one change at a time, in one step')
    .addCommand(listCommand(context))
    .addCommand(showCommand(context))
    .addCommand(addCommand(context))
    .addCommand(changeCommand(context))
    .addCommand(removeCommand(context))
    .addCommand(memberCommand(context, 'add-member', 'take users into a group', withMember))
    .addCommand(
      memberCommand(
        context,
        'remove-member',
        'take users out of a group; their tokens for it end',
        withoutMember,
      ),
    );
}

async function groupsOf(context: CliContext): Promise<readonly Group[]> {
  return (await (await context.application()).get(RegistryService).current()).contents.groups;
}

/** As people and programs read it: a set is a list. */
function plain(group: Group): Omit<Group, 'properties'> & { properties: string[] } {
  return { ...group, properties: [...group.properties] };
}

function listCommand(context: CliContext): Command {
  return new Command('list')
    .description('all groups')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (options: Printing) => {
      const groups = (await groupsOf(context)).map(plain);
      await present(options, {
        value: { groups },
        heading: ['GROUP', 'VO', 'MEMBERS', 'PROPERTIES'],
        rows: groups.map(({ name, vo = '', members, properties }) => [
          ...[name, vo, String(members.length), properties.join(' ')],
        ]),
        names: groups.map(({ name }) => name),
      });
    });
}

function showCommand(context: CliContext): Command {
  return new Command('show')
    .description('one group with its members')
    .argument('<name>', 'name of the group')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (name: string, options: Printing) => {
      const group = (await groupsOf(context)).find((one) => one.name === name);
      if (!group) throw new CommandError(`there is no group ${name}`, 2);
      const value = plain(group);
      const lines = (): string[] =>
        Object.entries(value).map(([key, member]: [string, unknown]) => {
          if (Array.isArray(member)) return `${key}: ${member.join(' ')}`;
          return `${key}: ${typeof member === 'string' ? member : JSON.stringify(member)}`;
        });
      await show(options, value, lines, [...group.members]);
    });
}

function addCommand(context: CliContext): Command {
  return membersOf(new Command('add').description('a new group').argument('<name>', 'its name'))
    .argument('[user...]')
    .option('-m, --member <user>', 'a member; may be repeated', collect)
    .action((name: string, users: string[], { member, ...options }: GroupOptions) => {
      if (users.length > 0) {
        const text = `group add makes a new group; take users into one with gridgate group add-member ${name} ${users.join(' ')}`;
        throw new CommandError(text, 2);
      }
      const body = { ...bodyOf(options), members: member };
      return changeSections(context, options, (it) => withEntry(it, 'groups', name, body));
    });
}

function changeCommand(context: CliContext): Command {
  const command = new Command('change')
    .description('change what is said of a group; what is left out stays')
    .argument('<name>', 'name of the group');
  return membersOf(command).action((name: string, options: GroupOptions) =>
    changeSections(context, options, (it) => withChangedEntry(it, 'groups', name, bodyOf(options))),
  );
}

/** What is said of a group beside its members. */
function membersOf(command: Command): Command {
  return command
    .option('--vo <name>', 'its virtual organisation; an empty one takes it away')
    .option(
      '-p, --property <name>',
      'what it may do, NormalUser for example; may be repeated',
      collect,
    )
    .addOption(outputOption())
    .addOption(jsonOption());
}

/** What the file would say of the group, of what was given. */
function bodyOf({ vo, property }: GroupOptions): object {
  return { vo: vo === '' ? null : vo, properties: property };
}

function removeCommand(context: CliContext): Command {
  return new Command('remove')
    .description('remove a group, also from the setups that name it; jobs and files stay')
    .argument('<name>', 'name of the group')
    .addOption(outputOption())
    .addOption(jsonOption())
    .option('--force', 'also one that has members')
    .action((name: string, options: Printing & { force?: boolean }) =>
      changeSections(context, options, (contents) => {
        const length = contents.groups.find((group) => group.name === name)?.members.length ?? 0;
        if (length === 0) return withoutGroup(contents, name);
        if (!options.force) {
          throw new CommandError(`${name} has ${length} member(s); --force removes it anyway`, 2);
        }
        const groups = withChangedEntry(contents, 'groups', name, { members: [] });
        return withoutGroup({ ...contents, ...groups }, name);
      }),
    );
}

function memberCommand(
  context: CliContext,
  name: string,
  description: string,
  change: typeof withMember,
): Command {
  return new Command(name)
    .description(description)
    .argument('<group>', 'name of the group')
    .argument('<user...>', 'names of users')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((group: string, users: string[], options: Printing) =>
      changeSections(context, options, (contents) =>
        users.reduce<RegistryContents>(
          (before, user) => ({ ...before, ...change(before, group, user) }),
          contents,
        ),
      ),
    );
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
