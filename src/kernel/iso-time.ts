import { Problem } from './problem.js';

/** A stretch of time: `from` belongs to it, `to` does not. */
export interface TimeSpan {
  from: Date;
  to: Date;
}

/** A day that a month has, from the year 1 on, as `YYYY-MM-DD`, for a pattern. */
export const DAY_PATTERN = [
  '(000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d{3})',
  '-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))',
  '|(\\d\\d(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29',
].join('');
const TIME = '(([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?|24:00(:00(\\.0{1,9})?)?)';
const ZONE = '([01]\\d|2[0-3]):?[0-5]\\d';

/** A day or an instant of ISO 8601 in a query; a blank is a plus sign that nobody escaped. */
export const INSTANT = {
  type: 'string',
  pattern: `^(${DAY_PATTERN})(T${TIME}(Z|[+ -]${ZONE})?| ${TIME}(Z|[+-]${ZONE})?)?$`,
  example: '2026-01-02T03:04:05Z',
} as const;

const DAY_MS = 24 * 3600 * 1000;
const SHAPE = new RegExp(INSTANT.pattern);

/**
 * Reads an ISO 8601 day, which is the whole day in UTC, or an instant, which is the millisecond that records show. No
 * zone means UTC. Throws Problem 400 naming the key.
 */
export function readTime(key: string, text: string): TimeSpan {
  // A plus sign that nobody escaped arrives as a blank.
  const whole = text.replace(/ (\d\d:?\d\d)$/, (rest, zone: string) =>
    text.includes('T') ? `+${zone}` : rest,
  );
  const from = SHAPE.test(whole) ? new Date(withZone(whole)) : new Date(NaN);
  if (Number.isNaN(from.getTime())) {
    throw Problem.invalidField(key, 'is not an ISO 8601 date or time');
  }
  return { from, to: new Date(from.getTime() + (whole.length === 10 ? DAY_MS : 1)) };
}

/** As `Date` reads it for sure: `T` before the time, a colon in the zone, UTC where none is said. */
function withZone(text: string): string {
  if (text.length === 10) return text;
  const whole = text.replace(' ', 'T').replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  return /(Z|[+-]\d\d:\d\d)$/.test(whole) ? whole : `${whole}Z`;
}
