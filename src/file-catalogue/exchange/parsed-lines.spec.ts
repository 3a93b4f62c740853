import { describe, expect, it } from '@jest/globals';
import { Problem } from '#src/kernel/index.js';
import { parsedLines } from './parsed-lines.js';
import { lineBlocks } from './text-lines.js';

async function* source(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
  await Promise.resolve();
}

describe('lines of JSON', () => {
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
    let turns = 0;
    let ticking: NodeJS.Immediate;
    const tick = (): void => {
      turns += 1;
      ticking = setImmediate(tick);
    };
    tick();
    let count = 0;
    for await (const block of parsedLines(lineBlocks(source('[[[[[[[[\n'.repeat(30_000))))) {
      count += block.filter(({ json }) => json instanceof Problem).length;
    }
    clearImmediate(ticking!);
    expect(count).toBe(30_000);
    // Five turns come from the reading of the text.
    expect(turns).toBeGreaterThan(20);
  });
});
