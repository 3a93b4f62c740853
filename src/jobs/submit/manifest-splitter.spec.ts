import * as fc from 'fast-check';
import { runs, seed } from '../../../test/support/counts.js';
import {
  LineSplitter,
  ListOpening,
  ListSplitter,
  type ManifestSplitter,
} from './manifest-splitter.js';

const MAX = 1000;

/** The parts of a body that arrives in pieces of the given sizes, the last size for all that follow. */
function cut(
  splitter: ManifestSplitter,
  body: string,
  sizes: readonly number[],
): (string | undefined)[] {
  const bytes = Buffer.from(body);
  const parts: (string | undefined)[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[Math.min(turn, sizes.length - 1)] ?? 1);
    for (const part of splitter.push(bytes.subarray(at, at + size))) parts.push(part?.toString());
    at += size;
  }
  return parts;
}

describe('ListSplitter', () => {
  it('finds the elements of any list, wherever the pieces end', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 6 }),
        sizes,
        fc.constantFrom(0, 2),
        (list, by, indent) => {
          const splitter = new ListSplitter(1_000_000);
          const body = `${JSON.stringify(list, null, indent).slice(1)} }`;
          const parts = cut(splitter, body, by).map(
            (part) => JSON.parse(part as string) as unknown,
          );
          expect(parts).toEqual(JSON.parse(JSON.stringify(list)));
          expect([splitter.isDone, splitter.end().toString()]).toEqual([true, '}']);
        },
      ),
      { seed, numRuns: runs(500) },
    );
  });

  it.each<[string, string[]]>([
    ['{"a":1}{"b":2}, 3]', ['{"a":1}{"b":2}', ' 3']],
    ['{"a":[1}, 2], x]', ['{"a":[1}, 2]', ' x']],
    [']', []],
    [' ]', []],
    [',]', ['', '']],
    ['1,]', ['1', '']],
    ['}}]', ['}}']],
    ['"],{\\"", 2]', ['"],{\\""', ' 2']],
  ])('cuts %j without judging it', (body, parts) => {
    const splitter = new ListSplitter(MAX);
    expect(cut(splitter, body, [1])).toEqual(parts);
    expect(splitter.isDone).toBe(true);
  });

  it('keeps nothing of an element that is too long, and goes on', () => {
    const splitter = new ListSplitter(MAX);
    const body = `"${'x'.repeat(MAX)}",${'['.repeat(5)}${']'.repeat(5)}]`;
    expect(cut(splitter, body, [64])).toEqual([undefined, '[[[[[]]]]]']);
  });

  it('is not done when the list does not end', () => {
    const splitter = new ListSplitter(MAX);
    expect(cut(splitter, '1, 2, "]', [3])).toEqual(['1', ' 2']);
    expect(splitter.isDone).toBe(false);
  });
});

describe('ListOpening', () => {
  it.each<[string, number | false | undefined]>([
    ['{"manifests":[1]}', 14],
    ['\ufeff { "manifests" \n: [1]}', 22],
    ['{"manifests": {}}', false],
    ['{"manifest":[]}', false],
    ['[]', false],
    ['{"Executable"', false],
    ['{"mani', undefined],
    ['{"array": true, "manifests": [1]}', 30],
    ['{"array":false,"manifests":[1]}', 28],
    ['{"array":"true","manifests":[1]}', false],
    ['{"array":true,"array":true,"manifests":[1]}', false],
    ['{"array":t', undefined],
    ['', undefined],
  ])('of %j is %p', (body, place) => {
    expect(new ListOpening().find(Buffer.from(body))).toBe(place);
    const opening = new ListOpening();
    let found: number | false | undefined;
    const bytes = Buffer.from(body);
    for (let at = 0; at < bytes.length && found === undefined; at += 1) {
      const one = opening.find(bytes.subarray(at, at + 1));
      found = typeof one === 'number' ? one + at : one;
    }
    expect(found).toBe(place);
  });
});

describe('LineSplitter', () => {
  it('cuts at line feeds, wherever the pieces end, and leaves the last line', () => {
    for (const size of [1, 2, 7, 100]) {
      const splitter = new LineSplitter(MAX);
      expect(cut(splitter, 'a\r\n\nbé\nrest', [size])).toEqual(['a\r', '', 'bé']);
      expect(splitter.end()?.toString()).toBe('rest');
    }
  });

  it('keeps nothing of a line that is too long, and goes on', () => {
    const splitter = new LineSplitter(MAX);
    expect(cut(splitter, `${'x'.repeat(MAX + 1)}\ny\n`, [64])).toEqual([undefined, 'y']);
    expect(splitter.end()?.toString()).toBe('');
  });

  it('says of the last line too that it is too long', () => {
    const splitter = new LineSplitter(MAX);
    expect(cut(splitter, `y\n${'x'.repeat(MAX + 1)}`, [64])).toEqual(['y']);
    expect(splitter.end()).toBeUndefined();
  });
});
