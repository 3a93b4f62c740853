import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '#src/kernel/index.js';
import { fetchedNames } from './manifest-places.js';

const DOWNLOAD = { InputDataPolicy: 'download' };

describe('the names of files of the catalogue in the directory of a job', () => {
  it.each<[string, JsonObject, Record<string, string>]>([
    [
      'are the last ones',
      { InputData: ['LFN:/vo/a/f1', '/vo/b/f2'], InputSandbox: ['LFN:/vo/c/f3'], ...DOWNLOAD },
      { '/vo/c/f3': 'f3', '/vo/a/f1': 'f1', '/vo/b/f2': 'f2' },
    ],
    [
      'are the paths of those that are alike',
      { InputData: ['/vo/a/f1', '/vo/b/f1', '/vo/b/f2'], ...DOWNLOAD },
      { '/vo/a/f1': 'vo/a/f1', '/vo/b/f1': 'vo/b/f1', '/vo/b/f2': 'f2' },
    ],
    [
      'leave uploaded files and outputs alone',
      {
        ...{
          InputData: ['/vo/a/prog', '/vo/a/std.out', '/vo/a/err', '/vo/a/dirac_job_input.json'],
        },
        ...{ InputSandbox: ['prog'], StdOutput: 'std.out', StdError: 'err', ...DOWNLOAD },
      },
      {
        ...{ '/vo/a/prog': 'vo/a/prog', '/vo/a/std.out': 'vo/a/std.out', '/vo/a/err': 'vo/a/err' },
        '/vo/a/dirac_job_input.json': 'vo/a/dirac_job_input.json',
      },
    ],
    [
      'never stand where a directory of others is to be',
      { InputData: ['/vo/a/vo', '/vo/a/f', '/vo/b/f'], ...DOWNLOAD },
      { '/vo/a/vo': 'vo/a/vo', '/vo/a/f': 'vo/a/f', '/vo/b/f': 'vo/b/f' },
    ],
    [
      'are one for a file that is named twice',
      { InputData: ['/vo/f', 'LFN:/vo/f'], ...DOWNLOAD },
      { '/vo/f': 'f' },
    ],
    ['are none for what is told only', { InputData: ['/vo/f'], InputDataPolicy: 'url' }, {}],
  ])('%s', (_what, manifest, names) => {
    expect(Object.fromEntries(fetchedNames(manifest))).toEqual(names);
  });
});
