import { describe, expect, it } from '@jest/globals';
import { randomToken } from './random.js';

describe('randomToken', () => {
  it('never gives the same bytes twice, whatever the lengths, and as many as are asked for', () => {
    const lengths = [16, 32, 18, 24, 6];
    const tokens = Array.from({ length: 1_000 }, (_, n) => randomToken(lengths[n % 5]));
    expect(new Set(tokens).size).toBe(tokens.length);
    for (const [n, token] of tokens.entries()) {
      expect(token).toMatch(/^[\w-]+$/);
      expect(Buffer.from(token, 'base64url')).toHaveLength(lengths[n % 5] as number);
    }
    // No piece of one is found in another: they do not overlap.
    const pieces = tokens.flatMap((token) => {
      const bytes = Buffer.from(token, 'base64url');
      return Array.from({ length: bytes.length - 5 }, (_, at) =>
        bytes.subarray(at, at + 6).toString('hex'),
      );
    });
    expect(new Set(pieces).size).toBe(pieces.length);
  });

  it('sets every bit about as often as not', () => {
    const ones = Array.from({ length: 2_000 }, () => Buffer.from(randomToken(), 'base64url'))
      .flatMap((bytes) => [...bytes])
      .reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
    expect(ones / (2_000 * 256)).toBeCloseTo(0.5, 1);
  });
});
