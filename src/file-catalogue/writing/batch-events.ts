import { bitsText } from '../events/logged-change.js';
import { ChangeLog, type WrittenPlace } from '../events/change-log.js';
import { baseName, parentPath } from '../path/catalogue-path.js';
import type { Attributes, BatchState, DirectoryState, FileState } from './batch-state.js';
import { isSameContent, isSameMetadata } from './file-differences.js';

/**
 * What a batch changes, for the event log: one event for each directory and file that is there after it or was before it, and
 * one for its metadata. What goes comes first, as something of the same name may stand in its place; a directory comes before
 * what is in it, and goes after that. Who is made or removed takes its metadata along.
 */
export function eventsOf(state: BatchState): ChangeLog {
  const log = new ChangeLog();
  const places = new Places(state);
  const files = [...state.files.values()].filter(({ stored, current }) => stored !== current);
  const directories = [...state.directories.values()];
  for (const file of files) if (!file.current) logFile(log, places, file);
  const gone = directories.filter(({ isPresent, stored }) => !isPresent && stored);
  for (const { path } of gone.sort((a, b) => b.path.length - a.path.length)) {
    log.directory('directory', 'removed', { place: places.at(path) });
  }
  for (const directory of directories)
    if (directory.isPresent) logDirectory(log, places, directory);
  for (const file of files) if (file.current) logFile(log, places, file);
  return log;
}

function logDirectory(log: ChangeLog, places: Places, directory: DirectoryState): void {
  const { path, stored, values } = directory;
  if (!stored) {
    log.directory('directory', 'created', { place: places.at(path) });
    return;
  }
  if (!haveSameBits(stored.attributes, directory.attributes)) {
    const above = directory.parent ? places.at(directory.parent.path).bits : '';
    const before = { path, bits: bitsText(above, stored.attributes) };
    log.directory('directory', 'changed', { place: places.at(path), before });
  }
  const isSame =
    values.size === stored.values.size &&
    [...values].every(([field, value]) => stored.values.get(field) === value);
  if (isSame) return;
  const change = outcomeOf(stored.values.size, values.size);
  log.directory('metadata', change, { place: places.at(path) });
}

function logFile(log: ChangeLog, places: Places, { path, stored, current }: FileState): void {
  const where = { place: places.at(parentPath(path)), name: baseName(path) };
  if (!stored || !current) {
    log.file('file', current ? 'created' : 'removed', where);
    return;
  }
  if (!isSameContent(stored, current)) log.file('file', 'changed', where);
  if (isSameMetadata(stored, current)) return;
  const [before, after] = [stored, current].map(({ metadata }) => Object.keys(metadata).length);
  log.file('metadata', outcomeOf(before ?? 0, after ?? 0), where);
}

/** Metadata came, changed or went, by how many values there were before and are now. */
function outcomeOf(before: number, after: number): 'created' | 'changed' | 'removed' {
  if (before === 0) return 'created';
  return after === 0 ? 'removed' : 'changed';
}

function haveSameBits(a: Attributes, b: Attributes): boolean {
  return a.owner_id === b.owner_id && a.group_id === b.group_id && a.mode === b.mode;
}

/** The directories of a batch as the log has them, each worked out once. */
class Places {
  private readonly known = new Map<string, WrittenPlace>();

  constructor(private readonly state: BatchState) {}

  at(path: string): WrittenPlace {
    const known = this.known.get(path);
    if (known) return known;
    const { attributes, parent } = this.state.directories.get(path) as DirectoryState;
    const above = parent ? this.at(parent.path).bits : '';
    const place = { path, bits: bitsText(above, attributes) };
    this.known.set(path, place);
    return place;
  }
}
