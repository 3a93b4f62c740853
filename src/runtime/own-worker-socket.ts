import { openSync } from 'node:fs';
import { join } from 'node:path';

/** What the system takes as the path of a socket, bytes. */
const LONGEST = 107;

/** Directory of the service's own worker in GRID_HOME. */
export function ownWorkerDirectory(home: string): string {
  return join(home, 'worker');
}

/** Path of the socket between the service and its own worker; one that is too long for the system leads through the open directory. */
export function ownWorkerSocket(home: string): string {
  const directory = ownWorkerDirectory(home);
  const path = join(directory, 'socket');
  if (Buffer.byteLength(path) <= LONGEST) return path;
  return `/proc/self/fd/${openSync(directory, 'r')}/socket`;
}
