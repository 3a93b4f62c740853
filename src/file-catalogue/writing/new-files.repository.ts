import { CATALOGUE_LOCKS, LOCK_SPACES, type Transaction } from '#src/database/index.js';
import type { Attributes } from './batch-state.js';
import { isBelow } from './catalogue-bytes.repository.js';

/** A directory that gets files, and those on the way to it. */
export interface FilledDirectory extends Attributes {
  id: number;
  path: string;
  /** There are directories in it. */
  has_directories: boolean;
  /** There are bytes below it that belong to no file. */
  has_bytes: boolean;
}

/** A file that is not there yet. */
export interface NewFile {
  directoryId: number;
  name: string;
  size: number | bigint;
  checksum: string | undefined;
  checksumType: string | undefined;
  guid: string | undefined;
  replicas: ReadonlyMap<number, string | null> | undefined;
}

/**
 * Locks the directories against being removed, moved or made anew as every writer of files does, and then reads them and those
 * above, by path.
 */
export async function lockFilled(
  transaction: Transaction,
  { parents, all }: { parents: readonly string[]; all: readonly string[] },
): Promise<Map<string, FilledDirectory>> {
  await transaction.query({
    name: 'catalogue-lock-entries',
    text: `select pg_advisory_xact_lock_shared(${LOCK_SPACES.catalogue}, ${CATALOGUE_LOCKS.moves})`,
  });
  const locked = await transaction.query<{ path: string }>({
    name: 'catalogue-lock-filled',
    text: `select path from catalogue_directory where path = any($1) order by id for key share`,
    values: [parents],
  });
  const rows = await transaction.query<FilledDirectory>({
    name: 'catalogue-filled',
    text: `select id, path, owner_id, group_id, mode,
             exists (select from catalogue_directory c where c.parent = d.id) as has_directories,
             exists (select from catalogue_bytes b where b.${isBelow("rtrim(d.path, '/')")}) as has_bytes
           from catalogue_directory d where path = any($1)`,
    values: [all],
  });
  const isLocked = new Set(locked.map(({ path }) => path));
  const isParent = new Set(parents);
  return new Map(
    rows
      .filter(({ path }) => !isParent.has(path) || isLocked.has(path))
      .map((row) => [row.path, row]),
  );
}

/** True when one of the places is that of a directory. */
export async function areDirectories(
  transaction: Transaction,
  places: readonly Pick<NewFile, 'directoryId' | 'name'>[],
): Promise<boolean> {
  if (places.length === 0) return false;
  const [row] = await transaction.query<{ found: boolean }>({
    name: 'catalogue-new-directories',
    text: `select exists (select from unnest($1::integer[], $2::text[]) w (parent, name)
             join catalogue_directory d on d.parent = w.parent and d.name = w.name) as found`,
    values: [places.map(({ directoryId }) => directoryId), places.map(({ name }) => name)],
  });
  return row?.found === true;
}

/** True when one of the files is there. */
export async function areFiles(
  transaction: Transaction,
  places: readonly Pick<NewFile, 'directoryId' | 'name'>[],
): Promise<boolean> {
  const [row] = await transaction.query<{ found: boolean }>({
    name: 'catalogue-new-files-known',
    text: `select exists (select from unnest($1::integer[], $2::text[]) w (directory_id, name)
             join catalogue_file f on f.directory_id = w.directory_id and f.name = w.name) as found`,
    values: [places.map(({ directoryId }) => directoryId), places.map(({ name }) => name)],
  });
  return row?.found === true;
}

const COPY = `copy catalogue_file
  (directory_id, name, size, owner_id, group_id, mode, checksum, checksum_type, guid, replicas) from stdin`;

/** Writes the files, which are in the order of their places: whoever writes the same ones waits at the same place. */
export async function copyFiles(
  transaction: Transaction,
  files: readonly NewFile[],
  made: Attributes,
): Promise<void> {
  const same = `${made.owner_id}\t${made.group_id}\t${made.mode}`;
  let rows = '';
  for (const file of files) {
    const texts = [file.checksum, file.checksumType, file.guid, replicasText(file)].map(copied);
    rows += `${file.directoryId}\t${copied(file.name)}\t${file.size}\t${same}\t${texts.join('\t')}\n`;
  }
  await transaction.copy(COPY, rows);
}

function replicasText({ replicas }: NewFile): string | undefined {
  if (!replicas || replicas.size === 0) return undefined;
  return JSON.stringify(Object.fromEntries(replicas));
}

const TO_ESCAPE = /[\\\t\n\r]/;
const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A text as COPY has it; \N is null. */
function copied(text: string | undefined): string {
  if (text === undefined) return '\\N';
  if (!TO_ESCAPE.test(text)) return text;
  return text.replaceAll(/[\\\t\n\r]/g, (one) => ESCAPED[one] ?? one);
}
