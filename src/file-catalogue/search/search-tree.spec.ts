import { describe, expect, it } from '@jest/globals';
import { SearchTree } from './search-tree.js';

function tree(start: string, found: [string, number, bigint][]): unknown {
  const text = new SearchTree(start);
  const pieces = found.map(([path, files, bytes]) => text.add(path, { files, bytes }));
  return JSON.parse([...pieces, text.finish()].join(''));
}

describe('the tree of a search', () => {
  it('has f and s of 0 when nothing matches', () => {
    expect(tree('/vo', [])).toEqual({ f: 0, s: 0 });
  });

  it('has the totals of the start when it matches', () => {
    expect(
      tree('/vo/a', [
        ['/vo/a', 3, 60n],
        ['/vo/a/run1', 2, 30n],
      ]),
    ).toEqual({
      f: 3,
      s: 60,
      d: { run1: { f: 2, s: 30 } },
    });
  });

  it('gives directories on the way no f and s', () => {
    expect(
      tree('/', [
        ['/vo/b/run3', 2, 90n],
        ['/vo/c', 1, 60n],
        ['/x', 0, 0n],
      ]),
    ).toEqual({
      f: 0,
      s: 0,
      d: {
        vo: { d: { b: { d: { run3: { f: 2, s: 90 } } }, c: { f: 1, s: 60 } } },
        x: { f: 0, s: 0 },
      },
    });
  });

  it('keeps names that JavaScript objects treat specially, and all digits', () => {
    const text = new SearchTree('/');
    const piece = text.add('/__proto__/"q"', { files: 1, bytes: 2n ** 80n });
    expect(piece + text.finish()).toBe(
      `{"f":0,"s":0,"d":{"__proto__":{"d":{"\\"q\\"":{"f":1,"s":${2n ** 80n}}}}}}`,
    );
  });
});
