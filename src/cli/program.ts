import { Command, Option } from 'commander';
import { version } from '../app/version.js';
import { refuseColour } from './terminal/colour.js';
import { arrayCommand } from './user/array.command.js';
import { usageCommand } from './user/usage.command.js';
import { catalogueCommand } from './user/catalogue.command.js';
import { catalogueCommands } from './user/catalogue.commands.js';
import { completionCommand } from './user/completion.command.js';
import { controlCommands } from './user/control.commands.js';
import { outputCommand } from './user/output.command.js';
import { statusCommand } from './user/status.command.js';
import { submitCommand } from './user/submit.command.js';
import { jobDetailCommands } from './user/job-detail.commands.js';
import { jobViewCommands } from './user/job-view.commands.js';
import { watchCommands } from './user/watch.command.js';
import { chooseLogin } from './user/login-file.js';
import { lookupCommand } from './user/lookup.command.js';
import { loginCommands } from './user/login.command.js';
import { tokenCommand } from './user/token.command.js';
import { webhookCommand } from './user/webhook.command.js';

/** Commands that were made apart do not take over how errors are handled. */
function inheritSettings(parent: Command): void {
  for (const child of parent.commands) {
    child.copyInheritedSettings(parent);
    inheritSettings(child);
  }
}

function loginProfile(): Option {
  return new Option(
    '--profile <name>',
    'which login to use, where there are several (GRIDGATE_PROFILE)',
  );
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

/** Commands of users take the choice of the login among their own options, too. */
function takeLogin(command: Command): void {
  if (command.commands.length > 0) return command.commands.forEach(takeLogin);
  const isLogin = command.name() === 'login'; // its --server is the one to log in to
  command.addOption(loginProfile()).addOption(noColour());
  if (!isLogin) command.addOption(loginServer());
  command.hook('preAction', async (leaf) => {
    const { server, ...others } = leaf.opts<{ profile?: string; server?: string }>();
    await choose({ ...others, ...(!isLogin && server !== undefined && { server }) });
  });
}

/** The commands for users, against any server. */
export function userCommands(): Command[] {
  const commands = [
    ...loginCommands(),
    submitCommand(),
    statusCommand(),
    outputCommand(),
    ...controlCommands(),
    ...jobViewCommands(),
    ...jobDetailCommands(),
    arrayCommand(),
    usageCommand(),
    ...watchCommands(),
    ...catalogueCommands(),
    catalogueCommand(),
    tokenCommand(),
    lookupCommand(),
    webhookCommand(),
  ];
  for (const command of commands) takeLogin(command);
  return commands;
}

/** The whole command, of the commands that it shall have. */
export function programOf(commands: Command[]): Command {
  const program = new Command('gridgate')
    .description('One HTTPS and JSON interface to a computing grid')
    .version(version())
    // Before a command it is that of the login; behind `client add` it says what is demanded of the application.
    .enablePositionalOptions()
    .addOption(loginProfile())
    .addOption(loginServer())
    .addOption(noColour())
    .hook('preAction', (command) => choose(command.opts()))
    .showHelpAfterError()
    .exitOverride();
  for (const command of commands) program.addCommand(command);
  program.addCommand(completionCommand(program));
  inheritSettings(program);
  return program;
}
