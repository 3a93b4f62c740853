import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** True when accounts without any right of their own may execute the plain file at that absolute path. */
export async function everybodyMayExecute(path: string): Promise<boolean> {
  try {
    const info = await stat(path);
    return info.isFile() && (info.mode & 0o001) !== 0 && (await everybodyMayReach(dirname(path)));
  } catch {
    return false;
  }
}

/** True when everybody may pass through every directory of the absolute path. Throws when it does not exist. */
export async function everybodyMayReach(path: string): Promise<boolean> {
  for (let directory = path; ; directory = dirname(directory)) {
    if (((await stat(directory)).mode & 0o001) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}
