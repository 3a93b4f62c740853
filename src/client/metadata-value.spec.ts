import { metadataValue } from './metadata-value.js';

describe('metadataValue', () => {
  it.each([
    ['4.10', '4.10'],
    ['4.0', '4.0'],
    ['123e4', '123e4'],
    ['0123', '0123'],
    ['7', '7'],
    ['9007199254740993', '9007199254740993'],
    ['true', 'true'],
    ['-', '-'],
    [' "a"', ' "a"'],
    ['"4.10"', '4.10'],
    ['"null"', 'null'],
    ['[1,2]', [1, 2]],
    ['{"a":9007199254740993}', { a: 9007199254740993n }],
    ['[draft] x', '[draft] x'],
    ['"half', '"half'],
  ] as const)('of %s is %p', (text, value) => {
    expect(metadataValue(text)).toEqual(value);
  });
});
