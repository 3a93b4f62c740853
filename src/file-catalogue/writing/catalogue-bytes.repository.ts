import { LOCK_SPACES, type Transaction } from '#src/database/index.js';
import type { BytesState } from './catalogue-bytes.entity.js';

/** Bytes that belong to no file, as far as writers look at them. */
export interface HeldBytes {
  id: number | bigint;
  path: string;
  owner_id: number;
  se_id: number;
  state: BytesState;
  jid: number | bigint | null;
  size: number | bigint | null;
  md5: string | null;
  /** 0: nobody has been let in yet. */
  removals: number;
}

/** A path that is to be held for bytes. */
export interface NewBytes {
  path: string;
  ownerId: number;
  seId: number;
  size?: number | bigint | undefined;
  md5?: string | undefined;
  endsAt: Date | 'infinity';
  run?: { jid: number | bigint; attempt: number; adler32: string; sha256: string } | undefined;
}

/** Bytes of a file that is deleted. */
export interface DroppedBytes {
  path: string;
  ownerId: number;
  seId: number;
  dueAt: Date;
}

/** SQL: the path lies below the directory, which is written without the slash at its end. In the order of bytes, 0 comes after /. */
export function isBelow(directory: string): string {
  return `path > ${directory} || '/' and path < ${directory} || '0'`;
}

const HELD = 'id, path, owner_id, se_id, state, jid, size, md5, removals';

/**
 * The bytes at these paths, and one of those below each of the files. The directories of the paths are locked: nothing can come, and what
 * arrives may go.
 */
export async function findBytes(
  transaction: Transaction,
  paths: readonly string[],
  files: readonly string[],
): Promise<HeldBytes[]> {
  return transaction.query<HeldBytes>({
    name: 'catalogue-bytes-at',
    text: `select ${HELD} from catalogue_bytes where path = any($1)
           union all
           select below.* from unnest($2::text[]) file (place)
             cross join lateral (select ${HELD} from catalogue_bytes where ${isBelow('file.place')} limit 1) below`,
    values: [paths, files],
  });
}

/** Holds paths longer that are held for the same bytes. Answers how many of them; others arrive no longer. */
export async function prolongBytes(
  transaction: Transaction,
  bytes: readonly { id: number | bigint; endsAt: Date | 'infinity' }[],
): Promise<number> {
  return transaction.execute({
    name: 'catalogue-bytes-prolong',
    text: `update catalogue_bytes b set due_at = greatest(b.due_at, w.due_at)
           from unnest($1::bigint[], $2::timestamptz[]) w (id, due_at) where b.id = w.id and b.state = 'arriving'`,
    values: [bytes.map(({ id }) => id), bytes.map(({ endsAt }) => endsAt)],
  });
}

/** Bytes for which nobody holds a path any more. Answers of how many; others arrive no longer. */
export async function endBytes(
  transaction: Transaction,
  ids: readonly (number | bigint)[],
): Promise<number> {
  return transaction.execute({
    name: 'catalogue-bytes-end',
    text: `update catalogue_bytes set state = 'removing', due_at = now()
           where id = any($1::bigint[]) and state = 'arriving'`,
    values: [ids],
  });
}

/** The bytes of files that are deleted are removed from then on. */
export async function dropBytes(
  transaction: Transaction,
  bytes: readonly DroppedBytes[],
): Promise<void> {
  await transaction.execute({
    name: 'catalogue-bytes-drop',
    text: `insert into catalogue_bytes (state, removals, path, owner_id, se_id, due_at)
           select 'removing', 1, * from unnest($1::text[], $2::integer[], $3::integer[], $4::timestamptz[])`,
    values: [
      bytes.map(({ path }) => path),
      bytes.map(({ ownerId }) => ownerId),
      bytes.map(({ seId }) => seId),
      bytes.map(({ dueAt }) => dueAt),
    ],
  });
}

/** Holds the paths, for which nobody has been let in yet. Answers how many of them; others were there. */
export async function insertBytes(
  transaction: Transaction,
  bytes: readonly NewBytes[],
): Promise<number> {
  return transaction.execute({
    name: 'catalogue-bytes-insert',
    text: `insert into catalogue_bytes
             (state, path, owner_id, se_id, size, md5, due_at, jid, attempt, adler32, sha256)
           select 'arriving', * from unnest($1::text[], $2::integer[], $3::integer[], $4::bigint[], $5::text[],
             $6::timestamptz[], $7::bigint[], $8::integer[], $9::text[], $10::text[])
           on conflict do nothing`,
    values: [
      bytes.map(({ path }) => path),
      bytes.map(({ ownerId }) => ownerId),
      bytes.map(({ seId }) => seId),
      bytes.map(({ size }) => (size === undefined ? null : String(size))),
      bytes.map(({ md5 }) => md5 ?? null),
      bytes.map(({ endsAt }) => endsAt),
      bytes.map(({ run }) => (run ? String(run.jid) : null)),
      bytes.map(({ run }) => run?.attempt ?? null),
      bytes.map(({ run }) => run?.adler32 ?? null),
      bytes.map(({ run }) => run?.sha256 ?? null),
    ],
  });
}

/** Bytes that have arrived, and the file whose they are. */
export interface ArrivedBytes {
  id: number | bigint;
  directoryId: number;
  name: string;
  sha256: string | null;
}

/** Gives bytes to their files, which are written. Answers of how many; others arrive no longer. */
export async function giveBytes(
  transaction: Transaction,
  arrived: readonly ArrivedBytes[],
): Promise<number> {
  return transaction.execute({
    name: 'catalogue-bytes-give',
    text: `with given as (
             delete from catalogue_bytes b using unnest($1::bigint[], $2::integer[], $3::text[], $4::text[])
               w (id, directory_id, name, sha256)
             where b.id = w.id and b.state = 'arriving' returning b.se_id, w.directory_id, w.name, w.sha256)
           update catalogue_file f set stored = array[g.se_id], sha256 = g.sha256
           from given g where f.directory_id = g.directory_id and f.name = g.name`,
    values: [
      arrived.map(({ id }) => id),
      arrived.map(({ directoryId }) => directoryId),
      arrived.map(({ name }) => name),
      arrived.map(({ sha256 }) => sha256),
    ],
  });
}

/** How many bytes of a user belong to no file, those that are being removed among them. Others who ask wait until the transaction ends. */
export async function countHeld(transaction: Transaction, ownerId: number): Promise<number> {
  await transaction.query({
    name: 'catalogue-bytes-lock-owner',
    text: `select pg_advisory_xact_lock(${LOCK_SPACES.uploaders}, $1)`,
    values: [ownerId],
  });
  const [row] = await transaction.query<{ held: number }>({
    name: 'catalogue-bytes-held',
    text: `select count(*)::integer as held from catalogue_bytes
           where owner_id = $1 and jid is null`,
    values: [ownerId],
  });
  return row?.held ?? 0;
}
