import { runCommand } from './run-command.js';

void runCommand(async () => (await import('./admin/admin.commands.js')).adminCommands());
