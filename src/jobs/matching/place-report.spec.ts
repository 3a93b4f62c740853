import { describe, expect, it } from '@jest/globals';
import type { Site } from '#src/registry/index.js';
import { gpuFault, placeFault } from './place-report.js';

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

describe('gpuFault', () => {
  const local: Site = { name: 'L', backend: 'local-process', options: {}, gpus: 2 };
  const worker: Site = { ...local, name: 'W', backend: 'worker', gpus: 9 };
  const live = new Map([
    ['local:1', { backend: 'local-process' as const, fault: null, gpus: 1 }],
    ['local:2', { backend: 'local-process' as const, fault: null, gpus: null }],
    ['worker:W', { backend: 'worker' as const, fault: null, gpus: 4 }],
  ]);

  it.each<[string, Site, number, string | undefined]>([
    [
      'declares more than its machine has',
      local,
      1,
      'It declares 2 GPUs and its machine has 1: no job that asks for GPUs starts there',
    ],
    ['is not asked for any', local, 0, undefined],
    ['has what it declares', { ...local, gpus: 1 }, 1, undefined],
    ['has a worker with so many', worker, 4, undefined],
    [
      'has no worker with so many',
      worker,
      5,
      'None of its workers has so many GPUs: the most is 4',
    ],
    ['is a batch system', { ...shared, gpus: 5 }, 5, undefined],
  ])('of a site that %s', (_, site, wanted, fault) => {
    expect(gpuFault(site, wanted, live)).toBe(fault);
  });
});
