import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runs, seed } from '../../test/support/counts.js';
import { jsonFault } from './json-fault.js';

/** What the engine says of the place, where it says anything. */
function engineOf(text: string): { isJson: boolean; at: number | undefined } {
  try {
    JSON.parse(text);
    return { isJson: true, at: undefined };
  } catch (error) {
    const [, at] = / at position (\d+)/.exec((error as Error).message) ?? [];
    return { isJson: false, at: at === undefined ? undefined : Number(at) };
  }
}

function positionOf(fault: string | undefined): number | undefined {
  return fault === undefined ? undefined : Number(/ at position (\d+)$/.exec(fault)?.[1]);
}

describe('a fault of JSON', () => {
  it.each([
    ['', 'JSON value expected but reached end of input at position 0'],
    [' x', "JSON value expected but got 'x' at position 1"],
    ['{"a":1,}', "Quoted object key expected but got '}' at position 7"],
    ['{1:2}', "Quoted object key expected but got '1' at position 1"],
    ['{"a" 1}', "Colon ':' expected after property name but got '1' at position 5"],
    ['{"a":}', "Object value expected after ':' but got '}' at position 5"],
    ['{"a":1 "b":2}', `Comma ',' expected after value but got '"' at position 7`],
    ['{"a":1', "End of object '}' expected but reached end of input at position 6"],
    ['[1,]', "Array item expected but got ']' at position 3"],
    ['[1', "End of array ']' expected but reached end of input at position 2"],
    ['[1}', "Comma ',' expected after value but got '}' at position 2"],
    ['[01]', "Invalid number but got '1' at position 2"],
    ['[1.]', "Invalid number but got '.' at position 2"],
    ['-', "JSON value expected but got '-' at position 0"],
    ['"abc', `End of string '"' expected but reached end of input at position 4`],
    ['"a\nb"', "Invalid character but got '\\n' at position 2"],
    ['"\\x"', "Invalid escape character but got '\\' at position 1"],
    ['"\\u12g4"', "Invalid unicode character but got '\\' at position 1"],
    ['1 2', "Expected end of input but got '2' at position 2"],
    ['\u00a0', "JSON value expected but got '\u00a0' at position 0"],
    ['[💥]', "Array item expected but got '\\ud83d' at position 1"],
  ])('of %p is %p', (text, fault) => {
    expect(jsonFault(text)).toBe(fault);
  });

  it.each([
    '{}',
    '[]',
    ' [ ] ',
    '[{"a":[],"b":{}}]',
    '-0.5e+10',
    '"\\u00e9\\"\\\\"',
    'null',
    'true',
  ])('is not in %p', (text) => {
    expect(jsonFault(text)).toBeUndefined();
  });

  it('is found in what the engine refuses, and in nothing else, at its word', () => {
    const pieces = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        'a',
        '"k"',
        '1',
        '-',
        '.',
        'e',
        '0',
        ' ',
        '\n',
        'true',
        'nul',
        '\\u12',
      ],
    );
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.nat({ max: 3 }), fc.array(pieces, { maxLength: 3 }))
      .map(([json, at, removed, added]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + added.join('') + json.slice(place + removed);
      });
    const text = fc.oneof(
      broken,
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (sample) => {
        const { isJson, at } = engineOf(sample);
        const fault = jsonFault(sample);
        expect(fault === undefined).toBe(isJson);
        // The engine may name a later character of the same word, number or escape.
        const later = at === undefined ? 0 : at - (positionOf(fault) ?? NaN);
        expect([later >= 0, later <= 6]).toEqual([true, true]);
      }),
      { seed, numRuns: runs(3_000) },
    );
  });

  it('needs no stack for what is nested deeply', () => {
    const deep = 200_000;
    expect(jsonFault('['.repeat(deep))).toBe(
      `Array item expected but reached end of input at position ${deep}`,
    );
    expect(jsonFault('['.repeat(deep) + ']'.repeat(deep))).toBeUndefined();
  });
});
