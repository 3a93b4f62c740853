import type { JsonObject } from '#src/kernel/index.js';
import type { Gpu } from './gpus.js';
import { MachineLoad } from './machine-load.js';

const run = (manifest: JsonObject = {}, declared = {}) => ({
  order: { manifest, declared },
  share: undefined,
  processors: [] as readonly number[],
  gpus: [] as readonly Gpu[],
});
const OWN = { processors: 4, ramMB: 1000, gpus: [] };
const FREE = { ...OWN, gpus: 0 };
const PROCESSORS = [0, 1, 2, 3];
const none = (): string[] => [];
const loadOf = (slots: number, processors = PROCESSORS): MachineLoad =>
  new MachineLoad(OWN, slots, processors, none);

describe('MachineLoad', () => {
  it('counts processors and memory of its runs, and gives each its own processors', () => {
    const load = loadOf(4);
    const [one, two, three] = [run({ NumberOfProcessors: 2 }), run({ MinRAM: 600 }), run()];
    load.enter(one);
    load.enter(two);
    expect([one.processors, two.processors]).toEqual([[0, 1], [2]]);
    expect(load.freeBeside([one, two, three])).toEqual({ processors: 0, ramMB: 400, gpus: 0 });
    expect(load.hasPlaceFor(three)).toBe(true);
    expect(load.hasPlaceFor(run({ NumberOfProcessors: 2 }))).toBe(false);
    expect(load.hasPlaceFor(run({ MinRAM: 1, MaxRAM: 500 }))).toBe(false);
    load.leave(one);
    expect(load.hasPlaceFor(run({ NumberOfProcessors: 3 }))).toBe(true);
    expect(load.freeBeside([])).toEqual({ processors: 3, ramMB: 400, gpus: 0 });
    load.leave(two);
    expect(load.freeBeside([])).toEqual(FREE);
  });

  it('has as many places as jobs may run, also on fewer processors', () => {
    const load = loadOf(6);
    const runs = Array.from({ length: 6 }, () => run());
    for (const one of runs) {
      expect(load.hasPlaceFor(one)).toBe(true);
      load.enter(one);
    }
    expect(load.hasPlaceFor(run())).toBe(false);
  });

  it('runs no more jobs than it may, whatever is free', () => {
    const load = loadOf(1);
    load.enter(run());
    expect(load.hasPlaceFor(run())).toBe(false);
  });

  it('has what the site of a run declares, when that is more', () => {
    const load = loadOf(4);
    const [one, two] = [run({ NumberOfProcessors: 4 }), run({}, { processors: 16 })];
    load.enter(one);
    expect([load.hasPlaceFor(run()), load.hasPlaceFor(two)]).toEqual([false, true]);
    expect(load.hasPlaceFor(run({ MinRAM: 5000 }, { processors: 5, ramMB: 9000 }))).toBe(true);
    load.leave(one);
    expect(load.freeBeside([])).toEqual(FREE);
  });

  it('lets a job that is larger than the machine start alone', () => {
    const load = loadOf(4);
    const large = run({ NumberOfProcessors: 8, MinRAM: 2000 });
    expect(load.hasPlaceFor(large)).toBe(true);
    load.enter(large);
    expect(large.processors).toEqual(PROCESSORS);
    expect(load.hasPlaceFor(run())).toBe(false);
  });

  it('starts no job whose GPUs are not free, also alone', () => {
    const gpus = [0, 1].map((index) => ({ device: `/dev/nvidia${index}`, index }));
    let noted = ['/dev/nvidia0'];
    const load = new MachineLoad({ ...OWN, gpus }, 4, PROCESSORS, () => noted);
    const [one, two, kept] = [run({ GPUs: 1 }), run({ GPUs: '2' }), run({ GPUs: 1 })];
    expect([load.hasPlaceFor(one), load.hasPlaceFor(two)]).toEqual([true, false]);
    load.enter(one);
    expect(one.gpus).toEqual([gpus[1]]);
    expect([load.hasPlaceFor(kept), load.hasPlaceFor(run())]).toEqual([false, true]);
    load.enter(Object.assign(kept, { isAttached: true })); // that of nvidia0, as its directory says
    expect([kept.gpus, load.freeBeside([one, two, kept]).gpus]).toEqual([[], -2]);
    noted = [];
    load.leave(one);
    expect([load.hasPlaceFor(two), load.freeBeside([]).gpus]).toEqual([true, 2]);
  });

  it('leaves a run of before the processors that it has', () => {
    const load = loadOf(4, [7, 8]);
    const before = run();
    load.enter(before, process.pid);
    expect(before.processors.every((number) => [7, 8].includes(number))).toBe(true);
    expect(load.freeBeside([])).toMatchObject({ processors: 3 });
  });
});
