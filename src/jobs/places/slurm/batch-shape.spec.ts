import type { JsonObject } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { Site } from '#src/registry/index.js';
import type { RunOrder } from '../../run/executor.js';
import { isSameShape, shapeOf } from './batch-shape.js';

const CONFIG = { jobWallTime: 7200, jobMemoryMb: 4096 } as Config;

const of = (manifest: JsonObject, site: Partial<Site> = {}) =>
  shapeOf({ manifest } as RunOrder, { name: 'S', backend: 'slurm', options: {}, ...site }, CONFIG);

describe('shapeOf', () => {
  it.each<[string, JsonObject, Partial<Site>, object]>([
    ['nothing', {}, {}, {}],
    ['processors', { NumberOfProcessors: '4' }, {}, { cpus: 4 }],
    ['what it may use at most', { MinRAM: 1, MaxRAM: 2000 }, {}, { memoryMb: 2000 }],
    ['what it needs at least', { MinRAM: 1000 }, {}, { memoryMb: 1000 }],
    ['no memory', { MinRAM: 0 }, { options: { memoryMb: 500 } }, { memoryMb: 500 }],
    ['more than there is', { MaxRAM: 9000 }, { ramMB: 4000 }, { memoryMb: 4000 }],
    ['GPUs', { GPUs: 2 }, {}, { gres: 'gpu:2' }],
    ['GPUs of a kind', { GPUs: 1 }, { options: { gres: 'gpu:a100' } }, { gres: 'gpu:a100:1' }],
    ['features', { Tags: ['el9', 'big'] }, {}, { constraint: 'el9&big' }],
    [
      'tags that are other features, or none',
      { Tags: ['el9', 'GPU', 'toString'] },
      { options: { constraints: { el9: 'rocky9', GPU: '' } } },
      { constraint: 'rocky9&toString' },
    ],
    ['tags that are no features', { Tags: 'x' }, { options: { constraints: { x: '' } } }, {}],
    ['its own time', { WallTime: 60 }, {}, { wallSeconds: 60 }],
    ['more time than the site gives', { WallTime: 90 }, { maxWallTime: 70 }, { wallSeconds: 70 }],
    ['more time than the service gives', { WallTime: 90_000 }, {}, { wallSeconds: 7200 }],
  ])('of a job that asks for %s', (_what, manifest, site, expected) => {
    expect(of(manifest, site)).toEqual({ cpus: 1, wallSeconds: 7200, ...expected });
  });

  it('is the same only for jobs that ask for the same', () => {
    const manifests: JsonObject[] = [
      {},
      { GPUs: 1 },
      { Tags: 'a' },
      { WallTime: 5 },
      { MaxRAM: 5 },
    ];
    const shapes = manifests.map((manifest) => of(manifest));
    for (const [i, a] of shapes.entries()) {
      for (const [j, b] of shapes.entries()) expect(isSameShape(a, b)).toBe(i === j);
    }
  });
});
