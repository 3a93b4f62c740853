import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Problem, Slices } from '#src/kernel/index.js';
import { parsedLines } from './parsed-lines.js';
import { lineBlocks } from './text-lines.js';

async function* source(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
  await Promise.resolve();
}

describe('lines of JSON', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('are values, or what is wrong with them', async () => {
    const seen: unknown[] = [];
    for await (const block of parsedLines(lineBlocks(source('{"a":1}\n\n[[\n7')))) {
      for (const { number, json } of block) {
        seen.push([number, json instanceof Problem ? json.status : json]);
      }
    }
    expect(seen).toEqual([
      [1, { a: 1 }],
      [3, 400],
      [4, 7],
    ]);
  });

  it('let others have their turn, also when all of them are broken', async () => {
    // As on a machine where each line takes as long as a slice.
    jest.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true);
    const rest = jest.spyOn(Slices.prototype, 'rest');
    let count = 0;
    for await (const block of parsedLines(lineBlocks(source('[[[[[[[[\n'.repeat(300))))) {
      count += block.filter(({ json }) => json instanceof Problem).length;
    }
    expect(count).toBe(300);
    expect(rest.mock.calls.length).toBeGreaterThanOrEqual(300);
  });
});
