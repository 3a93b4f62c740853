import type { Queryable } from '#src/database/index.js';
import { cursorText, feedColumns, feedCursorOf } from '#src/events/index.js';
import type { Guarded } from '../access/catalogue.policy.js';
import { pathChain } from '../path/catalogue-path.js';
import type { SubDirectoryRow } from './directories.repository.js';
import type { FileRow } from './files.repository.js';

/** Entries of each kind that are read of a directory together with others; a larger one goes on alone. */
export const FIRST_ENTRIES = 200;

/** Directories of one statement. */
const MOST_TOGETHER = 16;

/** A directory on the way to another one, or that one. */
export interface WayDirectory extends Guarded {
  id: number;
  path: string;
}

/** A directory, the way to it and what comes first in it, of one state of the database. */
export interface FirstEntries {
  /** Directories that exist on the way, the root first. */
  chain: WayDirectory[];
  /** Of the feed, at that moment. */
  position: string;
  directories: SubDirectoryRow[];
  files: FileRow[];
}

interface Row extends FileRow {
  kind: 'position' | 'way' | 'directory' | 'file';
  directory_id: number;
}

const FEED = feedColumns('filecatalogue');

/**
 * Rows of four kinds with the columns of a file; for the position, `id` and `name` are the two columns of the feed. The planner does
 * not see how long the first array is, and so plans once.
 */
const STATEMENT = `
  with way as materialized (
    select id, path, owner_id, group_id, mode from catalogue_directory where path = any((select $1::text[])::text[])),
  asked as materialized (select id from way where path = any($2::text[]))
  select 'position' as kind, null::integer as directory_id, feed_position::bigint as id, feed_seen as name,
    null::bigint as size, null::integer as owner_id, null::integer as group_id, null::smallint as mode,
    null::text as checksum, null::text as checksum_type, null::text as guid,
    null::timestamptz as created_at, null::timestamptz as modified_at
  from (select ${FEED}) p
  union all
  select 'way', null, id, path, null, owner_id, group_id, mode, null, null, null, null, null from way
  union all
  select 'directory', a.id, d.id, d.name, null, d.owner_id, d.group_id, d.mode, null, null, null, d.created_at, d.modified_at
  from asked a cross join lateral (
    select * from catalogue_directory where parent = a.id order by name limit $3) d
  union all
  select 'file', a.id, f.id, f.name, f.size, f.owner_id, f.group_id, f.mode, f.checksum, f.checksum_type, f.guid,
    f.created_at, f.modified_at
  from asked a cross join lateral (
    select * from catalogue_file where directory_id = a.id order by name limit $3) f`;

/** The first entries of these directories, by path; of one that does not exist, the way to it. */
export async function readFirstEntries(
  source: Queryable,
  paths: readonly string[],
): Promise<Map<string, FirstEntries>> {
  const found = new Map<string, FirstEntries>();
  for (let from = 0; from < paths.length; from += MOST_TOGETHER) {
    await readTogether(source, paths.slice(from, from + MOST_TOGETHER), found);
  }
  return found;
}

async function readTogether(
  source: Queryable,
  paths: readonly string[],
  found: Map<string, FirstEntries>,
): Promise<void> {
  const rows = await source.query<Row>({
    name: 'catalogue-first-entries',
    text: STATEMENT,
    values: [[...new Set(paths.flatMap(pathChain))], paths, FIRST_ENTRIES],
  });
  const byPath = new Map<string, WayDirectory>();
  const inside = new Map<number, Pick<FirstEntries, 'directories' | 'files'>>();
  let position = '0';
  for (const row of rows) {
    if (row.kind === 'position') {
      position = cursorText(feedCursorOf({ feed_position: Number(row.id), feed_seen: row.name }));
    } else if (row.kind === 'way') {
      byPath.set(row.name, { ...row, id: Number(row.id), path: row.name });
    } else {
      let entries = inside.get(row.directory_id);
      if (!entries) inside.set(row.directory_id, (entries = { directories: [], files: [] }));
      if (row.kind === 'file') entries.files.push(row);
      else entries.directories.push({ ...row, id: Number(row.id) });
    }
  }
  for (const path of paths) {
    const chain = pathChain(path).flatMap((above) => byPath.get(above) ?? []);
    const entries = inside.get(byPath.get(path)?.id ?? 0) ?? { directories: [], files: [] };
    found.set(path, { chain, position, ...entries });
  }
}
