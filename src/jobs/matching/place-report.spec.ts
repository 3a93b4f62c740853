import { describe, expect, it } from '@jest/globals';
import type { Site } from '#src/registry/index.js';
import { placeFault } from './place-report.js';

const shared: Site = { name: 'A', backend: 'slurm', options: {} };
const own: Site = { ...shared, name: 'B', connection: { url: 'http://b', workDirectory: '/b' } };
const good = { backend: 'slurm' as const, fault: null };
const bad = { ...good, fault: 'it is away' };

describe('placeFault', () => {
  it.each<[string, Site, [string, typeof good | typeof bad][], string | undefined]>([
    ['nobody looks after', own, [['slurm', good]], 'No instance of the service looks after it'],
    [
      'has its own fault',
      own,
      [
        ['slurm', good],
        ['slurm:B', bad],
      ],
      'It cannot be used now: it is away',
    ],
    [
      'is well',
      own,
      [
        ['slurm', bad],
        ['slurm:B', good],
      ],
      undefined,
    ],
    ['has no executor', shared, [['slurm:B', good]], 'No slurm executor is running'],
    [
      'shares a fault',
      shared,
      [
        ['slurm', bad],
        ['slurm:B', good],
      ],
      'It cannot be used now: it is away',
    ],
    [
      'is well',
      shared,
      [
        ['slurm', good],
        ['slurm:B', bad],
      ],
      undefined,
    ],
  ])('of a site that %s (%j, %j) is %j', (_, site, live, fault) => {
    expect(placeFault(site, new Map(live))).toBe(fault);
  });
});
