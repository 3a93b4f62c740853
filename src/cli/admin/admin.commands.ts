import type { Command } from 'commander';
import { command, group } from '../terminal/command.js';
import { say } from '../terminal/output.js';
import { auditCommand } from './audit.command.js';
import { catalogueCommand } from './catalogue.command.js';
import { clientCommand } from './client.command.js';
import { closeContexts, onNewService } from './context.js';
import { doctorCommand } from './doctor.command.js';
import { groupCommand, userCommand } from './members.commands.js';
import { registryCommand, siteCommand } from './registry.commands.js';
import { storageCommand } from './storage.commands.js';
import { workerCommand } from './worker.commands.js';
import { jobsCommand, keysCommand, sharesCommand } from './service.commands.js';

/** The commands that work on the service's database, and what ends them. */
export interface AdminCommands {
  commands: Command[];
  close(): Promise<void>;
}

const commands = [
  command('serve', 'run the server (the same as npm start)', {
    run: async () => {
      await import('../../main.js');
      await new Promise(() => undefined); // main.js ends the process
    },
  }),
  onNewService('migrate', 'bring the database to the schema of this version', {
    run: async (service) => {
      await service.application(); // connecting migrates
      say('the database has the schema of this version');
    },
  }),
  doctorCommand,
  registryCommand,
  userCommand,
  groupCommand,
  clientCommand,
  keysCommand,
  siteCommand,
  workerCommand,
  storageCommand,
  sharesCommand,
  jobsCommand,
  auditCommand,
];

/** The administrators' commands, each of them below `admin`, too; they share one context. */
export function adminCommands(): AdminCommands {
  const all = 'all commands for administrators; `admin catalogue` works on the database';
  const admin = group('admin', all, [...commands, catalogueCommand]);
  return { commands: [...commands, admin], close: closeContexts };
}
