import { CATALOGUE_LOCKS, LOCK_SPACES, type Transaction } from '#src/database/index.js';
import { DIRECTORY_COLUMNS, type DirectoryRow } from '../namespace/directory-chain.repository.js';
import { childLabel, endOfSubtree } from '../path/label.js';
import { baseName } from '../path/catalogue-path.js';
import { isBelow } from '../writing/catalogue-bytes.repository.js';

/** Keeps every other writer out until the transaction ends. */
export async function lockForMove(transaction: Transaction): Promise<void> {
  await transaction.query({
    text: `select pg_advisory_xact_lock(${LOCK_SPACES.catalogue}, ${CATALOGUE_LOCKS.moves}),
             pg_advisory_xact_lock(${LOCK_SPACES.catalogue}, ${CATALOGUE_LOCKS.totals})`,
  });
}

/** The directory of this path. */
export async function findDirectory(
  transaction: Transaction,
  path: string,
): Promise<(DirectoryRow & { next_ordinal: number }) | undefined> {
  const [row] = await transaction.query<DirectoryRow & { next_ordinal: number }>({
    name: 'catalogue-directory-find',
    text: `select ${DIRECTORY_COLUMNS}, next_ordinal from catalogue_directory where path = $1`,
    values: [path],
  });
  return row;
}

/** Levels of the deepest directory of a subtree, and bytes of its longest path (files included). */
export async function extentOf(
  transaction: Transaction,
  directory: DirectoryRow,
): Promise<{ depth: number; bytes: number }> {
  const [row] = await transaction.query<{ depth: number; bytes: number }>({
    text: `select max(d.depth + (f.name is not null)::int)::integer as depth,
             max(octet_length(d.path) + coalesce(octet_length(f.name) + 1, 0))::integer as bytes
           from catalogue_directory d left join lateral (
             select name from catalogue_file where directory_id = d.id
             order by octet_length(name) desc limit 1) f on true
           where d.label >= $1 and d.label < $2`,
    values: [directory.label, endOfSubtree(directory.label)],
  });
  return row ?? { depth: 0, bytes: 0 };
}

/** True when one of the paths is held for bytes, or something below them, or bytes of files below the directory came through this service. */
export async function holdBytes(
  transaction: Transaction,
  { directory, to }: { directory: DirectoryRow; to: string },
): Promise<boolean> {
  const [row] = await transaction.query<{ found: boolean }>({
    text: `select exists (select from catalogue_bytes where path = any(array[$3, $4]))
             or exists (select from catalogue_bytes where ${isBelow('$3')})
             or exists (select from catalogue_bytes where ${isBelow('$4')})
             or exists (select from catalogue_directory d join catalogue_file f on f.directory_id = d.id
               where d.label >= $1 and d.label < $2 and f.stored is not null) as found`,
    values: [directory.label, endOfSubtree(directory.label), directory.path, to],
  });
  return row?.found === true;
}

/** Names of fields that are set both in the subtree and on the directories of the given ids. */
export async function fieldsOnBoth(
  transaction: Transaction,
  directory: DirectoryRow,
  chainIds: readonly number[],
): Promise<string[]> {
  const rows = await transaction.query<{ name: string }>({
    text: `select f.name from catalogue_field f join catalogue_segment c on c.field_id = f.id
           where c.directory_id = any($3::integer[]) and exists (
             select from catalogue_segment s where s.field_id = f.id and s.lo >= $1 and s.lo < $2)
           order by f.name`,
    values: [directory.label, endOfSubtree(directory.label), chainIds],
  });
  return rows.map(({ name }) => name);
}

/** Gives the subtree its new place: labels, paths, segments, and totals of both ways up. Answers its directories. */
export async function relocate(
  transaction: Transaction,
  move: { directory: DirectoryRow; parent: DirectoryRow & { next_ordinal: number }; to: string },
): Promise<number> {
  const { directory, parent, to } = move;
  const label = childLabel(parent.label, parent.next_ordinal);
  const old = [directory.label, endOfSubtree(directory.label)];
  await addToChain(transaction, directory.parent, directory, -1);
  await transaction.execute({
    text: `update catalogue_segment set lo = $3 || substr(lo, length($1::bytea) + 1),
             hi = case when lo = $1 then $4 else $3 || substr(hi, length($1::bytea) + 1) end
           where lo >= $1 and lo < $2`,
    values: [...old, label, endOfSubtree(label)],
  });
  const moved = await transaction.execute({
    text: `update catalogue_directory set label = $3 || substr(label, length($1::bytea) + 1),
             path = $4 || substr(path, char_length($5) + 1),
             depth = depth + array_length(string_to_array($4, '/'), 1) - array_length(string_to_array($5, '/'), 1)
           where label >= $1 and label < $2`,
    values: [...old, label, to, directory.path],
  });
  await transaction.execute({
    text: `update catalogue_directory d set parent = p.id, name = $3, modified_at = now(),
             boundary = (d.owner_id, d.group_id, d.mode) is distinct from (p.owner_id, p.group_id, p.mode)
           from catalogue_directory p where d.id = $1 and p.id = $2`,
    values: [directory.id, parent.id, baseName(to)],
  });
  await transaction.execute({
    text: 'update catalogue_directory set next_ordinal = next_ordinal + 1 where id = $1',
    values: [parent.id],
  });
  await addToChain(transaction, parent.id, directory, 1);
  return moved;
}

/** Adds the stored totals of a directory to another one and all above it; what is pending follows the subtree. */
async function addToChain(
  transaction: Transaction,
  id: number | null,
  subtree: DirectoryRow,
  sign: 1 | -1,
): Promise<void> {
  await transaction.execute({
    text: `with recursive upwards as (
             select id, parent from catalogue_directory where id = $1
             union all
             select d.id, d.parent from catalogue_directory d join upwards u on d.id = u.parent)
           update catalogue_directory d
           set sub_files = d.sub_files + $2::bigint, sub_bytes = d.sub_bytes + $3::numeric
           from upwards u where d.id = u.id`,
    values: [id, sign * subtree.sub_files, String(BigInt(sign) * BigInt(subtree.sub_bytes))],
  });
}
