import { createInterface } from 'node:readline/promises';
import { CommandError } from './command-error.js';
import { printable } from './output.js';

/**
 * Asks on standard error before something that cannot be taken back; `yes` or `y` goes on. Where nobody can answer,
 * `--yes` is demanded. Throws CommandError (exit code 2).
 */
export async function confirm(question: string, isGranted: boolean | undefined): Promise<void> {
  if (isGranted) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandError(`${question} Nobody can be asked here`, 2, '--yes does it');
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answered = asking.question(`${printable(question)} [y/N] `);
    const closed = new Promise<string>((resolve) => asking.once('close', () => resolve('')));
    const answer = await Promise.race([answered, closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was done', 2);
  } finally {
    asking.close();
  }
}
