import type { Queryable } from '#src/platform/index.js';
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

const FILE_COLUMNS =
  'f.id, f.name, f.size, f.owner_id, f.group_id, f.mode, f.checksum, f.checksum_type, f.guid, f.metadata::text, f.replicas::text, f.created_at, f.modified_at';

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

/** Files of a directory with names after the given one, in byte order of their names. */
export async function listFiles(
  source: Queryable,
  directoryId: number,
  page: { after: string; limit: number },
): Promise<FileRow[]> {
  return source.query<FileRow>({
    name: 'catalogue-files',
    text: `select ${FILE_COLUMNS} from catalogue_file f
           where f.directory_id = $1 and f.name > $2 order by f.name limit $3`,
    values: [directoryId, page.after, page.limit],
  });
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
