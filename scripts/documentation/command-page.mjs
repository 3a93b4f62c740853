/** The reference of the command, made from the commands themselves: what --help says, on one page. */

/** Options that every command of users has; told once. */
const EVERYWHERE = new Set(['--profile', '--no-color', '--server']);
/** What stands below `admin`, too, is told where it stands first. */
const ONLY_BELOW_ADMIN = 'catalogue';

const cell = (text) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
const code = (text) => `\`${cell(text)}\``;

function choicesOf(option) {
  const said = option.defaultValue === undefined ? '' : JSON.stringify(option.defaultValue);
  const fallback = said === '' || said === '[]' || said === 'false' ? [] : [`default ${said}`];
  const choices = option.argChoices ? [`one of ${option.argChoices.join(', ')}`] : [];
  return [...choices, ...fallback].map((text) => `; ${text}`).join('');
}

function table(head, rows) {
  return rows.length === 0 ? [] : [`| ${head} | Meaning |`, '| --- | --- |', ...rows, ''];
}

function section(command, name, isForUsers) {
  const isOwn = ({ long }) => !(isForUsers && EVERYWHERE.has(long) && name !== 'login');
  const argumentsOf = command.registeredArguments.filter(({ description }) => description);
  return [
    `## gridgate ${name}`,
    '',
    `${command.description()}.`,
    '',
    '```text',
    `gridgate ${name} ${command.usage()}`,
    '```',
    '',
    ...table(
      'Argument',
      argumentsOf.map((argument) => `| ${code(argument.name())} | ${cell(argument.description)} |`),
    ),
    ...table(
      'Option',
      command.options
        .filter((option) => isOwn(option) && !option.hidden)
        .map(
          (option) =>
            `| ${code(option.flags)} | ${cell(option.description)}${cell(choicesOf(option))} |`,
        ),
    ),
  ];
}

function sectionsOf(command, isForUsers, before = '') {
  const name = `${before} ${command.name()}`.trim();
  const below = command.commands.filter(
    (child) => name !== 'admin' || child.name() === ONLY_BELOW_ADMIN,
  );
  return [
    ...section(command, name, isForUsers),
    ...below.flatMap((child) => sectionsOf(child, isForUsers, name)),
  ];
}

export async function commandPage() {
  const { programOf, userCommands } = await import('../../dist/src/cli/program.js');
  const { adminCommands } = await import('../../dist/src/cli/admin/admin.commands.js');
  const groups = userCommands();
  const forUsers = groups.flatMap(({ commands }) => commands);
  const forAdministrators = adminCommands().commands;
  programOf(groups, forAdministrators);
  const listed = (commands, isForUsers) =>
    [...commands]
      .sort((a, b) => a.name().localeCompare(b.name()))
      .flatMap((command) => sectionsOf(command, isForUsers));
  return [
    '# Every command and option',
    '',
    'Generated from the commands of `src/cli`; do not edit. How they are used is told in [command.md](command.md).',
    '',
    'Commands for users come first; each of them also has `--profile NAME`, `--server URL` (which login to use) and `--no-color`. Those for',
    'administrators follow, from `admin` on; they work beside the service, on its database.',
    '',
    ...listed(forUsers, true),
    ...listed(forAdministrators, false),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}
