import { stringifyJson } from '#src/kernel/index.js';
import type { Transaction } from '#src/database/index.js';
import { type FieldType, type StoredValue, VALUE_COLUMN } from '../metadata/metadata-field.js';
import { baseName, parentPath } from '../path/catalogue-path.js';
import { childLabel, endOfSubtree } from '../path/label.js';
import {
  endBytes,
  giveBytes,
  insertBytes,
  dropBytes,
  prolongBytes,
} from './catalogue-bytes.repository.js';
import { BatchConflict } from './batch.repository.js';
import type { BatchState, DirectoryState, FileState } from './batch-state.js';
import { applySegments, type SegmentChange } from './segments.repository.js';

/** Writes the difference between what was read and what the lines made of it. */
export async function writeChanges(
  transaction: Transaction,
  state: BatchState,
  fieldTypes: ReadonlyMap<number, FieldType>,
): Promise<void> {
  const directories = [...state.directories.values()];
  const places = await insertDirectories(
    transaction,
    directories.filter((each) => each.isPresent && !each.stored),
  );
  for (const { path, stored } of directories) {
    if (stored) places.set(path, stored);
  }
  await applySegments(transaction, segmentChanges(directories, places, fieldTypes));
  await updateDirectories(transaction, directories.filter(hasNewAttributes));
  await writeFiles(transaction, state, places);
  await deleteDirectories(
    transaction,
    directories.filter((each) => !each.isPresent && each.stored),
  );
}

interface Place {
  id: number;
  label: Buffer;
}

async function insertDirectories(
  transaction: Transaction,
  made: readonly DirectoryState[],
): Promise<Map<string, Place>> {
  const places = new Map<string, Place>();
  if (made.length === 0) return places;
  const ids = await transaction.query<{ id: number }>({
    name: 'catalogue-directory-ids',
    text: `select nextval('catalogue_directory_id')::integer as id from generate_series(1, $1)`,
    values: [made.length],
  });
  const ordinals = new Map<DirectoryState, number>();
  const columns: unknown[][] = [[], [], [], [], [], [], [], [], [], [], []];
  for (const [index, directory] of made.entries()) {
    const parent = directory.parent as DirectoryState;
    const parentPlace = (parent.stored ?? places.get(parent.path)) as Place;
    const ordinal = ordinals.get(parent) ?? parent.stored?.nextOrdinal ?? 0;
    ordinals.set(parent, ordinal + 1);
    const place = { id: ids[index]?.id as number, label: childLabel(parentPlace.label, ordinal) };
    places.set(directory.path, place);
    const { attributes } = directory;
    const depth = directory.path.split('/').length - 1;
    const row = [
      place.id,
      parentPlace.id,
      attributes.owner_id,
      attributes.group_id,
      attributes.mode,
      depth,
      isBoundary(directory),
      place.label,
      baseName(directory.path),
      directory.path,
      0,
    ];
    for (const [column, value] of row.entries()) columns[column]?.push(value);
  }
  columns[10] = made.map((directory) => ordinals.get(directory) ?? 0);
  const inserted = await transaction.execute({
    name: 'catalogue-directories-insert',
    text: `insert into catalogue_directory
             (id, parent, owner_id, group_id, mode, depth, boundary, label, name, path, next_ordinal)
           select * from unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[], $5::smallint[],
             $6::smallint[], $7::boolean[], $8::bytea[], $9::text[], $10::text[], $11::integer[])
           on conflict do nothing`,
    values: columns,
  });
  if (inserted !== made.length) throw new BatchConflict();
  await raiseOrdinals(transaction, ordinals);
  return places;
}

async function raiseOrdinals(
  transaction: Transaction,
  ordinals: ReadonlyMap<DirectoryState, number>,
): Promise<void> {
  const stored = [...ordinals].flatMap(([{ stored: row }, next]) =>
    row ? [{ id: row.id, next }] : [],
  );
  if (stored.length === 0) return;
  await transaction.execute({
    name: 'catalogue-ordinals',
    text: `update catalogue_directory d set next_ordinal = w.next
           from unnest($1::integer[], $2::integer[]) w (id, next) where d.id = w.id`,
    values: [stored.map(({ id }) => id), stored.map(({ next }) => next)],
  });
}

function isBoundary({ attributes, parent }: DirectoryState): boolean {
  const above = parent?.attributes;
  return (
    attributes.owner_id !== above?.owner_id ||
    attributes.group_id !== above.group_id ||
    attributes.mode !== above.mode
  );
}

function hasNewAttributes({ isPresent, stored, attributes }: DirectoryState): boolean {
  if (!isPresent || !stored) return false;
  const before = stored.attributes;
  return (
    attributes.owner_id !== before.owner_id ||
    attributes.group_id !== before.group_id ||
    attributes.mode !== before.mode
  );
}

/** Changes owner, group and mode; then tells the directories and their children whether they are boundaries. */
async function updateDirectories(
  transaction: Transaction,
  changed: readonly DirectoryState[],
): Promise<void> {
  if (changed.length === 0) return;
  const ids = changed.map(({ stored }) => stored?.id);
  await transaction.execute({
    name: 'catalogue-directories-update',
    text: `update catalogue_directory d
           set owner_id = w.owner_id, group_id = w.group_id, mode = w.mode, modified_at = now()
           from unnest($1::integer[], $2::integer[], $3::integer[], $4::smallint[]) w (id, owner_id, group_id, mode)
           where d.id = w.id`,
    values: [
      ids,
      changed.map(({ attributes }) => attributes.owner_id),
      changed.map(({ attributes }) => attributes.group_id),
      changed.map(({ attributes }) => attributes.mode),
    ],
  });
  await transaction.execute({
    name: 'catalogue-boundaries',
    text: `update catalogue_directory d
           set boundary = (d.owner_id, d.group_id, d.mode) is distinct from (p.owner_id, p.group_id, p.mode)
           from catalogue_directory p
           where p.id = d.parent and (d.id = any($1::integer[]) or d.parent = any($1::integer[]))`,
    values: [ids],
  });
}

/** Removes empty directories; what is pending for them goes on to the directory above. */
async function deleteDirectories(
  transaction: Transaction,
  removed: readonly DirectoryState[],
): Promise<void> {
  const deepestFirst = [...removed].sort((a, b) => b.path.length - a.path.length);
  for (const { stored, parent } of deepestFirst) {
    const ids = [stored?.id, parent?.stored?.id];
    await transaction.execute({
      name: 'catalogue-delta-to-parent',
      text: 'update catalogue_delta set directory_id = $2 where directory_id = $1',
      values: ids,
    });
    await transaction.execute({
      name: 'catalogue-directory-delete',
      text: 'delete from catalogue_directory where id = $1',
      values: ids.slice(0, 1),
    });
  }
}

function segmentChanges(
  directories: readonly DirectoryState[],
  places: ReadonlyMap<string, Place>,
  fieldTypes: ReadonlyMap<number, FieldType>,
): SegmentChange[] {
  const changes: SegmentChange[] = [];
  for (const { path, stored, values, isPresent } of directories) {
    const place = places.get(path);
    if (!place) continue;
    const before: ReadonlyMap<number, StoredValue> = stored?.values ?? new Map();
    const after: ReadonlyMap<number, StoredValue> = isPresent ? values : new Map();
    for (const fieldId of new Set([...before.keys(), ...after.keys()])) {
      const [from, to] = [before.get(fieldId), after.get(fieldId)];
      if (from === to) continue;
      const column = VALUE_COLUMN[fieldTypes.get(fieldId) ?? 'string'];
      const range = { lo: place.label, hi: endOfSubtree(place.label) };
      changes.push({ directoryId: place.id, fieldId, column, from, to, ...range });
    }
  }
  return changes;
}

async function writeFiles(
  transaction: Transaction,
  state: BatchState,
  places: ReadonlyMap<string, Place>,
): Promise<void> {
  const files = [...state.files.values()];
  const placed = (file: FileState): number => places.get(parentPath(file.path))?.id as number;
  const made = files.filter(({ stored, current }) => !stored && current);
  await upsert(transaction, made, placed, 'insert');
  const changed = files.filter(({ stored, current }) => stored && current && stored !== current);
  await upsert(transaction, changed, placed, 'update');
  const anew = changed.filter(({ stored, current }) => stored?.lent && !current?.lent);
  await forgetStored(transaction, anew, placed);
  const gone = files.filter(({ stored, current }) => stored && !current);
  if (gone.length > 0) {
    await transaction.execute({
      name: 'catalogue-files-delete',
      text: `delete from catalogue_file f using unnest($1::integer[], $2::text[]) w (directory_id, name)
             where f.directory_id = w.directory_id and f.name = w.name`,
      values: [gone.map(placed), gone.map(({ path }) => baseName(path))],
    });
  }
  await addPending(transaction, files, placed);
  const arrived = [...state.arrived].map(([path, bytes]) => {
    const directoryId = places.get(parentPath(path))?.id as number;
    return { ...bytes, directoryId, name: baseName(path) };
  });
  if (arrived.length > 0 && (await giveBytes(transaction, arrived)) !== arrived.length) {
    throw new BatchConflict();
  }
  const { reserved, prolonged, ended, dropped } = state;
  const isSame =
    (reserved.length === 0 || (await insertBytes(transaction, reserved)) === reserved.length) &&
    (prolonged.length === 0 || (await prolongBytes(transaction, prolonged)) === prolonged.length) &&
    (ended.length === 0 || (await endBytes(transaction, ended)) === ended.length);
  if (!isSame) throw new BatchConflict();
  if (dropped.length > 0) await dropBytes(transaction, dropped);
}

/** Files that were deleted and registered anew with what other storages have. */
async function forgetStored(
  transaction: Transaction,
  files: readonly FileState[],
  placed: (file: FileState) => number,
): Promise<void> {
  if (files.length === 0) return;
  await transaction.execute({
    name: 'catalogue-files-forget-stored',
    text: `update catalogue_file f set stored = null, sha256 = null
           from unnest($1::integer[], $2::text[]) w (directory_id, name)
           where f.directory_id = w.directory_id and f.name = w.name`,
    values: [files.map(placed), files.map(({ path }) => baseName(path))],
  });
}

const FILE_COLUMNS =
  'directory_id, name, size, owner_id, group_id, mode, checksum, checksum_type, guid, metadata, replicas';
const FILE_ROWS = `unnest($1::integer[], $2::text[], $3::bigint[], $4::integer[], $5::integer[], $6::smallint[],
  $7::text[], $8::text[], $9::text[], $10::jsonb[], $11::jsonb[]) w (${FILE_COLUMNS})`;
const WRITE_FILES = {
  insert: `insert into catalogue_file (${FILE_COLUMNS}) select * from ${FILE_ROWS}
    order by directory_id, name on conflict do nothing`,
  update: `update catalogue_file f set size = w.size, owner_id = w.owner_id, group_id = w.group_id, mode = w.mode,
      checksum = w.checksum, checksum_type = w.checksum_type, guid = w.guid, metadata = w.metadata,
      replicas = w.replicas, modified_at = now()
    from ${FILE_ROWS} where f.directory_id = w.directory_id and f.name = w.name`,
};

async function upsert(
  transaction: Transaction,
  files: readonly FileState[],
  placed: (file: FileState) => number,
  what: 'insert' | 'update',
): Promise<void> {
  if (files.length === 0) return;
  const data = files.map(({ current }) => current);
  const written = await transaction.execute({
    name: `catalogue-files-${what}`,
    text: WRITE_FILES[what],
    values: [
      files.map(placed),
      files.map(({ path }) => baseName(path)),
      data.map((file) => String(file?.size)),
      data.map((file) => file?.owner_id),
      data.map((file) => file?.group_id),
      data.map((file) => file?.mode),
      data.map((file) => file?.checksum ?? null),
      data.map((file) => file?.checksum_type ?? null),
      data.map((file) => file?.guid ?? null),
      data.map((file) => jsonOrNull(file?.metadata ?? {})),
      data.map((file) => jsonOrNull(Object.fromEntries(file?.replicas ?? []))),
    ],
  });
  if (written !== files.length) throw new BatchConflict();
}

function jsonOrNull(value: object): string | null {
  return Object.keys(value).length === 0 ? null : stringifyJson(value);
}

/** What a directory has gained. */
export interface PendingChange {
  directoryId: number;
  files: number;
  bytes: bigint;
}

async function addPending(
  transaction: Transaction,
  files: readonly FileState[],
  placed: (file: FileState) => number,
): Promise<void> {
  const changes = new Map<number, PendingChange>();
  for (const file of files) {
    const { stored, current } = file;
    if (stored === current) continue;
    const directoryId = placed(file);
    const change = changes.get(directoryId) ?? { directoryId, files: 0, bytes: 0n };
    change.files += Number(current !== undefined) - Number(stored !== undefined);
    change.bytes += BigInt(current?.size ?? 0) - BigInt(stored?.size ?? 0);
    changes.set(directoryId, change);
  }
  const effective = [...changes.values()].filter(({ files: n, bytes }) => n !== 0 || bytes !== 0n);
  if (effective.length > 0) await addPendingTotals(transaction, effective);
}

/** One row of pending totals per directory. */
export async function addPendingTotals(
  transaction: Transaction,
  changes: readonly PendingChange[],
): Promise<void> {
  await transaction.execute({
    name: 'catalogue-delta-add',
    text: `insert into catalogue_delta (directory_id, files, bytes)
           select * from unnest($1::integer[], $2::bigint[], $3::numeric[])`,
    values: [
      changes.map(({ directoryId }) => directoryId),
      changes.map(({ files }) => files),
      changes.map(({ bytes }) => String(bytes)),
    ],
  });
}
