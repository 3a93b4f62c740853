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
    const value = { text: '\u0001big:5', big: 9007199254740993n };
    expect(parseJson(stringifyJson({ text: 'big:5', big: 9007199254740993n }))).toEqual({
      text: 'big:5',
      big: 9007199254740993n,
    });
    expect(JSON.parse(stringifyJson({ text: value.text }))).toEqual({ text: value.text });
  });
});

describe('parseJson', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['{"a":9007199254740993}', { a: 9007199254740993n }],
    [
      '{"a":-9223372036854775808,"b":1.5,"c":1e400}',
      { a: -9223372036854775808n, b: 1.5, c: Infinity },
    ],
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
    ['{"password": geheim}', "Object value expected after ':' at position 13"],
    ['geheim', "JSON value expected but got 'g' at position 0"],
    ['{"a":1,}', "Quoted object key expected but got '}' at position 7"],
    ['', 'JSON value expected but reached end of input at position 0'],
  ])('names the position of the fault in %p and quotes nothing around it', (text, message) => {
    expect(() => parseJson(text)).toThrow(new SyntaxError(message));
  });

  it('survives deep nesting with many digits', () => {
    const text = `${'['.repeat(20_000)}1234567890123456789${']'.repeat(20_000)}`;
    expect(() => parseJson(text)).toThrow();
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
