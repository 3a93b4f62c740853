import { readFile } from 'node:fs/promises';
import { EncodingError, utf8Text } from '#src/kernel/index.js';
import { CommandError } from './command-error.js';

/** The text of a file, or of standard input for `-`. Throws CommandError (exit code 2) where it cannot be read or is no UTF-8. */
export async function readText(file: string): Promise<string> {
  try {
    return utf8Text(await readFile(file === '-' ? '/dev/stdin' : file));
  } catch (error) {
    if (error instanceof EncodingError) throw encodingFault(file, error);
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new CommandError(`${sourceName(file)} cannot be read (${reason})`, 2);
  }
}

/** The same fault with the name of the file. */
export function encodingFault(file: string, error: EncodingError): CommandError {
  return new CommandError(`${sourceName(file)}: ${error.message}`, 2);
}

function sourceName(file: string): string {
  return file === '-' ? 'standard input' : file;
}
