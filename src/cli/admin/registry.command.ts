import { Command } from 'commander';
import { describeDifference, RegistryFileError, RegistryLoader } from '../../registry/index.js';
import { CommandError } from '../terminal/command-error.js';
import { readText } from '../terminal/read-text.js';
import type { CliContext } from './context.js';
import { emit } from '../terminal/output.js';
import { jsonOption, outputOption, show, type Printing } from '../terminal/output-format.js';

/** `gridgate registry load|dump|check`: who exists, as one YAML file. */
export function registryCommand(context: CliContext): Command {
  const command = new Command('registry').description('who exists, as one YAML file');
  command
    .command('load')
    .description('make the registry what the file says and print the difference')
    .argument('<file>', 'registry file, - for standard input')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((file: string, options: Printing) => apply(context, file, { ...options, load: true }));
  command
    .command('check')
    .description('print what load would change, without changing it')
    .argument('<file>', 'registry file, - for standard input')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((file: string, options: Printing) => apply(context, file, { ...options, load: false }));
  command
    .command('dump')
    .description('print the registry as a file that load takes')
    .action(async () => {
      const app = await context.application();
      emit((await app.get(RegistryLoader).dump()).trimEnd());
    });
  return command;
}

async function apply(
  context: CliContext,
  file: string,
  options: Printing & { load: boolean },
): Promise<void> {
  const text = await readText(file);
  const loader = (await context.application()).get(RegistryLoader);
  try {
    const found = options.load ? await loader.load(text) : await loader.check(text);
    await show(options, found, () => {
      const lines = describeDifference(found);
      return lines.length > 0 ? lines : ['no difference'];
    });
  } catch (error) {
    if (error instanceof RegistryFileError) throw new CommandError(`${file}: ${error.message}`, 2);
    throw error;
  }
}
