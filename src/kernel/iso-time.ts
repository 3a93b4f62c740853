import { Problem } from './problem.js';

/** A stretch of time: `from` belongs to it, `to` does not. */
export interface TimeSpan {
  from: Date;
  to: Date;
}

/** A day that a month has, from the year 1 on: `YYYY-MM-DD`. */
export const DAY =
  /^(?:(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29)$/;
/** What may stand behind it: a time, whose zone may have a blank where nobody escaped the plus sign. */
const TIME =
  /^(?:[T ](?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?|24:00(?::00(?:\.0{1,9})?)?)(?:Z|[+ -](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;
const inside = ({ source }: RegExp): string => source.slice(1, -1);

/** A day or an instant of ISO 8601 in a query; a blank is a plus sign that nobody escaped. */
export const INSTANT = {
  type: 'string',
  pattern: `^${inside(DAY)}${inside(TIME)}$`,
  example: '2026-01-02T03:04:05Z',
} as const;

const DAY_MS = 24 * 3600 * 1000;
/** The first moment of the year 1: a zone must not lead before it. */
const FIRST_MS = -62_135_596_800_000;

/**
 * Reads an ISO 8601 day, which is the whole day in UTC, or an instant, which is the millisecond that records show. No
 * zone means UTC. Throws Problem 400 naming the key.
 */
export function readTime(key: string, text: string): TimeSpan {
  const isTime = DAY.test(text.slice(0, 10)) && TIME.test(text.slice(10));
  const from = isTime ? new Date(withZone(text)) : new Date(NaN);
  if (!(from.getTime() >= FIRST_MS)) {
    throw Problem.invalidField(key, 'is not an ISO 8601 date or time');
  }
  return { from, to: new Date(from.getTime() + (text.length === 10 ? DAY_MS : 1)) };
}

/** As `Date` reads it for sure: `T` before the time, a sign and a colon in the zone, UTC where none is said. */
function withZone(text: string): string {
  if (text.length === 10) return text;
  const time = text.slice(11).replace(/([+ -])(\d\d):?(\d\d)$/, (_zone, sign: string, h, m) => {
    return `${sign === ' ' ? '+' : sign}${String(h)}:${String(m)}`;
  });
  return `${text.slice(0, 10)}T${time}${/Z|[+-]/.test(time) ? '' : 'Z'}`;
}
