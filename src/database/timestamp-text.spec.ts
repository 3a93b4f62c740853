import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runs, seed } from '../../test/support/counts.js';
import { parseTimestamptz } from './timestamp-text.js';

describe('a time of the database', () => {
  it.each([
    ['2026-11-24 22:23:24+00', '2026-11-24T22:23:24.000Z'],
    ['2026-11-24 22:23:24.5+00', '2026-11-24T22:23:24.500Z'],
    ['2026-11-24 22:23:24.057+00', '2026-11-24T22:23:24.057Z'],
    ['2026-11-24 22:23:24.123999+00', '2026-11-24T22:23:24.123Z'],
    ['1969-12-31 23:59:59.999+00', '1969-12-31T23:59:59.999Z'],
    ['2026-11-24 22:23:24+02', '2026-11-24T20:23:24.000Z'],
    ['0099-01-01 00:00:00+00', '0099-01-01T00:00:00.000Z'],
    ['10000-01-01 00:00:00+00', '+010000-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(parseTimestamptz(text).toISOString()).toBe(time);
  });

  it('may be infinite', () => {
    expect(parseTimestamptz('infinity')).toBe(Infinity);
  });

  it('is a Date of its own each time', () => {
    const [first, second] = [1, 2].map(() => parseTimestamptz('2026-11-24 22:23:24.5+00'));
    expect([first === second, first]).toEqual([false, second]);
  });

  it('is any that a Date can be, as PostgreSQL writes it', () => {
    const dates = fc.date({
      min: new Date('0100-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => {
        const text = date.toISOString().replace('T', ' ').replace('Z', '+00');
        expect(parseTimestamptz(text)).toEqual(date);
      }),
      { seed, numRuns: runs(1_000) },
    );
  });
});
