import { Command } from 'commander';
import { IdTokenKeysService, KeysService } from '../../auth/index.js';
import type { CliContext } from './context.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';

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
      .addOption(outputOption())
      .addOption(jsonOption())
      .action(async (options: Printing) => {
        const app = await context.application();
        const keys: object[] = [];
        for (const ring of [KeysService, IdTokenKeysService]) {
          keys.push(...(await work(app.get<KeysService | IdTokenKeysService>(ring))));
        }
        const all = keys as Record<string, string | undefined>[];
        const heading = ['kid', 'algorithm', 'state', 'createdAt', 'activeFrom'];
        const rows = all.map((key) => heading.map((column) => key[column] ?? ''));
        await present(options, {
          value: { keys },
          heading,
          rows,
          names: rows.map(([kid = '']) => kid),
        });
      });
  };
  add('list', 'all keys, oldest first', (keys) => keys.report());
  add('rotate', 'let the next keys, which are published already, take over', (keys) =>
    keys.rotate(),
  );
  return command;
}
