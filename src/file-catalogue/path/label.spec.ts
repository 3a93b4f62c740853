import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runs, seed } from '../../../test/support/counts.js';
import {
  childLabel,
  encodeOrdinal,
  endOfSubtree,
  isInSubtree,
  MAX_ORDINAL,
  ROOT_LABEL,
} from './label.js';

const ordinal = fc.oneof(
  fc.integer({ min: 0, max: 400 }),
  fc.integer({ min: 12_000, max: 13_000 }),
  fc.integer({ min: 0, max: MAX_ORDINAL }),
);
const label = fc
  .array(ordinal, { maxLength: 12 })
  .map((ordinals) =>
    ordinals.reduce<Buffer>((parent, next) => childLabel(parent, next), ROOT_LABEL),
  );

describe('labels', () => {
  it.each([
    [0, '00'],
    [191, 'bf'],
    [192, 'c000'],
    [12_479, 'efff'],
    [12_480, 'f0000000'],
    [MAX_ORDINAL, 'fefffffe'],
  ])('write ordinal %d as %s', (given, hex) => {
    expect(encodeOrdinal(given).toString('hex')).toBe(hex);
  });

  it.each([-1, 1.5, MAX_ORDINAL + 2])('refuse ordinal %d', (given) => {
    expect(() => encodeOrdinal(given)).toThrow(RangeError);
  });

  it('keep the numeric order of ordinals', () => {
    fc.assert(
      fc.property(ordinal, ordinal, (a, b) => {
        expect(Math.sign(encodeOrdinal(a).compare(encodeOrdinal(b)))).toBe(Math.sign(a - b));
      }),
      { seed, numRuns: runs(1_000) },
    );
  });

  it('put exactly the subtree between a label and its end', () => {
    fc.assert(
      fc.property(label, label, (a, b) => {
        const inside = a.compare(b) <= 0 && b.compare(endOfSubtree(a)) < 0;
        expect(inside).toBe(isInSubtree(b, a));
      }),
      { seed, numRuns: runs(1_000) },
    );
  });

  it('end the subtree where the next sibling begins', () => {
    fc.assert(
      fc.property(label, fc.integer({ min: 0, max: MAX_ORDINAL - 1 }), (parent, n) => {
        expect(endOfSubtree(childLabel(parent, n))).toEqual(childLabel(parent, n + 1));
      }),
      { seed, numRuns: runs(1_000) },
    );
  });
});
