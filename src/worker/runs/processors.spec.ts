import { ownProcessors, parseProcessorList, ProcessorPool } from './processors.js';

describe('parseProcessorList', () => {
  it.each([
    ['0', [0]],
    ['0-3,8', [0, 1, 2, 3, 8]],
    ['2,4-5\n', [2, 4, 5]],
    ['', []],
  ])('reads %j', (text, expected) => {
    expect(parseProcessorList(text)).toEqual(expected);
  });
});

describe('ProcessorPool', () => {
  it('gives each run those that the fewest others have', () => {
    const pool = new ProcessorPool([0, 1, 2, 3]);
    expect(pool.take(1)).toEqual([0]);
    expect(pool.take(2)).toEqual([1, 2]);
    expect(pool.take(2)).toEqual([0, 3]);
    pool.release([1, 2]);
    expect(pool.take(2)).toEqual([1, 2]);
  });

  it('gives no more than there are', () => {
    expect(new ProcessorPool([4, 6]).take(8)).toEqual([4, 6]);
  });

  it('knows those of this machine', () => {
    expect(ownProcessors().length).toBeGreaterThan(0);
  });
});
