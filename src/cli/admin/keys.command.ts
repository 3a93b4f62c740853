import { Command } from 'commander';
import { AllKeysService, type NamedKeyReport } from '../../auth/index.js';
import type { CliContext } from './context.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';

/** `gridgate keys list|rotate`: the keys that sign access tokens, and the RSA keys of ID tokens. */
export function keysCommand(context: CliContext): Command {
  const command = new Command('keys').description('keys that sign access and ID tokens');
  const add = (
    name: string,
    text: string,
    work: (keys: AllKeysService, now: boolean) => Promise<NamedKeyReport[]>,
  ): Command =>
    command
      .command(name)
      .description(text)
      .addOption(outputOption())
      .addOption(jsonOption())
      .action(async ({ now = false, ...options }: Printing & { now?: boolean }) => {
        const keys = await work((await context.application()).get(AllKeysService), now);
        const heading = ['kid', 'algorithm', 'tokens', 'state', 'createdAt', 'activeFrom'] as const;
        const rows = keys.map((key) => heading.map((column) => key[column] ?? ''));
        await present(options, {
          value: { keys },
          heading: [...heading],
          rows,
          names: rows.map(([kid = '']) => kid),
        });
      });
  add('list', 'all keys, oldest first', (keys) => keys.report());
  add(
    'rotate',
    'let the next keys take over: at once when they have been published for ten minutes, else when they will have been',
    (keys, now) => keys.rotate(now),
  ).option(
    '--now',
    'after a leak: new keys sign at once, and whatever the others have signed is refused (elsewhere within 5 minutes)',
  );
  return command;
}
