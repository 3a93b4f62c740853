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

const AS_CHANGES = `json_agg(json_build_array(label, files, bytes::text) order by label)`;

/**
 * Select of the directories of `start` whose own bits keep the caller out, as one array: readability changes only at
 * boundaries. Nothing keeps the caller out of `realm` (a path), where there is one.
 */
export function closedDirectories(userId: string, groupId: string, realm?: string): string {
  const outside =
    realm === undefined ? '' : `and path <> ${realm} and not starts_with(path, ${realm} || '/')`;
  return `select ${AS_CHANGES} from (
    select label, sub_files as files, sub_bytes as bytes from catalogue_directory
    where boundary and label >= (select lo from start) and label < (select hi from start)
      and case when owner_id = ${userId} then mode & 256 when group_id = ${groupId} then mode & 32
               else mode & 4 end = 0 ${outside} offset 0) h`;
}

/** Select of what is pending in `start`, as one array. */
export const PENDING_TOTALS = `
  select ${AS_CHANGES} from (
    select d.label, p.files, p.bytes
    from (select directory_id, sum(files)::bigint as files, sum(bytes) as bytes
          from catalogue_delta group by directory_id) p
    cross join lateral (select label from catalogue_directory where id = p.directory_id offset 0) d
    where d.label >= (select lo from start) and d.label < (select hi from start)) c`;

/**
 * What of a subtree a caller may see. `closed` are the directories that keep the caller out, in order; only the
 * topmost of them count, each with everything below it.
 */
export function visiblePart(
  closed: readonly TotalsChange[],
  pending: readonly TotalsChange[],
): VisiblePart {
  const tops: TotalsChange[] = [];
  for (const each of closed) {
    const last = tops.at(-1);
    if (!last || !isInSubtree(each.label, last.label)) tops.push(each);
  }
  const seen = pending.filter(({ label }) => !isInside(label, tops));
  const without = tops.map(({ label, files, bytes }) => ({ label, files: -files, bytes: -bytes }));
  return {
    hidden: tops.map(({ label }) => ({ lo: label, hi: endOfSubtree(label) })),
    totals: new ExactTotals([...seen, ...without]),
  };
}

/** True when the label lies in one of the subtrees, which are disjoint and in order. */
function isInside(label: Buffer, tops: readonly TotalsChange[]): boolean {
  let low = 0;
  let high = tops.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tops[middle] as TotalsChange).label.compare(label) <= 0) low = middle + 1;
    else high = middle;
  }
  const before = tops[low - 1];
  return before !== undefined && isInSubtree(label, before.label);
}
