import { Command } from 'commander';
import { KeysService } from '../../auth/index.js';
import type { CliContext } from './context.js';
import { show, table } from '../terminal/output.js';

/** `gridgate keys list|rotate`: the keys that sign access tokens. */
export function keysCommand(context: CliContext): Command {
  const command = new Command('keys').description('keys that sign access tokens');
  const add = (
    name: string,
    text: string,
    work: (keys: KeysService) => Promise<object[]>,
  ): void => {
    command
      .command(name)
      .description(text)
      .option('--json', 'print JSON')
      .action(async (options: { json?: boolean }) => {
        const keys = await work((await context.application()).get(KeysService));
        show(options.json, { keys }, () => {
          const columns = ['kid', 'algorithm', 'state', 'createdAt', 'activeFrom'];
          const rows = keys.map((key) => {
            const values = key as Record<string, string | undefined>;
            return columns.map((column) => values[column] ?? '');
          });
          return table(columns, rows);
        });
      });
  };
  add('list', 'all keys, oldest first', (keys) => keys.report());
  add('rotate', 'let the next key, which is published already, take over', (keys) => keys.rotate());
  return command;
}
