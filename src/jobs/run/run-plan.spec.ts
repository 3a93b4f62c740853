import { limitsOf, processorsOf } from './run-plan.js';

const LIMITS = { jobWallTime: 3_600, jobMemoryMb: 4_096 };

describe('what a manifest asks of a run', () => {
  it.each([
    [{ WallTime: 60, MaxRAM: 500 }, 60, 500],
    [{ WallTime: '60', MaxRAM: ' 500 ' }, 60, 500],
    [{ WallTime: 9_999, MaxRAM: '99999' }, 3_600, 4_096],
    [{ WallTime: 60n, MaxRAM: 0 }, 60, 4_096],
    [{}, 3_600, 4_096],
  ])('lowers the limits by %j', (manifest, wallSeconds, memoryMb) => {
    expect(limitsOf({ manifest }, LIMITS)).toEqual({ wallSeconds, memoryMb });
  });

  it.each([
    [{ NumberOfProcessors: 4 }, 4],
    [{ NumberOfProcessors: '4' }, 4],
    [{ NumberOfProcessors: ' 4 ' }, 4],
    [{ MinNumberOfProcessors: '2' }, 2],
    [{ NumberOfProcessors: 3, MinNumberOfProcessors: 2 }, 3],
    [{}, 1],
  ])('has the processors of %j', (manifest, processors) => {
    expect(processorsOf({ manifest })).toBe(processors);
  });
});
