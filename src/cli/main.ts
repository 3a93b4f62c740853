import { runCommand } from './run-command.js';

/** A worker needs nothing of the service, which takes three times its memory. */
const [noun, verb] = process.argv.slice(2);
const isWorker = noun === 'worker' && verb === 'run';

void runCommand(async () =>
  isWorker
    ? (await import('./admin/worker-run.command.js')).workerRunCommands()
    : (await import('./admin/admin.commands.js')).adminCommands(),
);
