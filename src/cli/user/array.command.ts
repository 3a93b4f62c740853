import { Command } from 'commander';
import { CommandError } from '../terminal/command-error.js';
import { table } from '../terminal/output.js';
import { jsonOption, outputOption, show, type Printing } from '../terminal/output-format.js';
import { withConnection } from './with-connection.js';

interface KillOptions extends Printing {
  purge?: boolean;
}

/** `array show`, `array kill`, `array retry`. */
export function arrayCommand(): Command {
  return new Command('array')
    .description('jobs that were submitted as an array (submit --array)')
    .addCommand(showCommand())
    .addCommand(killCommand())
    .addCommand(retryCommand());
}

function showCommand(): Command {
  return new Command('show')
    .description('how many members are in which state')
    .argument('<id>', 'id of the array')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((id: string, options: Printing) =>
      withConnection(async ({ client }) => {
        const array = await client.getArray(arrayIdOf(id));
        const { name, owner, total, submission, states } = array;
        const named = name === undefined ? '' : ` ${name}`;
        const rows = Object.entries(states).map(([state, count]) => [state, String(count)]);
        await show(
          options,
          array,
          () => [
            `array ${id}${named} of ${owner}, ${total} jobs, submitted ${submission}`,
            ...table(['STATUS', 'JOBS'], rows),
          ],
          [id],
        );
      }),
    );
}

function killCommand(): Command {
  return new Command('kill')
    .description('kill every member that has not ended')
    .argument('<id>', 'id of the array')
    .option('--purge', 'delete the members afterwards')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((id: string, options: KillOptions) =>
      withConnection(async ({ client }) => {
        const { purge } = options;
        const answer = await client.killArray(arrayIdOf(id), { ...(purge && { purge }) });
        const done = purge ? 'deleted' : 'killed';
        await show(options, answer, () => [`${answer.killed} job(s) of array ${id} ${done}`]);
      }),
    );
}

function retryCommand(): Command {
  return new Command('retry')
    .description('run the failed members again')
    .argument('<id>', 'id of the array')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((id: string, options: Printing) =>
      withConnection(async ({ client }) => {
        const answer = await client.retryArray(arrayIdOf(id));
        const { retried, refused, left } = answer;
        const often = `${refused} failed job(s) were rescheduled as often as they may be`;
        await show(options, answer, () => [
          `${retried} job(s) of array ${id} run again`,
          ...(refused > 0 ? [often] : []),
          ...(left > 0 ? [`${left} failed job(s) are left: no more jobs may wait now`] : []),
        ]);
      }),
    );
}

function arrayIdOf(word: string): number {
  if (/^[1-9]\d{0,15}$/.test(word)) return Number(word);
  throw new CommandError(`${word} is no id of an array: a number such as 12 is expected`, 2);
}
