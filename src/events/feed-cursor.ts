import { Problem } from '#src/kernel/index.js';

/** Where somebody has got to in a feed. */
export interface FeedCursor {
  /** The last event that was looked at. */
  position: number;
  /** A snapshot of the database that was read at that position: what it has seen has its number perhaps only behind it. */
  seen?: string;
}

const CURSOR = /^\d{1,15}(-\d{1,20}){0,300}$/;
/** A cursor as text: the position, and the numbers of the snapshot. */
export const CURSOR_PATTERN = CURSOR.source;

/** The text of a cursor; it goes into headers and queries as it is. */
export function cursorText({ position, seen }: FeedCursor): string {
  const numbers = seen?.split(/[:,]/).filter((number) => number !== '') ?? [];
  return [position, ...numbers].join('-');
}

/** Reads a cursor. Throws Problem 400 naming the field. */
export function readCursor(text: string, field: string): FeedCursor {
  const [position = '', xmin, xmax, ...running] = text.split('-');
  if (!CURSOR.test(text) || (xmin !== undefined && xmax === undefined)) {
    throw Problem.invalidField(field, 'is not a position of a feed');
  }
  if (xmin === undefined) return { position: Number(position) };
  if (!isSnapshot(xmin, xmax ?? '', running)) {
    throw Problem.invalidField(field, 'is not a position of a feed');
  }
  return { position: Number(position), seen: `${xmin}:${xmax}:${running.join(',')}` };
}

/** What PostgreSQL takes for a snapshot: 0 < xmin ≤ running, growing, < xmax. */
function isSnapshot(xmin: string, xmax: string, running: readonly string[]): boolean {
  const bounds = [xmin, ...running].map(BigInt);
  const last = BigInt(xmax);
  if (last >= 2n ** 63n || bounds[0] === 0n || (bounds[0] ?? 0n) > last) return false;
  return bounds.every((one, index) => {
    if (index === 0) return true;
    const before = bounds[index - 1] ?? 0n;
    return one < last && (index === 1 ? one >= before : one > before);
  });
}
