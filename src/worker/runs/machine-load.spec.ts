import type { JsonObject } from '#src/kernel/index.js';
import { MachineLoad } from './machine-load.js';

const run = (manifest: JsonObject = {}, declared = {}) => ({
  order: { manifest, declared },
  share: undefined,
  processors: [] as readonly number[],
});
const OWN = { processors: 4, ramMB: 1000 };
const PROCESSORS = [0, 1, 2, 3];

describe('MachineLoad', () => {
  it('counts processors and memory of its runs, and gives each its own processors', () => {
    const load = new MachineLoad(OWN, 4, PROCESSORS);
    const [one, two, three] = [run({ NumberOfProcessors: 2 }), run({ MinRAM: 600 }), run()];
    load.enter(one);
    load.enter(two);
    expect([one.processors, two.processors]).toEqual([[0, 1], [2]]);
    expect(load.freeBeside([one, two, three])).toEqual({ processors: 0, ramMB: 400 });
    expect(load.hasPlaceFor(three)).toBe(true);
    expect(load.hasPlaceFor(run({ NumberOfProcessors: 2 }))).toBe(false);
    expect(load.hasPlaceFor(run({ MinRAM: 1, MaxRAM: 500 }))).toBe(false);
    load.leave(one);
    expect(load.hasPlaceFor(run({ NumberOfProcessors: 3 }))).toBe(true);
    expect(load.freeBeside([])).toEqual({ processors: 3, ramMB: 400 });
    load.leave(two);
    expect(load.freeBeside([])).toEqual(OWN);
  });

  it('has as many places as jobs may run, also on fewer processors', () => {
    const load = new MachineLoad(OWN, 6, PROCESSORS);
    const runs = Array.from({ length: 6 }, () => run());
    for (const one of runs) {
      expect(load.hasPlaceFor(one)).toBe(true);
      load.enter(one);
    }
    expect(load.hasPlaceFor(run())).toBe(false);
  });

  it('runs no more jobs than it may, whatever is free', () => {
    const load = new MachineLoad(OWN, 1, PROCESSORS);
    load.enter(run());
    expect(load.hasPlaceFor(run())).toBe(false);
  });

  it('has what the site of a run declares, when that is more', () => {
    const load = new MachineLoad(OWN, 4, PROCESSORS);
    const [one, two] = [run({ NumberOfProcessors: 4 }), run({}, { processors: 16 })];
    load.enter(one);
    expect([load.hasPlaceFor(run()), load.hasPlaceFor(two)]).toEqual([false, true]);
    expect(load.hasPlaceFor(run({ MinRAM: 5000 }, { processors: 5, ramMB: 9000 }))).toBe(true);
    load.leave(one);
    expect(load.freeBeside([])).toEqual(OWN);
  });

  it('lets a job that is larger than the machine start alone', () => {
    const load = new MachineLoad(OWN, 4, PROCESSORS);
    const large = run({ NumberOfProcessors: 8, MinRAM: 2000 });
    expect(load.hasPlaceFor(large)).toBe(true);
    load.enter(large);
    expect(large.processors).toEqual(PROCESSORS);
    expect(load.hasPlaceFor(run())).toBe(false);
  });

  it('leaves a run of before the processors that it has', () => {
    const load = new MachineLoad(OWN, 4, [7, 8]);
    const before = run();
    load.enter(before, process.pid);
    expect(before.processors.every((number) => [7, 8].includes(number))).toBe(true);
    expect(load.freeBeside([])).toMatchObject({ processors: 3 });
  });
});
