import { Problem } from '#src/kernel/index.js';

/** First and last byte, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The one range that a `Range` header asks for (RFC 9110 §14): undefined when there is none, when it has several
 * or another unit, which may be answered with the whole. Throws Problem 416 for a range outside the size.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? '');
  if (!match) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (start <= end) return { start, end };
  throw new Problem(
    'request.range-not-satisfiable',
    `The range is outside of the ${sizeBytes} bytes that there are`,
    { headers: { 'Content-Range': `bytes */${sizeBytes}` } },
  );
}

/** True when an `If-None-Match` header names the tag (RFC 9110 §13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((part) => opaque(part.trim()) === opaque(tag));
}

/** A tag without its mark of weakness: this comparison is the weak one (RFC 9110 §8.8.3.2). */
function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}
