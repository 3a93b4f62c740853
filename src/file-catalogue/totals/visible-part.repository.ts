import { endOfSubtree } from '../path/label.js';
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

/** Text that is true for directories whose own bits keep the caller out. */
function keepsOut(userId: string, groupId: string): string {
  return `case when owner_id = ${userId} then mode & 256 when group_id = ${groupId} then mode & 32
               else mode & 4 end = 0`;
}

/**
 * Select of the directories of `start` whose own bits keep the caller out, in order: readability changes only at
 * boundaries.
 */
export function unreadableDirectories(userId: string, groupId: string): string {
  return `
    select label, sub_files as files, sub_bytes as bytes from catalogue_directory
    where boundary and label >= (select lo from start) and label < (select hi from start)
      and ${keepsOut(userId, groupId)}
    order by label`;
}

/**
 * The same of the whole tree, in no order, where it is decided of some directories of the root (arrays of paths) whatever the
 * bits say: those that are `closed`, and of what lies in none that is `decided` those whose bits keep the caller out. Nothing
 * inside a decided one is read.
 */
export function unreadableBesideTops(
  userId: string,
  groupId: string,
  { closed, decided }: { closed: string; decided: string },
): string {
  return `
    select label, sub_files as files, sub_bytes as bytes from catalogue_directory
    where path = any(${closed})
    union all
    select d.label, d.sub_files, d.sub_bytes from start
    cross join lateral ${rangesBeside(decided)} span
    cross join lateral (
      select label, sub_files, sub_bytes from catalogue_directory
      where boundary and label >= lower(span) and label < upper(span) and ${keepsOut(userId, groupId)}
      offset 0) d`;
}

/** Set of the ranges of labels from `lo` to `hi` that are left beside the directories with these paths. */
export function rangesBeside(paths: string): string {
  return `unnest(
      catalogue_spans(catalogue_span(lo, hi))
      - coalesce((select range_agg(catalogue_span(label, label || '\\xff'::bytea))
                  from catalogue_directory where path = any(${paths})), '{}'))`;
}

/** Select of what is pending, in order, where that is asked. */
export function pendingTotals(where = ''): string {
  return `
  select d.label, p.files, p.bytes
    from (select directory_id, sum(files)::bigint as files, sum(bytes) as bytes
          from catalogue_delta group by directory_id) p
    cross join lateral (select label from catalogue_directory where id = p.directory_id offset 0) d
    ${where} order by d.label`;
}

/** Select of what is pending in `start`, in order. */
export const PENDING_TOTALS = pendingTotals(
  'where d.label >= (select lo from start) and d.label < (select hi from start)',
);

/** Changes in order, some at a time: there may be hundreds of thousands. */
export type ChangesInOrder =
  Iterable<readonly TotalsChange[]> | AsyncIterable<readonly TotalsChange[]>;

/**
 * What of a subtree a caller may see. `closed` are the directories that keep the caller out, in order; only the
 * topmost of them count, each with everything below it. What is pending is read after them. Gives others their turn.
 */
export async function visiblePart(
  closed: ChangesInOrder,
  pending: ChangesInOrder,
): Promise<VisiblePart> {
  const slices = new Slices();
  const tops = new ClosedTops();
  for await (const changes of closed) {
    for (const change of changes) {
      if (slices.isOver) await slices.rest();
      tops.add(change);
    }
  }
  const totals = new ExactTotals();
  for await (const changes of pending) {
    for (const { label, files, bytes } of changes) {
      if (slices.isOver) await slices.rest();
      const key = label.toString('latin1');
      if (!tops.moveTo(key, totals)) totals.add(key, files, bytes);
    }
  }
  while (tops.moveOn(totals)) if (slices.isOver) await slices.rest();
  return { hidden: tops.ranges(), totals };
}

/** The topmost closed directories, in order; they are disjoint. What they hold does not count. */
class ClosedTops {
  private readonly labels: string[] = [];
  private readonly files: number[] = [];
  private readonly bytes: bigint[] = [];
  private readonly lo = new ArrayText();
  private readonly hi = new ArrayText();
  private range: LabelRange | undefined;
  private next = 0;

  /** Adds a closed directory, unless it lies in the last one. */
  add({ label, files, bytes }: TotalsChange): void {
    const key = label.toString('latin1');
    const last = this.labels.at(-1);
    if (last !== undefined && key.startsWith(last)) return;
    this.labels.push(key);
    this.files.push(files);
    this.bytes.push(bytes);
    const hi = endOfSubtree(label);
    if (this.range?.hi.equals(label)) {
      this.range.hi = hi; // ranges of neighbours are one
      return;
    }
    this.writeRange();
    this.range = { lo: label, hi };
  }

  /** Takes what the tops up to this label hold off the totals; true when the label lies in the last of them. */
  moveTo(label: string, totals: ExactTotals): boolean {
    while ((this.labels[this.next] ?? '\u{100}') <= label) this.moveOn(totals);
    const before = this.labels[this.next - 1];
    return before !== undefined && label.startsWith(before);
  }

  /** Takes what the next top holds off the totals; false when there is none. */
  moveOn(totals: ExactTotals): boolean {
    const label = this.labels[this.next];
    if (label === undefined) return false;
    totals.add(label, -(this.files[this.next] ?? 0), -(this.bytes[this.next] ?? 0n));
    this.next += 1;
    return true;
  }

  ranges(): HiddenRanges | undefined {
    if (!this.range) return undefined;
    this.writeRange();
    return { lo: this.lo.end(), hi: this.hi.end() };
  }

  private writeRange(): void {
    if (!this.range) return;
    this.lo.add(this.range.lo);
    this.hi.add(this.range.hi);
  }
}

const JOINED_AT_ONCE = 1_000;

/** An array of labels as PostgreSQL writes it, put together as they come. */
class ArrayText {
  private text = '';
  private pieces: string[] = [];

  add(label: Buffer): void {
    this.pieces.push(`"\\\\x${label.toString('hex')}"`);
    if (this.pieces.length >= JOINED_AT_ONCE) this.join();
  }

  end(): string {
    this.join();
    return `{${this.text}}`;
  }

  private join(): void {
    if (this.pieces.length === 0) return;
    this.text += `${this.text === '' ? '' : ','}${this.pieces.join(',')}`;
    this.pieces = [];
  }
}
