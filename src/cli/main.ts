import 'reflect-metadata';
import { Command, CommanderError, Option } from 'commander';
import { Problem } from '#src/kernel/index.js';
import { ConfigurationFault } from '../platform/config/env.js';
import { version } from '../app/version.js';
import type { AdminCommands } from './admin/admin.commands.js';
import { CommandError } from './terminal/command-error.js';
import { refuseColour } from './terminal/colour.js';
import { tell } from './terminal/output.js';
import { arrayCommand } from './user/array.command.js';
import { usageCommand } from './user/usage.command.js';
import { catalogueCommand, DATABASE_WORDS } from './user/catalogue.command.js';
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

/** 128 + SIGPIPE. */
const BROKEN_PIPE = 141;
const VERSION_WORDS = new Set(['--version', '-V']);

/** Exit codes as in docs/command.md. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ConfigurationFault) return 2;
  if (error instanceof Problem) return error.status === 503 ? 3 : error.status < 500 ? 2 : 1;
  return 1;
}

function messageOf(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  return error instanceof Error ? error.message : String(error);
}

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

async function main(): Promise<void> {
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
  const forUsers = [
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
  for (const command of forUsers) takeLogin(command);
  // A user's command does not wait until the whole service is loaded.
  const words = wordsOf(process.argv.slice(2));
  const [word = ''] = words;
  const isForUsers = VERSION_WORDS.has(word) || forUsers.some((command) => command.name() === word);
  const admin = isForUsers ? undefined : await loadAdminCommands();
  for (const command of [...(admin?.commands ?? []), ...forUsers]) program.addCommand(command);
  program.addCommand(completionCommand(program));
  inheritSettings(program);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => void leave(error, admin));
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      for (const line of `gridgate: ${messageOf(error)}`.split('\n')) tell(line);
      process.exitCode = exitCodeOf(error);
    }
  } finally {
    await admin?.close();
  }
}

/** Nobody reads on (`gridgate status | head`): ends quietly, as one whom SIGPIPE ends. */
async function leave(error: NodeJS.ErrnoException, admin?: AdminCommands): Promise<void> {
  if (error.code !== 'EPIPE') tell(`gridgate: standard output cannot be written (${error.code})`);
  await admin?.close();
  process.exit(error.code === 'EPIPE' ? BROKEN_PIPE : 1);
}

/** Words that have always worked on the database go on to do so (decision 0441). */
function wordsOf(words: string[]): string[] {
  const [first, second = ''] = words;
  return first === 'catalogue' && DATABASE_WORDS.has(second) ? ['admin', ...words] : words;
}

async function loadAdminCommands(): Promise<AdminCommands> {
  const { adminCommands } = await import('./admin/admin.commands.js');
  return adminCommands();
}

void main();
