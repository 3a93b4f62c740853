import type { Queryable } from '#src/database/index.js';

/** A directory in its parent's listing. */
export interface SubDirectoryRow {
  id: number;
  name: string;
  owner_id: number;
  group_id: number;
  mode: number;
  created_at: Date;
  modified_at: Date;
}

/** Subdirectories with names after the given one, in byte order of their names. */
export async function listSubDirectories(
  source: Queryable,
  directoryId: number,
  page: { after: string; limit: number },
): Promise<SubDirectoryRow[]> {
  return source.query<SubDirectoryRow>({
    name: 'catalogue-subdirectories',
    text: `select id, name, owner_id, group_id, mode, created_at, modified_at from catalogue_directory
           where parent = $1 and name > $2 order by name limit $3`,
    values: [directoryId, page.after, page.limit],
  });
}
