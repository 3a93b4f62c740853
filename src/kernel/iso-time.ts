import { Problem } from './problem.js';

/** A stretch of time: `from` belongs to it, `to` does not. */
export interface TimeSpan {
  from: Date;
  to: Date;
}

/** A day or an instant of ISO 8601 in a query; a blank is a plus sign that nobody escaped. */
export const INSTANT = {
  type: 'string',
  pattern:
    '^\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+ -]\\d\\d:?\\d\\d)?)?$',
  example: '2026-01-02T03:04:05Z',
} as const;

const DAY_MS = 24 * 3600 * 1000;
const SHAPE = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;
const ZONE = /(Z|[+-]\d\d:?\d\d)$/;

/**
 * Reads an ISO 8601 day, which is the whole day in UTC, or an instant, which is the millisecond that records show. No
 * zone means UTC. Throws Problem 400 naming the key.
 */
export function readTime(key: string, text: string): TimeSpan {
  // A plus sign that nobody escaped arrives as a blank.
  const whole = text.replace(/ (\d\d:?\d\d)$/, (rest, zone: string) =>
    text.includes('T') ? `+${zone}` : rest,
  );
  const from =
    isDay(whole.slice(0, 10)) && SHAPE.test(whole) ? new Date(withZone(whole)) : new Date(NaN);
  if (Number.isNaN(from.getTime())) {
    throw Problem.invalidField(key, 'is not an ISO 8601 date or time');
  }
  return { from, to: new Date(from.getTime() + (whole.length === 10 ? DAY_MS : 1)) };
}

/** False for days that no month has: `Date` would take 30 February for 2 March. */
function isDay(text: string): boolean {
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function withZone(text: string): string {
  if (text.length === 10 || ZONE.test(text.slice(10))) return text;
  return `${text.replace(' ', 'T')}Z`;
}
