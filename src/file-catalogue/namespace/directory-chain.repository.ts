import type { Queryable } from '#src/database/index.js';
import { cursorText, feedColumns, feedCursorOf } from '#src/events/index.js';
import { pathChain } from '../path/catalogue-path.js';

/** A directory as the tables hold it. */
export interface DirectoryRow {
  id: number;
  parent: number | null;
  label: Buffer;
  path: string;
  owner_id: number;
  group_id: number;
  mode: number;
  sub_files: number;
  /** Decimal digits: may leave 64 bits. */
  sub_bytes: string;
  created_at: Date;
  modified_at: Date;
}

/** Columns of a DirectoryRow. */
export const DIRECTORY_COLUMNS =
  'id, parent, label, path, owner_id, group_id, mode, sub_files, sub_bytes, created_at, modified_at';

/** The directories that exist on the way to the path, the root first. */
export async function readChain(source: Queryable, path: string): Promise<DirectoryRow[]> {
  const rows = [...(await readDirectories(source, [path])).values()];
  return rows.sort((a, b) => a.label.length - b.label.length);
}

/** The same, with the position of the feed at that very moment, from which on it tells what has changed since. */
export async function readChainNow(
  source: Queryable,
  path: string,
): Promise<{ chain: DirectoryRow[]; position: string }> {
  const rows = await source.query<DirectoryRow & Parameters<typeof feedCursorOf>[0]>({
    name: 'catalogue-chain-now',
    text: `select ${DIRECTORY_COLUMNS}, ${feedColumns('filecatalogue')}
           from catalogue_directory where path = any($1)`,
    values: [pathChain(path)],
  });
  const [first] = rows;
  if (!first) throw new Error('the root directory is missing');
  const chain = rows.sort((a, b) => a.label.length - b.label.length);
  return { chain, position: cursorText(feedCursorOf(first)) };
}

/** The directories of the given paths and all above them, by path. */
export async function readDirectories(
  source: Queryable,
  paths: readonly string[],
): Promise<Map<string, DirectoryRow>> {
  const rows = await source.query<DirectoryRow>({
    name: 'catalogue-chain',
    text: `select ${DIRECTORY_COLUMNS} from catalogue_directory where path = any($1)`,
    values: [[...new Set(paths.flatMap(pathChain))]],
  });
  return new Map(rows.map((row) => [row.path, row]));
}
