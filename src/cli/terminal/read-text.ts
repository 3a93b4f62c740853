import { readFile } from 'node:fs/promises';
import { EncodingError, utf8Text } from '#src/kernel/index.js';
import { CommandError } from './command-error.js';

/**
 * The text of a file, or of standard input for `-`; messages call it by `name`. Throws CommandError (exit code 2) where it
 * cannot be read or is no UTF-8.
 */
export async function readText(file: string, name = sourceName(file)): Promise<string> {
  try {
    return utf8Text(await readFile(file === '-' ? '/dev/stdin' : file));
  } catch (error) {
    if (error instanceof EncodingError) throw new CommandError(`${name}: ${error.message}`, 2);
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new CommandError(`${name} cannot be read (${reason})`, 2);
  }
}

/** What messages call a file that a command is given. */
export function sourceName(file: string): string {
  return file === '-' ? 'standard input' : file;
}
