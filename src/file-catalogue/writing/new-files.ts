import { sqlState, type Transaction } from '#src/database/index.js';
import type { EventLog } from '#src/events/index.js';
import type { Actor, CataloguePolicy } from '../access/catalogue.policy.js';
import { isSeen } from '../access/directory-access.js';
import { ChangeLog, type WrittenPlace } from '../events/change-log.js';
import { bitsText } from '../events/logged-change.js';
import { baseName, newNameFault, parentPath, pathChain } from '../path/catalogue-path.js';
import { addPendingTotals, type PendingChange } from './batch-changes.repository.js';
import { findBytes } from './catalogue-bytes.repository.js';
import { DEFAULT_MODE } from './batch-rules.js';
import type { CatalogueLine, FilePut } from './catalogue-line.js';
import {
  areDirectories,
  areFiles,
  copyFiles,
  lockFilled,
  type FilledDirectory,
  type NewFile,
} from './new-files.repository.js';

/** Lines that are worth a transaction of new files, and that one applies at most. Only speed depends on them. */
export const NEW_FILES_LIMITS = { least: 50, most: 5_000 };
/** Of so many of the files it is looked at first whether they are there already. */
const SAMPLES = 20;

/** Why lines are no new files below existing directories that the caller may write, as far as that is known. */
export class NotOnlyNew extends Error {
  /** `missing`: directories that would have to be made. */
  constructor(readonly missing: ReadonlySet<string> = new Set()) {
    super('not only new files');
  }
}

/** The lines from `start` on that only register files, if they are worth a transaction of their own. */
export function plainFilesFrom(
  actor: Actor,
  lines: readonly CatalogueLine[],
  start: number,
): FilePut[] | undefined {
  // What a token may reach is looked at line by line.
  if (actor.paths) return undefined;
  const files: FilePut[] = [];
  for (let at = start; at < lines.length && files.length < NEW_FILES_LIMITS.most; at += 1) {
    const line = lines[at] as CatalogueLine;
    if (!isPlain(line)) break;
    files.push(line);
  }
  return files.length >= NEW_FILES_LIMITS.least ? files : undefined;
}

function isPlain(line: CatalogueLine): line is FilePut {
  return (
    line.kind === 'file' &&
    line.op === 'put' &&
    line.size !== undefined &&
    line.metadata === undefined &&
    line.ownerId === undefined &&
    line.groupId === undefined &&
    line.mode === undefined
  );
}

/**
 * Registers new files below directories that exist: rights are looked at once for each directory, the rows go in by COPY.
 * Throws NotOnlyNew when one of the lines is anything else (registered already, named twice, refused), and changes nothing then:
 * the rules of all lines find out what it is.
 */
export async function registerNewFiles(
  transaction: Transaction,
  lines: readonly FilePut[],
  { actor, policy, log }: { actor: Actor; policy: CataloguePolicy; log: EventLog },
): Promise<void> {
  const byParent = groupedByParent(lines);
  const parents = [...byParent.keys()];
  const all = [...new Set(parents.flatMap(pathChain))];
  const known = await lockFilled(transaction, { parents, all });
  const missing = new Set(parents.filter((path) => !known.has(path)));
  if (missing.size > 0) throw new NotOnlyNew(missing);
  for (const parent of parents) refuseUnwritable({ actor, policy }, known, parent);
  const held = parents.filter((path) => known.get(path)?.has_bytes);
  const inHeld = held.flatMap((parent) => byParent.get(parent)?.map(({ path }) => path) ?? []);
  if (inHeld.length > 0 && (await findBytes(transaction, inHeld, inHeld)).length > 0)
    throw new NotOnlyNew();
  const files = filesInOrder(byParent, known);
  const samples = files.filter((_file, at) => at % Math.ceil(files.length / SAMPLES) === 0);
  if (await areFiles(transaction, samples)) throw new NotOnlyNew();
  const mixed = new Set(
    [...known.values()].filter((each) => each.has_directories).map(({ id }) => id),
  );
  if (
    await areDirectories(
      transaction,
      files.filter(({ directoryId }) => mixed.has(directoryId)),
    )
  ) {
    throw new NotOnlyNew();
  }
  const made = { owner_id: actor.userId, group_id: actor.groupId, mode: DEFAULT_MODE };
  try {
    await copyFiles(transaction, files, made);
  } catch (error) {
    if (sqlState(error) === '23505') throw new NotOnlyNew();
    throw error;
  }
  await addPendingTotals(transaction, totalsOf(files));
  await eventsOf(lines, known).write(transaction, log);
}

/** The lines of each directory. */
function groupedByParent(lines: readonly FilePut[]): Map<string, FilePut[]> {
  const groups = new Map<string, FilePut[]>();
  for (const line of lines) {
    const parent = parentPath(line.path);
    const group = groups.get(parent);
    if (group) group.push(line);
    else groups.set(parent, [line]);
  }
  return groups;
}

function refuseUnwritable(
  { actor, policy }: { actor: Actor; policy: CataloguePolicy },
  known: ReadonlyMap<string, FilledDirectory>,
  path: string,
): void {
  const directory = known.get(path) as FilledDirectory;
  if (policy.manages(actor, path)) return;
  const way = pathChain(path).flatMap((above) => known.get(above) ?? []);
  // Names in the root may be those of other organisations.
  if (path === '/' && actor.closed.size > 0) throw new NotOnlyNew();
  if (!isSeen(policy, actor, way, path) || !policy.mayWrite(actor, directory)) {
    throw new NotOnlyNew();
  }
}

/** By directory and name, each place once: of a file that is named twice the second line is not new. */
function filesInOrder(
  byParent: ReadonlyMap<string, readonly FilePut[]>,
  known: ReadonlyMap<string, FilledDirectory>,
): NewFile[] {
  const groups = [...byParent].map(([path, lines]) => ({
    id: (known.get(path) as FilledDirectory).id,
    lines,
  }));
  const files: NewFile[] = [];
  for (const { id, lines } of groups.sort((a, b) => a.id - b.id)) {
    const inside = lines.map(({ path, size = 0, checksum, checksumType, guid, replicas }) => {
      const name = baseName(path);
      if (newNameFault(name) !== undefined) throw new NotOnlyNew();
      return { directoryId: id, name, size, checksum, checksumType, guid, replicas };
    });
    inside.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
    for (const file of inside) {
      const last = files.at(-1);
      if (last?.name === file.name && last.directoryId === id) throw new NotOnlyNew();
      files.push(file);
    }
  }
  return files;
}

function totalsOf(files: readonly NewFile[]): PendingChange[] {
  const changes: PendingChange[] = [];
  for (const { directoryId, size } of files) {
    let change = changes.at(-1);
    if (change?.directoryId !== directoryId) {
      changes.push((change = { directoryId, files: 0, bytes: 0n }));
    }
    change.files += 1;
    change.bytes += BigInt(size);
  }
  return changes;
}

/** In the order of the lines, as their events would be one by one. */
function eventsOf(
  lines: readonly FilePut[],
  known: ReadonlyMap<string, FilledDirectory>,
): ChangeLog {
  const log = new ChangeLog();
  const places = new Map<string, WrittenPlace>();
  for (const { path } of lines) {
    const parent = parentPath(path);
    let place = places.get(parent);
    if (!place) {
      const way = pathChain(parent).flatMap((above) => known.get(above) ?? []);
      const bits = way.reduce((above, directory) => bitsText(above, directory), '');
      places.set(parent, (place = { path: parent, bits }));
    }
    log.file('file', 'created', { place, name: baseName(path) });
  }
  return log;
}
