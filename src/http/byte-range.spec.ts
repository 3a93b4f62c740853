import { matchesTag, readRange } from './byte-range.js';

describe('readRange', () => {
  it.each([
    [undefined, undefined],
    ['bytes=0-3', { start: 0, end: 3 }],
    ['bytes=4-', { start: 4, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=5-99', { start: 5, end: 9 }],
    ['bytes=0-0,5-6', undefined],
    ['lines=1-2', undefined],
    ['bytes=5-2', undefined],
    ['bytes=-', undefined],
  ])('reads %s of ten bytes', (header, range) => {
    expect(readRange(header, 10)).toEqual(range);
  });

  it.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])('refuses %s of ten bytes', (header) => {
    expect(() => readRange(header, 10)).toThrow('outside of the 10 bytes');
  });
});

describe('matchesTag', () => {
  it.each([
    [undefined, false],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b"', false],
    ['*', true],
  ])('compares %s', (header, matches) => {
    expect(matchesTag(header, '"a"')).toBe(matches);
  });
});
