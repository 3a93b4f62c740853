import { Command } from 'commander';
import { runCommand } from './run-command.js';
import { CommandError } from './terminal/command-error.js';

/** What works beside the service, on its database; the single file is for people who use one. */
const BESIDE_THE_SERVICE = [
  'serve',
  'migrate',
  'doctor',
  'registry',
  'user',
  'group',
  'client',
  'keys',
  'site',
  'worker',
  'shares',
  'jobs',
  'audit',
  'admin',
];

function besideTheService(name: string): Command {
  return new Command(name)
    .description('in the package only: npm install gridgate')
    .allowUnknownOption()
    .argument('[words...]')
    .action(() => {
      const text = `${name} works beside the service and is not in this file`;
      throw new CommandError(text, 2, 'npm install gridgate');
    });
}

void runCommand(() =>
  Promise.resolve({
    commands: BESIDE_THE_SERVICE.map(besideTheService),
    close: () => Promise.resolve(),
  }),
);
