import { describe, expect, it } from '@jest/globals';
import { inexactNumberAt, isInexact, numbersAsTexts } from './json-numbers.js';

describe('a decimal number', () => {
  it.each([
    ['0.1', false],
    ['0.000000000000000000000', false],
    ['0.10000000000000001', false],
    ['0.1000000000000000055511151231257827', false],
    ['-1.50000000000000000000e3', false],
    ['5e-324', false],
    ['4.9406564584124654e-324', false],
    ['123456789.123456789', true],
    ['0.1000000000000000055511151231257828', true],
    ['123456789012345678.0', true],
    ['1e-400', true],
    ['1.2345e-320', true],
    [`0.${'3'.repeat(200)}`, true],
  ])('%s becomes another one: %p', (text, expected) => {
    expect(isInexact(text)).toBe(expected);
  });
});

describe('the numbers of a JSON text', () => {
  it.each([
    ['{"a":[1,0.123456789012345678901]}', 8],
    ['{"a": 1e-400}', 6],
    ['{"a\\"0.123456789012345678901":1,"b":"0.123456789012345678901"}', undefined],
    ['[9007199254740993, 123456789012345678901]', undefined],
  ])('of %s: one would become another at %p', (text, at) => {
    expect(inexactNumberAt(text)).toBe(at);
  });

  it.each([
    [
      '{"a":[1.0,0.10, 1e3,-0,2,-1.5],"b":1E3}',
      '{"a":["1.0","0.10", "1e3","-0",2,-1.5],"b":"1E3"}',
    ],
    ['{"1.0":"1.0 \\" 2.0","c":9007199254740993}', '{"1.0":"1.0 \\" 2.0","c":9007199254740993}'],
    ['2.0', '"2.0"'],
  ])('stand in %s as they are written', (text, expected) => {
    expect(numbersAsTexts(text)).toBe(expected);
  });
});
