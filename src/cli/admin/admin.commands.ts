import { Command } from 'commander';
import { catalogueCommand } from './catalogue.command.js';
import { auditCommand } from './audit.command.js';
import { groupCommand } from './group.command.js';
import { userCommand } from './user.command.js';
import { clientCommand } from './client.command.js';
import { CliContext } from './context.js';
import { doctorCommand } from './doctor.command.js';
import { jobsCommand } from './jobs.command.js';
import { keysCommand } from './keys.command.js';
import { sharesCommand } from './shares.command.js';
import { siteCommand } from './site.command.js';
import { say } from '../terminal/output.js';
import { registryCommand } from './registry.command.js';

/** The commands that work on the service's database, and what ends them. */
export interface AdminCommands {
  commands: Command[];
  close(): Promise<void>;
}

/** Makes the administrators' commands; they share one context. */
export function adminCommands(): AdminCommands {
  const context = new CliContext();
  const admin = new Command('admin').description(
    'all commands for administrators; `gridgate admin catalogue` works on the database',
  );
  for (const command of [...made(context), catalogueCommand(context)]) admin.addCommand(command);
  return { commands: [...made(context), admin], close: () => context.close() };
}

function made(context: CliContext): Command[] {
  return [
    serveCommand(),
    migrateCommand(context),
    doctorCommand(context),
    registryCommand(context),
    userCommand(context),
    groupCommand(context),
    clientCommand(context),
    keysCommand(context),
    siteCommand(context),
    sharesCommand(context),
    jobsCommand(context),
    auditCommand(context),
  ];
}

function serveCommand(): Command {
  return new Command('serve')
    .description('run the server (the same as npm start)')
    .action(async () => {
      await import('../../main.js');
      await new Promise(() => undefined); // main.js ends the process
    });
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
