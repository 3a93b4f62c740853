import type { JsonObject } from '#src/kernel/index.js';
import type { Site } from '#src/registry/index.js';
import { TOKEN_TAG } from './job-token.js';
import { DATA_TAG } from './manifest-places.js';
import { Faults } from './manifest-values.js';
import { lackOf, readResources, resourcesOf, type JobResources } from './resources.js';

const faultsOf = (manifest: JsonObject) => {
  const faults = new Faults();
  readResources(manifest, faults);
  return faults.list;
};

const NOTHING: JobResources = { processors: 1, tags: [], gpus: 0 };
const MACHINE = { processors: 2, ramMB: 4000 };

describe('readResources', () => {
  it('asks for one processor and nothing else by default', () => {
    expect(resourcesOf({})).toEqual(NOTHING);
  });

  it('reads every key, numbers also as texts and a single tag as a text', () => {
    const manifest = {
      NumberOfProcessors: '8',
      MinRAM: 2000,
      MaxRAM: 4000,
      WallTime: 3600,
      GPUs: 2,
      Tags: 'GPU',
    };
    expect(resourcesOf(manifest)).toEqual({
      processors: 8,
      minRamMB: 2000,
      maxRamMB: 4000,
      wallTimeSeconds: 3600,
      tags: ['GPU'],
      gpus: 2,
    });
    expect(faultsOf(manifest)).toEqual([]);
  });

  it('takes MinNumberOfProcessors where NumberOfProcessors is absent, and each tag once', () => {
    const manifest = { MinNumberOfProcessors: 4, MaxNumberOfProcessors: 8, Tags: ['a', 'b', 'a'] };
    expect(resourcesOf(manifest)).toEqual({ processors: 4, tags: ['a', 'b'], gpus: 0 });
  });

  it('wants a site that gives tokens for a job with one', () => {
    const manifest = { Tags: ['a'], Token: { scope: 'jobs:read' } };
    expect(resourcesOf(manifest).tags).toEqual(['a', TOKEN_TAG]);
  });

  it.each<[JsonObject, string[]]>([
    [{ InputData: '/vo/f', InputDataPolicy: 'download' }, [DATA_TAG]],
    [{ InputSandbox: ['a', 'LFN:/vo/f'] }, [DATA_TAG]],
    [{ InputSandbox: 'LFN:/vo/f' }, [DATA_TAG]],
    [{ InputData: '/vo/f', InputDataPolicy: 'url' }, []],
    [{ InputData: '/vo/f' }, []],
    [{ InputData: [], InputDataPolicy: 'download' }, []],
    [{ InputDataPolicy: 'download' }, []],
    [{ InputSandbox: ['a'] }, []],
  ])('wants a site that brings files for %j', (manifest, tags) => {
    expect(resourcesOf(manifest).tags).toEqual(tags);
  });

  it.each<[JsonObject, string, string]>([
    [{ NumberOfProcessors: 0 }, 'NumberOfProcessors', 'must be between 1 and 1024'],
    [{ NumberOfProcessors: 1.5 }, 'NumberOfProcessors', 'must be a whole number'],
    [{ NumberOfProcessors: [1] }, 'NumberOfProcessors', 'must be a whole number'],
    [{ NumberOfProcessors: 2n ** 64n }, 'NumberOfProcessors', 'must be between 1 and 1024'],
    [{ MinRAM: 'lots' }, 'MinRAM', 'must be a whole number of MB'],
    [{ MinRAM: -1 }, 'MinRAM', 'must be between 0 and 100000000'],
    [{ MaxRAM: 0 }, 'MaxRAM', 'must be between 1 and 100000000'],
    [{ MinRAM: 2, MaxRAM: 1 }, 'MaxRAM', 'is less than MinRAM'],
    [{ WallTime: true }, 'WallTime', 'must be a whole number of seconds'],
    [{ WallTime: 0 }, 'WallTime', 'must be between 1 and 31622400'],
    [{ GPUs: null }, 'GPUs', 'must be a whole number'],
    [{ GPUs: 1025 }, 'GPUs', 'must be between 0 and 1024'],
    [{ Tags: 7 }, 'Tags', 'must be a text or a list of texts'],
    [{ Tags: ['a', 1] }, 'Tags', 'must be a text or a list of texts'],
    [
      { Tags: ['a&b'] },
      'Tags',
      'a&b: is no tag: a letter or digit, then at most 63 letters, digits or one of _ . : -',
    ],
    [
      { Tags: Array.from({ length: 33 }, (_, n) => `t${n}`) },
      'Tags',
      'has 33 elements, at most 32 are allowed',
    ],
  ])('refuses %p', (manifest, field, problem) => {
    expect(faultsOf(manifest)).toEqual([{ field, problem }]);
  });
});

describe('lackOf', () => {
  const local = (declared: Partial<Site> = {}): Site => ({
    name: 'S',
    backend: 'local-process',
    options: {},
    ...declared,
  });
  const declared = { processors: 8, ramMB: 16_000, gpus: 1, tags: ['el9'], maxWallTime: 3600 };

  it.each<[string, Partial<JobResources>, Site, string | undefined]>([
    ['the machine of a local site', { processors: 2, minRamMB: 4000 }, local(), undefined],
    ['too many processors', { processors: 3 }, local(), 'It has 2 processors'],
    ['too much memory', { minRamMB: 4001 }, local(), 'It has 4000 MB of memory'],
    ['what is declared', { processors: 8, minRamMB: 16_000 }, local(declared), undefined],
    ['more than declared', { processors: 9 }, local(declared), 'It has 8 processors'],
    [
      'whatever size at a batch system that says nothing',
      { processors: 1024, minRamMB: 1_000_000, wallTimeSeconds: 1_000_000 },
      local({ backend: 'slurm' }),
      undefined,
    ],
    ['a GPU where none is declared', { gpus: 1 }, local(), 'It has 0 GPUs'],
    ['a GPU', { gpus: 1 }, local(declared), undefined],
    ['a tag', { tags: ['el9'] }, local(declared), undefined],
    ['other tags', { tags: ['el9', 'x', 'y'] }, local(declared), 'It does not have x, y'],
    ['a token', { tags: [TOKEN_TAG] }, local(), undefined],
    [
      'a token of a batch system',
      { tags: ['el9', TOKEN_TAG] },
      local({ backend: 'slurm', tags: ['el9'] }),
      'It gives jobs no tokens',
    ],
    ['files of the catalogue', { tags: [DATA_TAG] }, local({ backend: 'worker' }), undefined],
    [
      'files of the catalogue of a batch system',
      { tags: [DATA_TAG] },
      local({ backend: 'slurm' }),
      'It brings no files of the catalogue to jobs',
    ],
    ['more time', { wallTimeSeconds: 3601 }, local(declared), 'Jobs may run for 3600 s there'],
    ['no time given', {}, local(declared), undefined],
  ])('of a job that wants %s', (_what, wanted, site, lack) => {
    expect(lackOf(site, { ...NOTHING, ...wanted }, MACHINE)).toBe(lack);
  });
});
