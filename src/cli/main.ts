import 'reflect-metadata';
import { Command, CommanderError, Option } from 'commander';
import { Problem } from '#src/kernel/index.js';
import { ConfigurationFault } from '../platform/config/env.js';
import { version } from '../app/version.js';
import type { AdminCommands } from './admin/admin.commands.js';
import { CommandError } from './terminal/command-error.js';
import { tell } from './terminal/output.js';
import { arrayCommand } from './user/array.command.js';
import { catalogueCommands } from './user/catalogue.commands.js';
import { completionCommand } from './user/completion.command.js';
import { jobCommands } from './user/jobs.commands.js';
import { jobDetailCommands } from './user/job-detail.commands.js';
import { jobViewCommands } from './user/job-view.commands.js';
import { watchCommands } from './user/watch.command.js';
import { chooseProfile } from './user/login-file.js';
import { loginCommands } from './user/login.command.js';
import { webhookCommand } from './user/webhook.command.js';

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

/** Commands of users take the profile of the login among their own options, too. */
function takeProfile(command: Command): void {
  if (command.commands.length > 0) command.commands.forEach(takeProfile);
  else {
    command
      .addOption(loginProfile())
      .hook('preAction', (leaf) => chooseProfile(leaf.opts<{ profile?: string }>().profile));
  }
}

async function main(): Promise<void> {
  const program = new Command('gridgate')
    .description('One HTTPS and JSON interface to a computing grid')
    .version(version())
    // Before a command it is that of the login; behind `client add` it says what is demanded of the application.
    .enablePositionalOptions()
    .addOption(loginProfile())
    .hook('preAction', (command) => chooseProfile(command.opts<{ profile?: string }>().profile))
    .showHelpAfterError()
    .exitOverride();
  const forUsers = [
    ...loginCommands(),
    ...jobCommands(),
    ...jobViewCommands(),
    ...jobDetailCommands(),
    arrayCommand(),
    ...watchCommands(),
    ...catalogueCommands(),
    webhookCommand(),
  ];
  for (const command of forUsers) takeProfile(command);
  // A user's command does not wait until the whole service is loaded.
  const [, , word = ''] = process.argv;
  const isForUsers = VERSION_WORDS.has(word) || forUsers.some((command) => command.name() === word);
  const admin = isForUsers ? undefined : await loadAdminCommands();
  for (const command of [...(admin?.commands ?? []), ...forUsers]) program.addCommand(command);
  program.addCommand(completionCommand(program));
  inheritSettings(program);
  try {
    await program.parseAsync(process.argv);
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

async function loadAdminCommands(): Promise<AdminCommands> {
  const { adminCommands } = await import('./admin/admin.commands.js');
  return adminCommands();
}

void main();
