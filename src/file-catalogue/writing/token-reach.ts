import { leadsTo, requirePath } from '#src/auth/index.js';
import type { Actor } from '../access/catalogue.policy.js';
import type { DirectoryPut, EntryLine } from './catalogue-line.js';

/**
 * Refuses a line about a path that the scopes of the caller's token do not open. `storage.create` makes what is not there,
 * directories on the way to its path included, and changes nothing of what is (WLCG profile 1.3, 2.2.1); that, the rules
 * of writing see. Throws Problem 403 `auth.insufficient-scope`.
 */
export function refuseOutside(actor: Actor, line: EntryLine): void {
  if (line.op === 'delete') requirePath(actor, 'change', line);
  else if (line.kind === 'file' || !isBare(line) || !leadsTo(actor, 'create', line.path)) {
    requirePath(actor, 'create', line);
  }
}

/** True when nothing is said of the directory but that it shall be there. */
export function isBare({ mode, ownerId, groupId, metadata }: DirectoryPut): boolean {
  return [mode, ownerId, groupId, metadata].every((member) => member === undefined);
}
