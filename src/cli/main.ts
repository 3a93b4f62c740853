import 'reflect-metadata';
import { Command, CommanderError } from 'commander';
import { Problem } from '#src/kernel/index.js';
import { ConfigurationFault } from '../platform/index.js';
import { version } from '../version.js';
import { CommandError } from './command-error.js';
import { CliContext } from './context.js';
import { catalogueCommand } from './catalogue.command.js';
import { clientCommand } from './client.command.js';
import { jobsCommand } from './jobs.command.js';
import { say } from './output.js';
import { keysCommand } from './keys.command.js';
import { registryCommand } from './registry.command.js';
import { catalogueCommands } from './user/catalogue.commands.js';
import { completionCommand } from './user/completion.command.js';
import { jobCommands } from './user/jobs.commands.js';
import { loginCommands } from './user/login.command.js';

/** Exit codes: 0 done, 1 failed, 2 bad input, 3 the service or database is away. */
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

/** `gridgate migrate`: the schema of this version, before the first server of it starts. */
function migrateCommand(context: CliContext): Command {
  return new Command('migrate')
    .description('bring the database to the schema of this version')
    .action(async () => {
      await context.application(); // connecting migrates
      say('the database has the schema of this version');
    });
}

/** Commands that were made apart do not take over how errors are handled. */
function inheritSettings(parent: Command): void {
  for (const child of parent.commands) {
    child.copyInheritedSettings(parent);
    inheritSettings(child);
  }
}

async function main(): Promise<void> {
  const context = new CliContext();
  const program = new Command('gridgate')
    .description('One HTTPS and JSON interface to a computing grid')
    .version(version())
    .showHelpAfterError()
    .exitOverride();
  program
    .command('serve')
    .description('run the server (the same as npm start)')
    .action(async () => {
      await import('../main.js');
      await new Promise(() => undefined); // main.js ends the process
    });
  program.addCommand(registryCommand(context));
  program.addCommand(clientCommand(context));
  program.addCommand(keysCommand(context));
  program.addCommand(jobsCommand(context));
  program.addCommand(catalogueCommand(context));
  program.addCommand(migrateCommand(context));
  const forUsers = [...loginCommands(), ...jobCommands(), ...catalogueCommands()];
  for (const command of forUsers) program.addCommand(command);
  program.addCommand(completionCommand(program));
  inheritSettings(program);
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      process.stderr.write(`gridgate: ${messageOf(error)}\n`);
      process.exitCode = exitCodeOf(error);
    }
  } finally {
    await context.close();
  }
}

void main();
