import { Command } from 'commander';
import { IdTokenKeysService, KeysService } from '../../auth/index.js';
import type { CliContext } from './context.js';
import { show, table } from '../terminal/output.js';

/** `gridgate keys list|rotate`: the keys that sign access tokens, and the RSA keys of ID tokens. */
export function keysCommand(context: CliContext): Command {
  const command = new Command('keys').description('keys that sign access and ID tokens');
  const add = (
    name: string,
    text: string,
    work: (keys: KeysService | IdTokenKeysService) => Promise<object[]>,
  ): void => {
    command
      .command(name)
      .description(text)
      .option('--json', 'print JSON')
      .action(async (options: { json?: boolean }) => {
        const app = await context.application();
        const keys: object[] = [];
        for (const ring of [KeysService, IdTokenKeysService]) {
          keys.push(...(await work(app.get<KeysService | IdTokenKeysService>(ring))));
        }
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
  add('rotate', 'let the next keys, which are published already, take over', (keys) =>
    keys.rotate(),
  );
  return command;
}
