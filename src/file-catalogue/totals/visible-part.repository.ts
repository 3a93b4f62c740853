import { endOfSubtree, isInSubtree } from '../path/label.js';
import { Slices } from '#src/kernel/index.js';
import { ExactTotals, type TotalsChange } from './exact-totals.js';

/** A range of labels: [lo, hi). */
export interface LabelRange {
  lo: Buffer;
  hi: Buffer;
}

/** Ranges that a caller may not see, as PostgreSQL writes arrays: `lo` and `hi` of each in one text, which may be long. */
export interface HiddenRanges {
  lo: string;
  hi: string;
}

/** What a caller sees of a subtree: the ranges that are hidden, if any, and exact totals without them. */
export interface VisiblePart {
  hidden: HiddenRanges | undefined;
  totals: ExactTotals;
}

/**
 * Select of the directories of `start` whose own bits keep the caller out, in order: readability changes only at
 * boundaries. Nothing keeps the caller out of `managedPath` (a path), where there is one.
 */
export function unreadableDirectories(
  userId: string,
  groupId: string,
  managedPath?: string,
): string {
  const outside =
    managedPath === undefined
      ? ''
      : `and path <> ${managedPath} and not starts_with(path, ${managedPath} || '/')`;
  return `
    select label, sub_files as files, sub_bytes as bytes from catalogue_directory
    where boundary and label >= (select lo from start) and label < (select hi from start)
      and case when owner_id = ${userId} then mode & 256 when group_id = ${groupId} then mode & 32
               else mode & 4 end = 0 ${outside}
    order by label`;
}

/** Select of what is pending in `start`, in order. */
export const PENDING_TOTALS = `
  select d.label, p.files, p.bytes
    from (select directory_id, sum(files)::bigint as files, sum(bytes) as bytes
          from catalogue_delta group by directory_id) p
    cross join lateral (select label from catalogue_directory where id = p.directory_id offset 0) d
    where d.label >= (select lo from start) and d.label < (select hi from start)
    order by d.label`;

/**
 * What of a subtree a caller may see. `closed` are the directories that keep the caller out, in order; only the
 * topmost of them count, each with everything below it. Both lists may be long: it gives others their turn.
 */
export async function visiblePart(
  closed: readonly TotalsChange[],
  pending: readonly TotalsChange[],
): Promise<VisiblePart> {
  const slices = new Slices();
  const tops: TotalsChange[] = [];
  const hidden: LabelRange[] = [];
  for (const each of closed) {
    if (slices.isOver) await slices.rest();
    const last = tops.at(-1);
    if (last && isInSubtree(each.label, last.label)) continue;
    tops.push(each);
    addRange(hidden, { lo: each.label, hi: endOfSubtree(each.label) });
  }
  const seen: TotalsChange[] = [];
  for (const change of pending) {
    if (slices.isOver) await slices.rest();
    if (!isInside(change.label, tops)) seen.push(change);
  }
  return { hidden: await textsOf(hidden), totals: await ExactTotals.of(seen, tops) };
}

async function textsOf(ranges: readonly LabelRange[]): Promise<HiddenRanges | undefined> {
  if (ranges.length === 0) return undefined;
  const slices = new Slices();
  const [lo, hi]: [string[], string[]] = [[], []];
  for (const range of ranges) {
    if (slices.isOver) await slices.rest();
    lo.push(`"\\\\x${range.lo.toString('hex')}"`);
    hi.push(`"\\\\x${range.hi.toString('hex')}"`);
  }
  return { lo: `{${lo.join(',')}}`, hi: `{${hi.join(',')}}` };
}

/** Ranges of neighbours are one. */
function addRange(ranges: LabelRange[], range: LabelRange): void {
  const last = ranges.at(-1);
  if (last?.hi.equals(range.lo)) last.hi = range.hi;
  else ranges.push(range);
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
