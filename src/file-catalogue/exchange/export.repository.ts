import type { Queryable } from '#src/database/index.js';
import { listFiles, type FileRow } from '../namespace/files.repository.js';
import type { ValueRow } from '../metadata/metadata-field.js';

/** A directory of an export, once per value that is set on it (once without a value when there is none). */
export interface ExportedDirectory extends ValueRow {
  id: number;
  label: Buffer;
  path: string;
  owner_id: number;
  group_id: number;
  mode: number;
  field_id: number | null;
}

const DIRECTORIES_AT_ONCE = 500;
const FILES_AT_ONCE = 2_000;

/** Directories of [from, to) in depth-first order; the next page begins after the label of the last one. */
export async function directoriesToExport(
  source: Queryable,
  from: Buffer,
  to: Buffer,
): Promise<ExportedDirectory[]> {
  return source.query<ExportedDirectory>({
    name: 'catalogue-export-directories',
    text: `select d.*, s.field_id, s.int_value, s.float_value, s.text_value from (
             select id, label, path, owner_id, group_id, mode from catalogue_directory
             where label >= $1 and label < $2 order by label limit ${DIRECTORIES_AT_ONCE}) d
           left join catalogue_segment s on s.directory_id = d.id order by d.label, s.field_id`,
    values: [from, to],
  });
}

/** All files of a directory, some thousand at a time. */
export async function* filesToExport(
  source: Queryable,
  directoryId: number,
): AsyncGenerator<FileRow[]> {
  let after = '';
  for (let more = true; more;) {
    const page = await listFiles(source, directoryId, {
      after,
      limit: FILES_AT_ONCE,
      detail: 'all',
    });
    if (page.rows.length > 0) yield page.rows;
    after = page.rows.at(-1)?.name ?? '';
    more = page.hasMore;
  }
}
