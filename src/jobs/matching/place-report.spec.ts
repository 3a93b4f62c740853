import { describe, expect, it } from '@jest/globals';
import type { Site } from '#src/registry/index.js';
import type { LiveExecutor } from './dispatch.repository.js';
import { machineFault, placeFault } from './place-report.js';

const shared: Site = { name: 'A', backend: 'slurm', options: {} };
const own: Site = { ...shared, name: 'B', connection: { url: 'http://b', workDirectory: '/b' } };
const good = { backend: 'slurm' as const, fault: null, machines: [] };
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

describe('machineFault', () => {
  const local: Site = { name: 'L', backend: 'local-process', options: {}, gpus: 2 };
  const worker: Site = { ...local, name: 'W', backend: 'worker', gpus: 9, ramMB: 8000 };
  const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
  const small = { processors: 2, ramMB: 4000, gpus: 4, wallSeconds: 7 * 86_400 };
  const large = { processors: 8, ramMB: 8000, gpus: 0, tags: ['el9'], endsAt: at(1_000) };
  const live = new Map<string, LiveExecutor>(
    Object.entries({
      'local:1': { backend: 'local-process' as const, fault: null, machines: [{ gpus: 1 }] },
      'local:2': { backend: 'local-process' as const, fault: null, machines: [{}] },
      'worker:W': { backend: 'worker' as const, fault: null, machines: [small, large, large] },
    }),
  );

  it.each<[string, Site, object, string | undefined]>([
    [
      'declares more GPUs than its machine has',
      local,
      { gpus: 1 },
      'It declares 2 GPUs and its machine has 1: no job that asks for GPUs starts there',
    ],
    ['is asked for none of them', local, {}, undefined],
    ['has what it declares', { ...local, gpus: 1 }, { gpus: 1 }, undefined],
    ['has a worker with so many GPUs', worker, { gpus: 4 }, undefined],
    [
      'has no worker with so many',
      worker,
      { gpus: 5 },
      'None of its workers can hold the job: one has 4 GPUs; one has 0 GPUs',
    ],
    [
      'has them at different machines',
      worker,
      { gpus: 1, processors: 4 },
      'None of its workers can hold the job: one has 2 processors; one has 0 GPUs',
    ],
    [
      'has a worker with the tag',
      worker,
      { tags: ['el9', '@token'], wallTimeSeconds: 840 },
      undefined,
    ],
    ['has one that says no tags', worker, { tags: ['avx'] }, undefined],
    [
      'has one with the tag that ends too soon',
      worker,
      { tags: ['el9'], minRamMB: 4001, wallTimeSeconds: 841 },
      `None of its workers can hold the job: one has 4000 MB of memory; one takes jobs of at most 840 s, as it ends at ${at(1_000)}`,
    ],
    [
      'has one that ends, and no time is asked for',
      worker,
      { processors: 3 },
      `None of its workers can hold the job: one has 2 processors; one takes jobs of at most 840 s, as it ends at ${at(1_000)}: say WallTime`,
    ],
    ['is a batch system', { ...shared, gpus: 5 }, { gpus: 5 }, undefined],
  ])('of a site that %s', (_, site, wanted, fault) => {
    const job = { processors: 1, gpus: 0, tags: [], ...wanted };
    expect(machineFault(site, job, live, 100_000)).toBe(fault);
  });

  it('names three of the reasons', () => {
    const job = { processors: 9, gpus: 5, tags: [] };
    const places = new Map(live).set('worker:W', {
      ...good,
      machines: [1, 2, 3, 4, 5].map((processors) => ({ processors })),
    });
    expect(machineFault(worker, job, places, 0)).toBe(
      'None of its workers can hold the job: one has 1 processors; one has 2 processors; one has 3 processors; and 2 more',
    );
  });

  it('takes a job without a time for one that the worker ends in time', () => {
    const machines = [{ ...large, wallSeconds: 840 }];
    const places = new Map(live).set('worker:W', { ...good, machines });
    const job = { processors: 3, gpus: 0, tags: ['el9'] };
    expect(machineFault(worker, job, places, 100_000)).toBe(undefined);
    expect(machineFault(worker, job, places, 100_001)).toMatch('say WallTime');
  });
});
