import { commandsWith } from '../terminal/command.js';
import type { GridConnection } from './grid-connection.js';

/**
 * Runs work on the user's connection and closes it. What a connection needs is loaded only now, so that help and
 * `whoami` come at once. Throws CommandError.
 */
export async function withConnection<T>(work: (grid: GridConnection) => Promise<T>): Promise<T> {
  const { onConnection } = await import('./grid-connection.js');
  return onConnection(work);
}

/** A command on the connection of the login. */
export const onGrid = commandsWith(withConnection);
