import { describe, expect, it } from '@jest/globals';
import { isJsonObject, parseJson, stringifyJson } from './json.js';

describe('stringifyJson', () => {
  it.each([
    [{ size: 10n }, '{"size":10}'],
    [{ size: 9007199254740993n }, '{"size":9007199254740993}'],
    [{ a: [-9223372036854775808n, 1] }, '{"a":[-9223372036854775808,1]}'],
    [{ text: '123', absent: undefined }, '{"text":"123"}'],
  ])('writes %p with all digits', (value, text) => {
    expect(stringifyJson(value)).toBe(text);
  });

  it('does not touch texts that look like its mark', () => {
    const value = {
      text: '\u0001big:5',
      other: 'big:5',
      '"': '"1-2-3-4:5"',
      big: 9007199254740993n,
    };
    expect(parseJson(stringifyJson(value))).toEqual(value);
    expect(parseJson(stringifyJson(value, 2))).toEqual(value);
  });
});

describe('parseJson', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['{"a":9007199254740993}', { a: 9007199254740993n }],
    ['{"a":-9223372036854775808,"b":1.5,"c":1e-400}', { a: -9223372036854775808n, b: 1.5, c: 0 }],
    ['["1234567890123456789"]', ['1234567890123456789']],
    ['{"a":1234567890123456,"a":2}', { a: 2 }],
  ])('reads %s exactly', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it.each(['{"a":', '{"a":12345678901234567,}', 'nonsense 1234567890123456', ''])(
    'refuses %p with a SyntaxError',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );

  it.each([
    ['{"password": geheim}', "Object value expected after ':' but got 'g' at position 13"],
    ['geheim', "JSON value expected but got 'g' at position 0"],
    ['{"a":1,}', "Quoted object key expected but got '}' at position 7"],
    ['', 'JSON value expected but reached end of input at position 0'],
  ])('names the position of the fault in %p and quotes nothing around it', (text, message) => {
    expect(() => parseJson(text)).toThrow(new SyntaxError(message));
  });
});

describe('isJsonObject', () => {
  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ['x', false],
  ])('of %p is %p', (value, expected) => {
    expect(isJsonObject(value)).toBe(expected);
  });
});

describe('parseJson with long integers', () => {
  it.each([
    ['[98765432109876543,-98765432109876543]', [98765432109876543n, -98765432109876543n]],
    ['98765432109876543', 98765432109876543n],
    ['[1234567890123456, 9007199254740992]', [1234567890123456, 9007199254740992n]],
    ['[0.12345678901234567,1e-12345678901234567]', [Number('0.12345678901234567'), 0]],
    [
      '[12345678901234567.5,12345678901234567e2]',
      [Number('12345678901234567.5'), Number('12345678901234567e2')],
    ],
    [
      String.raw`{"a\"98765432109876543":"98765432109876543\\","b":98765432109876543}`,
      {
        'a"98765432109876543': '98765432109876543\\',
        b: 98765432109876543n,
      },
    ],
    ['{"a":98765432109876543,"a":1}', { a: 1 }],
  ])('reads %s', (text, expected) => {
    expect(parseJson(text)).toEqual(expected);
  });

  it('keeps a member that is called __proto__ a plain member', () => {
    const value = parseJson('{"__proto__":98765432109876543}') as object;
    expect(Object.entries(value)).toEqual([['__proto__', 98765432109876543n]]);
  });

  it.each([
    '[98765432109876543',
    '{"a":"98765432109876543',
    '[98765432109876543 1]',
    '-98765432109876543-',
  ])('refuses %s', (text) => expect(() => parseJson(text)).toThrow(SyntaxError));

  it('refuses an integer of more than a thousand digits', () => {
    expect(parseJson(`[${'9'.repeat(1_000)}]`)).toEqual([10n ** 1_000n - 1n]);
    expect(() => parseJson('9'.repeat(1_001))).toThrow('A number has more than 1000 digits');
  });

  it.each([
    '1e309',
    '-1E+0400',
    `1${'0'.repeat(210)}e99`,
    `${'9'.repeat(400)}.5`,
    '{"a":[1,{"b":2e999}]}',
  ])('refuses %s, which would be read as infinite', (text) =>
    expect(() => parseJson(text)).toThrow(new SyntaxError('A number is beyond 1.8e308')),
  );

  it.each([
    ['1.7976931348623157e+308', Number.MAX_VALUE],
    ['1e-400', 0],
    [`1${'0'.repeat(209)}e99`, 1e308],
    ['["e123", "9e999"]', ['e123', '9e999']],
  ])('reads %s', (text, value) => expect(parseJson(text)).toEqual(value));

  it('looks for numbers beyond a double in a text that is nested deeply', () => {
    const text = `${'['.repeat(20_000)}1e400${']'.repeat(20_000)}`;
    expect(() => parseJson(text)).toThrow('A number is beyond 1.8e308');
  });

  it('reads a text that is nested deeply', () => {
    const text = `${'['.repeat(20_000)}98765432109876543${']'.repeat(20_000)}`;
    let value = parseJson(text);
    while (Array.isArray(value)) value = value[0] as typeof value;
    expect(value).toBe(98765432109876543n);
  });
});
