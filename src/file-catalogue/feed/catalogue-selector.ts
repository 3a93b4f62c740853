import { opensPath, type Principal } from '#src/auth/index.js';
import type { Actor, CataloguePolicy, Guarded } from '../access/catalogue.policy.js';
import type { ChangeOutcome, LoggedChange, Place } from '../events/logged-change.js';
import { parentPath, pathChain } from '../path/catalogue-path.js';
import type { PresentBits } from './present-rights.service.js';

/** Who is told of changes, and what stands now where they were. */
export interface Sight {
  actor: Actor;
  policy: CataloguePolicy;
  token: Pick<Principal, 'paths'>;
  present: PresentBits;
}

/** What is told of a change. */
export interface ToldChange {
  path: string;
  change: ChangeOutcome;
  /** Where a directory was before it was moved. */
  from?: string;
}

/**
 * Tells what a change is to somebody who watches what lies at or below the prefix; undefined when it is none of its business.
 * Seen is what lists show: whose way was open when it happened, and is open now as far as it is there. A directory that
 * is closed to the watcher is removed for it; one that is moved out of its sight, too.
 */
export function catalogueSelector(
  prefix: string,
  sight: Sight,
): (change: LoggedChange) => ToldChange | undefined {
  return (change) => {
    if (!concerns(change, prefix)) return undefined;
    const { path, isDirectory, place, before } = change;
    if (change.change === 'moved' && before) return toldMove(change, before, { prefix, sight });
    const isGone = isDirectory && change.change === 'removed';
    if (sees(sight, { path, isDirectory, place, isGone })) return { path, change: change.change };
    return before && isClosedBy(sight, place, before) ? { path, change: 'removed' } : undefined;
  };
}

/** True when the path is the directory or lies below it. */
function isBelow(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}

/** What is done to a directory above the prefix may be about everything below it: its bits, its metadata, its place. */
function concerns(
  { kind, change, path, isDirectory, before }: LoggedChange,
  prefix: string,
): boolean {
  const reachesBelow = isDirectory && (kind === 'metadata' || before !== undefined);
  const touches = (one: string): boolean =>
    isBelow(one, prefix) || (reachesBelow && isBelow(prefix, one));
  return touches(path) || (change === 'moved' && before !== undefined && touches(before.path));
}

function toldMove(
  { path, place }: LoggedChange,
  before: Place,
  { prefix, sight }: { prefix: string; sight: Sight },
): ToldChange | undefined {
  const isSeen = sees(sight, { path, isDirectory: true, place, isGone: false });
  const left = { path: before.path, isDirectory: true, place: before, isGone: true };
  const wasSeen = sees(sight, left);
  const isNear = (one: string): boolean => isBelow(one, prefix) || isBelow(prefix, one);
  if (isSeen && wasSeen) return { path, change: 'moved', from: before.path };
  if (isSeen) return isNear(path) ? { path, change: 'moved' } : undefined;
  return wasSeen && isNear(before.path) ? { path: before.path, change: 'removed' } : undefined;
}

/** Has the directory been closed by this very change to who saw it? */
function isClosedBy(sight: Sight, place: Place, before: Place): boolean {
  const { path } = before;
  return (
    sight.policy.reach(sight.actor, path) === 'bits' &&
    isOpen(sight, before.bits) &&
    !isOpen(sight, place.bits) &&
    isOpen(sight, presentOn(sight, chainAbove(path))) &&
    opensPath(sight.token, 'read', { path, kind: 'directory' })
  );
}

/** What stands now where a directory has gone is another one, and says nothing of it. */
function sees(
  sight: Sight,
  asked: Pick<LoggedChange, 'path' | 'isDirectory' | 'place'> & { isGone: boolean },
): boolean {
  const { actor, policy, token } = sight;
  const { path, isDirectory, place, isGone } = asked;
  if (!opensPath(token, 'read', { path, kind: isDirectory ? 'directory' : 'file' })) return false;
  const reach = policy.reach(actor, path);
  if (reach !== 'bits') return reach === 'everything';
  const way = isGone ? chainAbove(path) : pathChain(place.path);
  return isOpen(sight, place.bits) && isOpen(sight, presentOn(sight, way));
}

function chainAbove(path: string): string[] {
  return path === '/' ? [] : pathChain(parentPath(path));
}

function isOpen({ actor, policy }: Sight, bits: readonly Guarded[]): boolean {
  return bits.every((one) => policy.mayRead(actor, one));
}

function presentOn({ present }: Sight, directories: readonly string[]): Guarded[] {
  return directories.flatMap((directory) => present(directory) ?? []);
}
