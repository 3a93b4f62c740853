import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { awaitFinal, awaitStatus, parametersOf, sandboxOf, submit } from '../support/jobs.js';
import { describeOn, describeWith } from '../support/missing.js';
import { accountingFault } from '../support/slurm/packages.js';
import { canBoundMemory, MEMORY_SETTINGS } from '../support/slurm/slurm-conf.js';
import { startSlurm, type SlurmCluster } from '../support/slurm/slurm-cluster.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const fault = accountingFault();
const need = { met: fault === undefined, name: `a Slurm with slurmdbd (${fault ?? ''})` };
const limits = { met: canBoundMemory(), name: 'control groups of version 1 for memory' };
const SITES = 'sites:\n  SLURM.test: { backend: slurm }\n';

describeWith(need)('usage of jobs by the accounting of a real Slurm, and its limits', () => {
  let slurm: SlurmCluster;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    slurm = await startSlurm({
      hasAccounting: true,
      settings: limits.met ? MEMORY_SETTINGS : {},
    });
    const registry = join(slurm.directory, 'registry.yaml');
    await writeFile(registry, SITES);
    grid = await startGrid({
      env: { ...slurm.env, GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' },
    });
    alice = await grid.as('alice');
  });

  afterAll(async () => {
    await grid?.remove();
    await slurm?.stop();
  });

  /** Two processes of 40 MB and more; one of them leaves the session, so that the wrapper does not see it. */
  const hog =
    'x=$(head -c 40000000 /dev/zero | tr "\\0" a); i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 4';
  const manifest = {
    Sites: ['SLURM.test'],
    Executable: '/bin/sh',
    Arguments: ['-c', `setsid sh -c '${hog}' & ${hog}; wait`],
    MaxRAM: 1000,
  };
  const bySlurmdbd = async (jid: number): Promise<Record<string, unknown>> =>
    eventually(
      async () => {
        const parameters = await parametersOf(alice, jid);
        return parameters['UsageSource'] === 'slurmdbd' ? parameters : undefined;
      },
      'the accounting to tell',
      120_000,
    );

  it('puts what slurmdbd measured in the place of what the wrapper did', async () => {
    const jids = await submit(alice, [manifest, manifest]);
    for (const jid of jids) await awaitStatus(alice, jid, ['Done']);
    for (const jid of jids) {
      const parameters = await bySlurmdbd(jid);
      expect(parameters).toMatchObject({
        ExitCode: 0,
        BatchSystem: 'slurm',
        UsageSource: 'slurmdbd',
        'WallClockTime(s)': expect.any(Number),
        'TotalCPUTime(s)': expect.any(Number),
        'CPUEfficiency(%)': expect.any(Number),
        'Memory(MB)': expect.any(Number),
        'MemoryEfficiency(%)': expect.any(Number),
      });
      expect(parameters['WallClockTime(s)']).toBeGreaterThanOrEqual(4);
      expect(parameters['TotalCPUTime(s)']).toBeGreaterThan(0.05);
      expect(parameters['Memory(MB)']).toBeGreaterThan(75);
      expect(parameters['Memory(MB)']).toBeLessThan(1000);
      const runs = await grid.sql('select cpu_seconds from job_runs where jid = $1', [jid]);
      expect(runs).toEqual([{ cpu_seconds: parameters['TotalCPUTime(s)'] }]);
    }
  });

  describeOn(limits)('where Slurm bounds memory', () => {
    it('names the limit when Slurm ends a job that has more memory than it asked for', async () => {
      const script = 'echo before; x=$(head -c 200000000 /dev/zero | tr "\\0" a); sleep 60';
      // Two make an array: Slurm is asked for the task, not for all of them.
      const manifest = { Sites: ['SLURM.test'], Executable: '/bin/sh', MaxRAM: 100 };
      const hungry = { ...manifest, Arguments: ['-c', script] };
      const jids = await submit(alice, [hungry, hungry]);
      for (const job of await awaitFinal(alice, jids)) {
        expect(job).toMatchObject({
          status: 'Failed',
          minorStatus: 'Job has exceeded maximum memory',
          appStatus: 'Slurm: OUT_OF_MEMORY',
        });
      }
      expect(await sandboxOf(alice, jids[1] ?? 0)).toMatchObject({ 'std.out': 'before\n' });
    });

    it('blames no limit where the program itself is the killer', async () => {
      const manifest = { Sites: ['SLURM.test'], Executable: '/bin/sh', MaxRAM: 100 };
      const [jid = 0] = await submit(alice, [{ ...manifest, Arguments: ['-c', 'kill -9 $$'] }]);
      const [job] = await awaitFinal(alice, [jid]);
      expect(job).toMatchObject({
        status: 'Failed',
        minorStatus: 'Application thread failed',
        appStatus: 'Ended by signal SIGKILL',
      });
    });
  });

  it('ends jobs as ever while slurmdbd is away, with what the wrapper measured', async () => {
    await slurm.accounting?.kill();
    const [jid = 0] = await submit(alice, [manifest]);
    await awaitStatus(alice, jid, ['Done']);
    expect(await parametersOf(alice, jid)).toMatchObject({
      UsageSource: 'wrapper',
      'CPUEfficiency(%)': expect.any(Number),
    });
    slurm.accounting?.again();
    expect(await bySlurmdbd(jid)).toMatchObject({ 'TotalCPUTime(s)': expect.any(Number) });
  });
});
