import type { Queryable } from '#src/database/index.js';
import { baseName, parentPath } from '../path/catalogue-path.js';

/** A file as the tables hold it; metadata and replicas as JSON text, so that no digit is lost. */
export interface FileRow {
  id: number | bigint;
  name: string;
  size: number | bigint;
  owner_id: number;
  group_id: number;
  mode: number;
  checksum: string | null;
  checksum_type: string | null;
  guid: string | null;
  metadata: string | null;
  replicas: string | null;
  created_at: Date;
  modified_at: Date;
}

const PLAIN_COLUMNS =
  'f.id, f.name, f.size, f.owner_id, f.group_id, f.mode, f.checksum, f.checksum_type, f.guid, f.created_at, f.modified_at';
const FILE_COLUMNS = `${PLAIN_COLUMNS}, f.metadata::text, f.replicas::text`;

/** Which long columns of files are read; the others are null. */
export type FileDetail = 'plain' | 'replicas' | 'all';

const DETAIL_COLUMNS: Record<FileDetail, string> = {
  plain: `${PLAIN_COLUMNS}, null as metadata, null as replicas`,
  replicas: `${PLAIN_COLUMNS}, null as metadata, f.replicas::text`,
  all: FILE_COLUMNS,
};

/** Long columns of one page of files, in bytes; the page ends with the file that goes beyond it. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Some files of a directory in order. */
export interface FilePage {
  rows: FileRow[];
  /** True when files may follow. */
  hasMore: boolean;
}

/** The file of this path. */
export async function findFile(source: Queryable, path: string): Promise<FileRow | undefined> {
  const [row] = await source.query<FileRow>({
    name: 'catalogue-file',
    text: `select ${FILE_COLUMNS} from catalogue_directory d
           join catalogue_file f on f.directory_id = d.id and f.name = $2 where d.path = $1`,
    values: [parentPath(path), baseName(path)],
  });
  return row;
}

/** The files of these paths, by path. */
export async function findFiles(
  source: Queryable,
  paths: readonly string[],
  detail: FileDetail = 'plain',
): Promise<Map<string, FileRow>> {
  const rows = await source.query<FileRow & { place: number | bigint }>({
    name: `catalogue-files-by-path-${detail}`,
    text: `select w.place, ${DETAIL_COLUMNS[detail]}
           from unnest($1::text[], $2::text[]) with ordinality w (directory, name, place)
           join catalogue_directory d on d.path = w.directory
           join catalogue_file f on f.directory_id = d.id and f.name = w.name`,
    values: [paths.map(parentPath), paths.map(baseName)],
  });
  return new Map(rows.map((row) => [paths[Number(row.place) - 1] ?? '', row]));
}

/** Files of a directory with names after the given one, in byte order of their names; at most `limit` and PAGE_BYTES. */
export async function listFiles(
  source: Queryable,
  directoryId: number,
  page: { after: string; limit: number; detail: FileDetail },
): Promise<FilePage> {
  const { after, limit, detail } = page;
  const files = `select ${DETAIL_COLUMNS[detail]} from catalogue_file f
    where f.directory_id = $1 and f.name > $2 order by f.name limit $3`;
  const rows = await source.query<FileRow & { found?: number }>({
    name: `catalogue-files-${detail}`,
    text: detail === 'plain' ? files : untilFull(files),
    values: [directoryId, after, limit],
  });
  const found = rows[0]?.found ?? rows.length;
  return { rows, hasMore: found === limit || rows.length < found };
}

/** Of the files those before which less than PAGE_BYTES stand; `found` is the number of all. */
function untilFull(files: string): string {
  return `
    with page as materialized (${files}),
    measured as (
      select page.*, count(*) over () as found,
        sum(coalesce(octet_length(replicas), 0) + coalesce(octet_length(metadata), 0))
          over (order by name rows between unbounded preceding and 1 preceding) as before
      from page)
    select * from measured where before is null or before < ${PAGE_BYTES} order by name`;
}

/** Which of the paths are files. */
export async function existingFiles(
  source: Queryable,
  paths: readonly string[],
): Promise<Set<string>> {
  const rows = await source.query<{ directory: string; name: string }>({
    name: 'catalogue-files-existing',
    text: `select w.directory, w.name from unnest($1::text[], $2::text[]) w (directory, name)
           join catalogue_directory d on d.path = w.directory
           join catalogue_file f on f.directory_id = d.id and f.name = w.name`,
    values: [paths.map(parentPath), paths.map(baseName)],
  });
  return new Set(
    rows.map((row) => (row.directory === '/' ? `/${row.name}` : `${row.directory}/${row.name}`)),
  );
}
