import type { Queryable } from '#src/database/index.js';
import { endOfSubtree } from '../path/label.js';
import type { Actor } from '../access/catalogue.policy.js';

const BITS = {
  read: { owner: 256, group: 32, other: 4 },
  write: { owner: 128, group: 16, other: 2 },
};

/**
 * Does a directory below the one of the label keep the actor out by its bits? Asked of those alone whose bits are not those
 * of the directory above, by their index; what the actor manages is open, and to be read what is opened.
 */
export async function isClosedBelow(
  source: Queryable,
  label: Buffer,
  { actor, right }: { actor: Actor; right: 'read' | 'write' },
): Promise<boolean> {
  const { owner, group, other } = BITS[right];
  const tops = [actor.managedPath ?? [], right === 'read' ? [...actor.opened] : []].flat();
  const [row] = await source.query<{ closed: boolean }>({
    name: `catalogue-closed-below-${right}`,
    text: `select exists (
      select from catalogue_directory
      where boundary and label > $1 and label < $2
        and case when owner_id = $3 then mode & ${owner} when group_id = $4 then mode & ${group}
                 else mode & ${other} end = 0
        and '/' || split_part(path, '/', 2) <> all($5::text[])) as closed`,
    values: [label, endOfSubtree(label), actor.userId, actor.groupId, tops],
  });
  return row?.closed ?? true;
}
