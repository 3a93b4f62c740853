import { parseJson, type JsonObject } from '#src/kernel/index.js';
import { CATALOGUE_LOCKS, LOCK_SPACES, type Transaction } from '#src/database/index.js';
import { baseName, parentPath, pathChain } from '../path/catalogue-path.js';
import { endOfSubtree } from '../path/label.js';
import { valueOf, type ValueRow } from '../metadata/metadata-field.js';
import { findBytes, isBelow } from './catalogue-bytes.repository.js';
import { BatchState, DirectoryState, type FileData, type StoredDirectory } from './batch-state.js';
import type { EntryLine } from './catalogue-line.js';

/** What lets bytes in ends so long after its beginning at the latest, and storages may take it for two minutes more. */
const LONGEST_KEY = '1 hour 2 minutes';

/** What the database may have changed between reading and locking: the batch starts again. */
export class BatchConflict extends Error {}

/** What a batch is about to touch. */
export interface BatchPlan {
  lines: readonly EntryLine[];
  /** Makes, removes or changes directories, not only files in them. */
  isStructural: boolean;
  /** Fields whose directory values change. */
  fieldIds: readonly number[];
}

interface ChainRow extends ValueRow {
  id: number;
  path: string;
  label: Buffer;
  next_ordinal: number;
  owner_id: number;
  group_id: number;
  mode: number;
  field_id: number | null;
}

/** Every directory path that a line needs to know: the way to its entry and the entry itself. */
function directoryPaths(lines: readonly EntryLine[]): string[] {
  return [...new Set(lines.flatMap((line) => pathChain(line.path)))];
}

/**
 * Takes the locks of a batch and reads what it touches. Locks are taken in one order by everybody (moves, totals,
 * fields, directories by id, files by place), so writers wait for each other but never in a circle.
 */
export async function lockAndRead(transaction: Transaction, plan: BatchPlan): Promise<BatchState> {
  await takeLocks(transaction, plan);
  const known = await readDirectories(transaction, directoryPaths(plan.lines));
  const locked = await lockDirectories(transaction, plan, known);
  const rows = await readDirectories(transaction, directoryPaths(plan.lines));
  const state = directoryStates(rows);
  refuseUnlocked(plan, state, locked);
  await readFiles(transaction, plan.lines, state);
  await readBytes(transaction, plan.lines, state);
  await readChildren(transaction, plan.lines, state);
  await readDefinitionsBelow(transaction, plan, state);
  return state;
}

/**
 * True when a line makes, removes or changes a directory, as far as an unlocked look can tell, or holds a path: who does that keeps all
 * other writers out of the directory, as who makes one there.
 */
export async function isStructural(
  transaction: Transaction,
  lines: readonly EntryLine[],
): Promise<boolean> {
  if (lines.some((line) => line.kind === 'directory' || line.op === 'reserve')) return true;
  const parents = [...new Set(lines.map((line) => parentPath(line.path)))];
  const [row] = await transaction.query<{ found: number }>({
    name: 'catalogue-parents-count',
    text: 'select count(*) as found from catalogue_directory where path = any($1)',
    values: [parents],
  });
  return Number(row?.found) < parents.length;
}

async function takeLocks(transaction: Transaction, plan: BatchPlan): Promise<void> {
  const totals = plan.isStructural
    ? `, pg_advisory_xact_lock_shared(${LOCK_SPACES.catalogue}, ${CATALOGUE_LOCKS.totals})`
    : '';
  await transaction.query({
    name: plan.isStructural ? 'catalogue-lock-structure' : 'catalogue-lock-entries',
    text: `select pg_advisory_xact_lock_shared(${LOCK_SPACES.catalogue}, ${CATALOGUE_LOCKS.moves})${totals}`,
  });
  if (plan.fieldIds.length === 0) return;
  await transaction.query({
    name: 'catalogue-lock-fields',
    text: `select pg_advisory_xact_lock(${LOCK_SPACES.fields}, f) from unnest($1::integer[]) f`,
    values: [[...plan.fieldIds].sort((a, b) => a - b)],
  });
}

async function readDirectories(transaction: Transaction, paths: string[]): Promise<ChainRow[]> {
  return transaction.query<ChainRow>({
    name: 'catalogue-batch-directories',
    text: `select d.id, d.path, d.label, d.next_ordinal, d.owner_id, d.group_id, d.mode,
             s.field_id, s.int_value, s.float_value, s.text_value
           from catalogue_directory d left join catalogue_segment s on s.directory_id = d.id
           where d.path = any($1)`,
    values: [paths],
  });
}

/** Locks the directories in which lines make, change or remove something. Answers their ids. */
async function lockDirectories(
  transaction: Transaction,
  plan: BatchPlan,
  rows: readonly ChainRow[],
): Promise<Set<number>> {
  const ids = new Map(rows.map((row) => [row.path, row.id]));
  const wanted = new Set<number>();
  for (const path of directlyTouched(plan.lines)) {
    for (let at = path; ; at = parentPath(at)) {
      const id = ids.get(at);
      if (id !== undefined) wanted.add(id);
      if (id !== undefined || at === '/') break;
    }
  }
  const strength = plan.isStructural ? 'update' : 'key share';
  await transaction.query({
    name: `catalogue-lock-directories-${plan.isStructural}`,
    text: `select id from catalogue_directory where id = any($1::integer[]) order by id for ${strength}`,
    values: [[...wanted]],
  });
  return wanted;
}

function directlyTouched(lines: readonly EntryLine[]): Set<string> {
  const paths = new Set<string>();
  for (const line of lines) {
    if (line.kind === 'directory') paths.add(line.path);
    if (line.kind === 'file' || line.op === 'delete') paths.add(parentPath(line.path));
  }
  return paths;
}

/** A directory that came or went between the look and the locks: begin again. */
function refuseUnlocked(plan: BatchPlan, state: BatchState, locked: ReadonlySet<number>): void {
  for (const path of directlyTouched(plan.lines)) {
    const { stored, path: nearest } = state.nearest(path);
    if (!stored || !locked.has(stored.id)) throw new BatchConflict();
    if (nearest !== path && !plan.isStructural) throw new BatchConflict();
  }
}

function directoryStates(rows: readonly ChainRow[]): BatchState {
  const stored = new Map<string, StoredDirectory & { values: Map<number, FileDataValue> }>();
  for (const row of rows) {
    const known = stored.get(row.path) ?? {
      id: row.id,
      label: row.label,
      nextOrdinal: row.next_ordinal,
      attributes: { owner_id: row.owner_id, group_id: row.group_id, mode: row.mode },
      values: new Map(),
    };
    if (row.field_id !== null) known.values.set(row.field_id, valueOf(row));
    stored.set(row.path, known);
  }
  const state = new BatchState();
  const inOrder = [...stored].sort(([, a], [, b]) => a.label.length - b.label.length);
  for (const [path, directory] of inOrder) {
    const parent = path === '/' ? undefined : state.directory(parentPath(path));
    state.directories.set(path, new DirectoryState(path, parent, directory, undefined));
  }
  return state;
}

type FileDataValue = ReturnType<typeof valueOf>;

interface FileRow extends Omit<FileData, 'metadata' | 'replicas' | 'lent'> {
  directory_id: number;
  name: string;
  metadata: string | null;
  replicas: string | null;
  stored: number[] | null;
  lent_until: Date;
}

/** Reads and locks the files of the lines, and files that stand where a directory is to be made. */
async function readFiles(
  transaction: Transaction,
  lines: readonly EntryLine[],
  state: BatchState,
): Promise<void> {
  const wanted = new Map<string, number>();
  for (const line of lines) {
    const nearest = state.nearest(parentPath(line.path));
    const next = pathChain(line.path).find((path) => path.length > nearest.path.length);
    if (next !== undefined && nearest.stored) wanted.set(next, nearest.stored.id);
  }
  const paths = [...wanted.keys()];
  const rows = await transaction.query<FileRow>({
    name: 'catalogue-batch-files',
    text: `select f.directory_id, f.name, f.size, f.owner_id, f.group_id, f.mode, f.checksum, f.checksum_type,
             f.guid, f.metadata::text, f.replicas::text, f.stored,
             greatest(now(), f.created_at + interval '${LONGEST_KEY}') as lent_until
           from catalogue_file f join unnest($1::integer[], $2::text[]) w (directory_id, name)
             on f.directory_id = w.directory_id and f.name = w.name
           order by f.directory_id, f.name for update of f`,
    values: [[...wanted.values()], paths.map(baseName)],
  });
  const found = new Map(rows.map((row) => [`${row.directory_id}/${row.name}`, row]));
  for (const [path, directoryId] of wanted) {
    const row = found.get(`${directoryId}/${baseName(path)}`);
    if (row) {
      const data = fileData(row);
      state.files.set(path, { path, stored: data, current: data });
    }
  }
}

/** Reads which of the paths that lines make, of those above and below, and of the files that are to be deleted but are not there, are held. */
async function readBytes(
  transaction: Transaction,
  lines: readonly EntryLine[],
  state: BatchState,
): Promise<void> {
  const made = lines.filter(({ op }) => op !== 'delete');
  const isNone = ({ kind, path }: EntryLine): boolean => kind === 'file' && !state.file(path);
  const ended = lines.filter((line) => line.op === 'delete' && isNone(line));
  if (made.length + ended.length === 0) return;
  const paths = [...new Set([...directoryPaths(made), ...ended.map(({ path }) => path)])];
  const files = made.filter(isNone).map(({ path }) => path);
  const known = new Set(paths);
  for (const bytes of await findBytes(transaction, paths, files)) {
    if (known.has(bytes.path)) {
      const others = state.bytes.get(bytes.path) ?? [];
      if (others.some(({ id }) => id === bytes.id)) continue;
      state.bytes.set(bytes.path, [...others, bytes]);
    }
    for (const above of pathChain(parentPath(bytes.path))) state.aboveBytes.add(above);
  }
}

function fileData(row: FileRow): FileData {
  const replicas =
    row.replicas === null ? {} : (parseJson(row.replicas) as Record<string, string | null>);
  return {
    owner_id: row.owner_id,
    group_id: row.group_id,
    mode: row.mode,
    size: row.size,
    checksum: row.checksum,
    checksum_type: row.checksum_type,
    guid: row.guid,
    metadata: row.metadata === null ? {} : (parseJson(row.metadata) as JsonObject),
    replicas: new Map(Object.entries(replicas).map(([id, pfn]) => [Number(id), pfn])),
    lent: row.stored === null ? undefined : { ses: row.stored, until: row.lent_until },
  };
}

/** How many entries the directories have that are to be deleted; counted only as far as the batch could remove. */
async function readChildren(
  transaction: Transaction,
  lines: readonly EntryLine[],
  state: BatchState,
): Promise<void> {
  const deleted = lines
    .filter((line) => line.kind === 'directory' && line.op === 'delete')
    .flatMap((line) => state.directory(line.path) ?? []);
  if (deleted.length === 0) return;
  const byId = new Map(
    deleted.flatMap((each) => (each.stored ? [[each.stored.id, each] as const] : [])),
  );
  const rows = await transaction.query<{ id: number; children: number }>({
    name: 'catalogue-batch-children',
    text: `select id,
             (select count(*) from (select from catalogue_directory where parent = id_.id limit $2) d)
             + (select count(*) from (select from catalogue_file where directory_id = id_.id limit $2) f)
             + (select count(*) from (select from catalogue_bytes where ${isBelow('id_.path')}
                 and state = 'arriving' limit 1) b) as children
           from unnest($1::integer[], $3::text[]) id_ (id, path)`,
    values: [[...byId.keys()], lines.length + 1, [...byId.values()].map(({ path }) => path)],
  });
  for (const { id, children } of rows) {
    const directory = byId.get(id);
    if (directory) directory.storedChildren = children;
  }
}

/** How often the fields are set below the directories whose values change, counted likewise. */
async function readDefinitionsBelow(
  transaction: Transaction,
  plan: BatchPlan,
  state: BatchState,
): Promise<void> {
  if (plan.fieldIds.length === 0) return;
  const asked: { directory: DirectoryState; fieldId: number; stored: StoredDirectory }[] = [];
  for (const line of plan.lines) {
    const directory = line.kind === 'directory' ? state.directory(line.path) : undefined;
    if (line.op !== 'put' || !line.metadata || !directory?.stored) continue;
    for (const fieldId of plan.fieldIds)
      asked.push({ directory, fieldId, stored: directory.stored });
  }
  const rows = await transaction.query<{ at: number; below: number }>({
    name: 'catalogue-batch-below',
    text: `select w.at::integer as at, b.below from unnest($1::smallint[], $2::bytea[], $3::bytea[])
             with ordinality w (field_id, lo, hi, at)
           cross join lateral (select count(*) as below from (
             select from catalogue_segment s
             where s.field_id = w.field_id and s.lo > w.lo and s.lo < w.hi limit $4) bounded) b
           where b.below > 0`,
    values: [
      asked.map(({ fieldId }) => fieldId),
      asked.map(({ stored }) => stored.label),
      asked.map(({ stored }) => endOfSubtree(stored.label)),
      plan.lines.length + 1,
    ],
  });
  for (const { at, below } of rows) {
    const entry = asked[at - 1];
    entry?.directory.storedBelow.set(entry.fieldId, below);
  }
}
