import { encodePath, GridError } from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { GridConnection } from './grid-connection.js';

/** Mode bits. Throws CommandError. */
export function octal(text: string): number {
  if (!/^[0-7]{1,4}$/.test(text)) throw new CommandError(`${text} is no octal mode`, 2);
  return Number.parseInt(text, 8);
}

/** True when a file has the path; a directory, or nothing, is not one. */
export async function hasFile({ client }: GridConnection, path: string): Promise<boolean> {
  try {
    await client.readFileAttributes(encodePath(path));
    return true;
  } catch (error) {
    if (error instanceof GridError && error.status === 404) return false;
    throw error;
  }
}
