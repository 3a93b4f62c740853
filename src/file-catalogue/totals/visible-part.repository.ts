import type { Queryable } from '#src/platform/index.js';
import type { Actor } from '../catalogue.policy.js';
import { endOfSubtree, isInSubtree } from '../path/label.js';
import { ExactTotals, type TotalsChange } from './exact-totals.js';

/** A range of labels: [lo, hi). */
export interface LabelRange {
  lo: Buffer;
  hi: Buffer;
}

/** What a caller sees of a subtree: the ranges that are hidden, and exact totals without them. */
export interface VisiblePart {
  hidden: LabelRange[];
  totals: ExactTotals;
}

interface TotalsRow {
  label: Buffer;
  files: number;
  bytes: string;
}

/** What of a subtree the caller may see, and what is pending in it. Both come from the same snapshot. */
export async function readVisiblePart(
  source: Queryable,
  actor: Actor,
  range: LabelRange,
): Promise<VisiblePart> {
  const hiddenTops = actor.readsAll ? [] : await readHiddenTops(source, actor, range);
  const hidden = hiddenTops.map(({ label }) => ({ lo: label, hi: endOfSubtree(label) }));
  const pending = (await readPending(source, range)).filter(
    (change) => !hiddenTops.some((top) => isInSubtree(change.label, top.label)),
  );
  const without = hiddenTops.map(({ label, files, bytes }) => ({
    label,
    files: -files,
    bytes: -bytes,
  }));
  return { hidden, totals: new ExactTotals([...pending, ...without]) };
}

/** The hidden ranges alone. */
export async function readHidden(
  source: Queryable,
  actor: Actor,
  range: LabelRange,
): Promise<LabelRange[]> {
  if (actor.readsAll) return [];
  const tops = await readHiddenTops(source, actor, range);
  return tops.map(({ label }) => ({ lo: label, hi: endOfSubtree(label) }));
}

/** Topmost directories of the range that the caller may not read: readability changes only at boundaries. */
async function readHiddenTops(
  source: Queryable,
  actor: Actor,
  range: LabelRange,
): Promise<TotalsChange[]> {
  const rows = await source.query<TotalsRow>({
    name: 'catalogue-hidden',
    text: `select label, sub_files as files, sub_bytes as bytes from catalogue_directory
           where boundary and label >= $1 and label < $2
             and case when owner_id = $3 then mode & 256 when group_id = $4 then mode & 32
                      else mode & 4 end = 0
           order by label`,
    values: [range.lo, range.hi, actor.userId, actor.groupId],
  });
  const tops: TotalsChange[] = [];
  for (const row of rows.map(changeOf)) {
    const last = tops.at(-1);
    if (!last || !isInSubtree(row.label, last.label)) tops.push(row);
  }
  return tops;
}

async function readPending(source: Queryable, range: LabelRange): Promise<TotalsChange[]> {
  const rows = await source.query<TotalsRow>({
    name: 'catalogue-pending',
    text: `select d.label, p.files, p.bytes
           from (select directory_id, sum(files)::bigint as files, sum(bytes) as bytes
                 from catalogue_delta group by directory_id) p
           cross join lateral (select label from catalogue_directory
                               where id = p.directory_id offset 0) d
           where d.label >= $1 and d.label < $2`,
    values: [range.lo, range.hi],
  });
  return rows.map(changeOf);
}

function changeOf(row: TotalsRow): TotalsChange {
  return { label: row.label, files: Number(row.files), bytes: BigInt(row.bytes) };
}
