import type { Queryable } from '#src/platform/index.js';
import { DIRECTORY_COLUMNS, type DirectoryRow } from './directory-chain.repository.js';

/** A directory in its parent's listing. */
export interface SubDirectoryRow extends DirectoryRow {
  name: string;
}

/** Subdirectories with names after the given one, in byte order of their names. */
export async function listSubDirectories(
  source: Queryable,
  directoryId: number,
  page: { after: string; limit: number },
): Promise<SubDirectoryRow[]> {
  return source.query<SubDirectoryRow>({
    name: 'catalogue-subdirectories',
    text: `select name, ${DIRECTORY_COLUMNS} from catalogue_directory
           where parent = $1 and name > $2 order by name limit $3`,
    values: [directoryId, page.after, page.limit],
  });
}
