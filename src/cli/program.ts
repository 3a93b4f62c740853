import { Command, Option } from 'commander';
import { version } from '../app/version.js';
import { refuseColour } from './terminal/colour.js';
import { catalogueCommand } from './user/catalogue.commands.js';
import { lookupCommand, searchCommands } from './user/catalogue-search.commands.js';
import { completionCommand } from './user/completion.command.js';
import { controlCommands } from './user/control.commands.js';
import { jobsCommands } from './user/jobs.commands.js';
import { jobReportCommands, jobViewCommands } from './user/job-view.commands.js';
import { chooseLogin } from './user/login-file.js';
import { loginCommands } from './user/login.commands.js';
import { runJobCommand } from './user/run.command.js';
import { shortOptionHint } from './user/script/job-options.js';
import { webhookCommand } from './user/webhook.commands.js';

/** Commands of one heading of the help. */
interface CommandGroup {
  heading: string;
  commands: Command[];
}

/** The commands for users, against any server. */
export function userCommands(): CommandGroup[] {
  const groups = [
    { heading: 'Login:', commands: loginCommands },
    { heading: 'Jobs:', commands: [...jobsCommands, runJobCommand, ...controlCommands] },
    { heading: 'Looking into jobs:', commands: [...jobViewCommands, ...jobReportCommands] },
    {
      heading: 'File catalogue:',
      commands: [...searchCommands, lookupCommand, catalogueCommand],
    },
    { heading: 'Notices:', commands: [webhookCommand] },
  ];
  const leaves = groups.flatMap(({ commands }) => commands).flatMap(leavesOf);
  new Set(leaves).forEach(takeLogin);
  return groups;
}

/** The whole command, with those for administrators last. */
export function programOf(forUsers: CommandGroup[], forAdministrators: Command[]): Command {
  const program = new Command('gridgate')
    .description('One HTTPS and JSON interface to a computing grid')
    .version(version())
    // Before a command it is that of the login; behind `client add` it says what is demanded of the application.
    .enablePositionalOptions()
    .addOption(loginProfile())
    .addOption(loginServer())
    .addOption(noColour())
    .hook('preAction', (command) => choose(command.opts()))
    .configureHelp({ subcommandTerm: (one) => [one.name(), ...one.aliases()].join('|') })
    .exitOverride();
  const heading = 'For administrators, beside the service:';
  for (const group of [...forUsers, { heading, commands: forAdministrators }]) {
    program.commandsGroup(group.heading);
    for (const command of group.commands) program.addCommand(command);
  }
  program.commandsGroup('Help:').addCommand(completionCommand(program)).helpCommand(true);
  inheritSettings(program);
  return program;
}

/** Commands that were made apart take over how errors are handled: in two lines, what is wrong and what to do. */
function inheritSettings(parent: Command): void {
  parent.configureOutput({
    outputError: (text, write) => write(usageFault(text, pathOf(parent))),
  });
  for (const child of parent.commands) {
    child.copyInheritedSettings(parent);
    inheritSettings(child);
  }
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** What commander says of a mistake: `error: …`, and below `(Did you mean …?)` where something is near. */
function usageFault(text: string, path: string): string {
  const [fault = '', nearest] = text.trim().split('\n');
  const meant = /^\(Did you mean (.+)\?\)$/.exec(nearest ?? '')?.[1];
  const hint =
    slurmHint(fault, path) ??
    (meant === undefined ? `\`${path} --help\` shows what there is` : `did you mean ${meant}?`);
  return `gridgate: ${fault.replace(/^error: /, '')}\nhint: ${hint}\n`;
}

/** The hint for a short option of sbatch that stands on the command line. */
function slurmHint(fault: string, path: string): string | undefined {
  if (!/ (?:submit|run)$/.test(path)) return undefined;
  const [, unknown] = /unknown option '(-[a-zA-Z][^']*)'/.exec(fault) ?? [];
  const isFormat = fault.includes("option '-o, --output <format>' argument");
  return isFormat ? shortOptionHint('-o') : unknown && shortOptionHint(unknown);
}

function loginProfile(): Option {
  return new Option('--profile <name>', 'which of several logins to use (GRIDGATE_PROFILE)');
}

function loginServer(): Option {
  return new Option('--server <url>', 'use the login to this server, whatever its profile');
}

function noColour(): Option {
  return new Option('--no-color', 'no colours (as NO_COLOR; FORCE_COLOR wants them)');
}

/** What is given of the login and of colours counts for this run. */
async function choose(options: {
  profile?: string;
  server?: string;
  color?: boolean;
}): Promise<void> {
  if (options.color === false) refuseColour();
  await chooseLogin(options);
}

function leavesOf(command: Command): Command[] {
  return command.commands.length > 0 ? command.commands.flatMap(leavesOf) : [command];
}

/** Commands of users take the choice of the login among their own options, too. */
function takeLogin(command: Command): void {
  const isLogin = command.name() === 'login'; // its --server is the one to log in to
  const options = [loginProfile(), ...(isLogin ? [] : [loginServer()]), noColour()];
  for (const option of options) command.addOption(option.helpGroup('Every command has:'));
  command.hook('preAction', async (leaf) => {
    const { server, ...others } = leaf.opts<{ profile?: string; server?: string }>();
    await choose({ ...others, ...(!isLogin && server !== undefined && { server }) });
  });
}
