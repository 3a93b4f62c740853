import type { Transaction } from '#src/database/index.js';
import { cursorRows } from '../statements/catalogue-statements.repository.js';

/** A directory with everything that its totals are checked against. */
export interface VerifiedRow {
  id: number;
  parent: number | null;
  name: string;
  path: string;
  depth: number;
  label: Buffer;
  boundary: boolean;
  owner_id: number;
  group_id: number;
  mode: number;
  sub_files: number;
  sub_bytes: string;
  own_files: number;
  own_bytes: string;
  pending_files: number;
  pending_bytes: string;
}

/** All directories in depth-first order, each with its files counted anew. */
export function directoriesToVerify(snapshot: Transaction): AsyncGenerator<VerifiedRow[]> {
  const text = `
    select d.id, d.parent, d.name, d.path, d.depth, d.label, d.boundary, d.owner_id, d.group_id, d.mode,
      d.sub_files, d.sub_bytes, f.files as own_files, f.bytes as own_bytes,
      p.files as pending_files, p.bytes as pending_bytes
    from (select * from catalogue_directory order by label offset 0) d
    cross join lateral (select count(*) as files, coalesce(sum(size), 0) as bytes
      from catalogue_file where directory_id = d.id) f
    cross join lateral (select coalesce(sum(files), 0)::bigint as files, coalesce(sum(bytes), 0) as bytes
      from catalogue_delta where directory_id = d.id) p`;
  return cursorRows<VerifiedRow>(snapshot, { text });
}

/** Things that must not exist, with how many there are of each. */
const INCONSISTENCIES: Record<string, string> = {
  'pending totals of no directory': `select count(*) as n from catalogue_delta p
    where not exists (select from catalogue_directory d where d.id = p.directory_id)`,
  'segments that are not where their directory is': `select count(*) as n from catalogue_segment s
    join catalogue_directory d on d.id = s.directory_id where s.lo <> d.label`,
  'overlapping segments of one field': `select count(*) as n from (
    select lo, lag(hi) over (partition by field_id order by lo) as before from catalogue_segment) s
    where s.before > s.lo`,
  'values with a wrong number of segments': `select count(*) as n from (
    select field_id, int_value, float_value, text_value, segments from catalogue_value
    except select field_id, int_value, float_value, text_value, count(*) from catalogue_segment group by 1, 2, 3, 4) v`,
  'values that are not listed': `select count(*) as n from (
    select field_id, int_value, float_value, text_value from catalogue_segment
    except select field_id, int_value, float_value, text_value from catalogue_value) v`,
  'fields with a wrong number of values': `select count(*) as n from catalogue_field f
    where f.value_count <> (select count(*) from catalogue_value v where v.field_id = f.id)`,
  'files and directories of one name': `select count(*) as n from catalogue_directory d
    join catalogue_file f on f.directory_id = d.parent and f.name = d.name`,
};

/** Counts what must not exist. */
export async function countInconsistencies(
  snapshot: Transaction,
): Promise<[what: string, count: number][]> {
  const counts: [string, number][] = [];
  for (const [what, text] of Object.entries(INCONSISTENCIES)) {
    const [row] = await snapshot.query<{ n: number }>({ text });
    counts.push([what, Number(row?.n)]);
  }
  return counts;
}

/** Number of all files, those of no directory included. */
export async function countFiles(snapshot: Transaction): Promise<number> {
  const [row] = await snapshot.query<{ n: number }>({
    text: 'select count(*) as n from catalogue_file',
  });
  return Number(row?.n);
}
