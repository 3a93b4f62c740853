import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FormData } from 'undici';
import { CommandUser } from '../support/command.js';
import { awaitFinal, awaitStatus, sandboxOf, show, submit } from '../support/jobs.js';
import { describeWith } from '../support/missing.js';
import { slurmFault } from '../support/slurm/packages.js';
import { startSlurm, type SlurmCluster } from '../support/slurm/slurm-cluster.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const fault = slurmFault();
const need = { met: fault === undefined, name: `two one-node Slurms (${fault ?? ''})` };

/** Two clusters with controllers, nodes and limits of their own, each the place of one site. */
describeWith(need)('sites with clusters of their own', () => {
  let north: SlurmCluster;
  let south: SlurmCluster;
  let grid: Grid;
  let alice: GridClient;
  let registry: string;

  const connection = ({ url, jwtKeyFile, user, workDirectory }: SlurmCluster) => ({
    ...{ url, user, workDirectory },
    ...{ keyFile: jwtKeyFile, timeout: 3 },
  });
  const sites = (more: object = {}) =>
    JSON.stringify({
      sites: {
        NORTH: { backend: 'slurm', slots: 2, connection: connection(north) },
        SOUTH: {
          backend: 'slurm',
          limits: { running: 4 },
          options: { memoryMb: 700 },
          connection: connection(south),
        },
        ...more,
      },
    });

  beforeAll(async () => {
    north = await startSlurm();
    south = await startSlurm();
    registry = join(north.directory, 'registry.yaml');
    await writeFile(registry, sites());
    grid = await startGrid({
      env: {
        ...{ GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true', GRID_JOB_LEASE: '5' },
        GRID_SANDBOX_STORE: join(north.directory, 'sandboxes'),
      },
    });
    alice = await grid.as('alice');
  });

  afterAll(async () => {
    north?.controller.signal('SIGCONT');
    north?.rest.signal('SIGCONT');
    await grid?.remove();
    await south?.stop();
    await north?.stop();
  });

  const sh = (site: string, script: string, more: object = {}) => ({
    Sites: [site],
    Executable: '/bin/sh',
    Arguments: ['-c', script],
    ...more,
  });
  /** `gridgate registry load` beside the running server. */
  const load = async (text: string): Promise<void> => {
    await writeFile(registry, text);
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url };
    const ended = await new CommandUser(north.directory).run(['registry', 'load', registry], env);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
  };
  const explain = async (jid: number) =>
    (await alice.get<{ waitsFor: string; sites: Record<string, string> }>(`/jobs/${jid}/explain`))
      .body;
  /** Times at which jobs were at work, written by themselves; answers the most at once. */
  const mostAtOnce = async (log: string): Promise<number> => {
    let now = 0;
    const counts = (await readFile(log, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => {
        now += line === '+' ? 1 : -1;
        return now;
      });
    return Math.max(...counts);
  };

  it('fails a job whose input is damaged in the store, and no other', async () => {
    const sent = async (data: string): Promise<number> => {
      const form = new FormData();
      form.append('manifest', JSON.stringify(sh('LATER', 'cat data')));
      form.append('data', new Blob([data]), 'data');
      const answer = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
      return answer.body.jids[0] ?? 0;
    };
    const jids = [await sent('broken\n'), await sent('whole\n')] as const;
    await awaitStatus(alice, jids[0], ['Waiting']);
    const { headers } = await alice.head(`/jobs/${jids[0]}/inputsandbox`);
    const hash = String(headers['etag']).slice(1, -1);
    const folder = join(north.directory, 'sandboxes', hash.slice(0, 2));
    await truncate(join(folder, `${hash}.tar.gz`), 40);
    await grid.sql(`update jobs set wanted_sites = '{NORTH}' where jid = any($1)`, [jids]);
    const jobs = await awaitFinal(alice, [...jids]);
    expect(jobs.map(({ status, minorStatus, site }) => [status, minorStatus, site])).toEqual([
      ['Failed', 'Failed Downloading InputSandbox', 'NORTH'],
      ['Done', 'Execution Complete', 'NORTH'],
    ]);
    expect(jobs[0]?.appStatus).toBe('It cannot be unpacked');
    expect(await sandboxOf(alice, jids[1])).toEqual({ 'std.out': 'whole\n', 'std.err': '' });
  });

  it('runs jobs on both, each within its own limits, and brings their output home', async () => {
    const script = ({ scratch }: SlurmCluster) =>
      `echo + >>${scratch}/log; cat ${scratch}/name; sleep 1; echo - >>${scratch}/log`;
    await writeFile(join(north.scratch, 'name'), 'north');
    await writeFile(join(south.scratch, 'name'), 'south');
    for (const { scratch } of [north, south]) {
      await writeFile(join(scratch, 'log'), '', { mode: 0o666 });
      await north.command('chmod', '666', join(scratch, 'log'));
    }
    const jids = await submit(
      alice,
      Array.from({ length: 12 }, (_, n) =>
        n % 2 === 0 ? sh('NORTH', script(north)) : sh('SOUTH', script(south)),
      ),
    );
    const jobs = await awaitFinal(alice, jids);
    expect(jobs.map(({ status, site }) => `${status} ${site}`)).toEqual(
      jids.map((_, n) => `Done ${n % 2 === 0 ? 'NORTH' : 'SOUTH'}`),
    );
    const out = await Promise.all(jids.map((jid) => sandboxOf(alice, jid)));
    expect(out).toEqual(
      jids.map((_, n) => ({ 'std.out': n % 2 === 0 ? 'north' : 'south', 'std.err': '' })),
    );
    expect(await mostAtOnce(join(north.scratch, 'log'))).toBe(2);
    expect(await mostAtOnce(join(south.scratch, 'log'))).toBe(4);
    const ended = await readFile(join(south.directory, 'completions.txt'), 'utf8');
    expect(ended.match(/^JobId=/gm)?.length).toBe(6);
  });

  it('kills a job on each', async () => {
    const jids = await submit(alice, [
      sh('NORTH', 'exec sleep 987'),
      sh('SOUTH', 'exec sleep 987'),
    ]);
    for (const jid of jids) await awaitStatus(alice, jid, ['Running']);
    for (const jid of jids) expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    await eventually(async () => (await north.payloads('sleep 987')) === 0, 'the payloads to end');
    for (const jid of jids) expect((await show(alice, jid)).status).toBe('Killed');
    await north.awaitNoJobs();
    await south.awaitNoJobs();
  });

  it('goes on with one cluster while the other hangs, whose jobs end when it is back', async () => {
    const starts = join(north.scratch, 'starts');
    await writeFile(starts, '', { mode: 0o666 });
    await north.command('chmod', '666', starts);
    const script = (n: number) => `echo ${n} >>${starts}`;
    north.rest.signal('SIGSTOP');
    north.controller.signal('SIGSTOP');
    const stuck = await submit(
      alice,
      [1, 2, 3].map((n) => sh('NORTH', script(n))),
    );
    // Wherever it was first thought of, a job that may go elsewhere is not kept by the cluster that hangs.
    await eventually(
      async () => (await explain(stuck[2] ?? 0)).sites['NORTH']?.includes('does not answer'),
      'explain to say that the cluster does not answer',
    );
    const either = { Executable: '/bin/true', Sites: ['NORTH', 'SOUTH'] };
    const rounds = Array.from({ length: 5 }, () => sh('SOUTH', 'echo on'));
    const others = await submit(alice, [...rounds, either]);
    const jobs = await awaitFinal(alice, others);
    expect(jobs.map(({ status, site }) => `${status} ${site}`)).toEqual(
      others.map(() => 'Done SOUTH'),
    );
    expect((await explain(stuck[2] ?? 0)).waitsFor).toContain(
      'NORTH: It cannot be used now: slurmrestd does not answer',
    );
    north.controller.signal('SIGCONT');
    north.rest.signal('SIGCONT');
    const late = await awaitFinal(alice, stuck);
    expect(late.map(({ status }) => status)).toEqual(['Done', 'Done', 'Done']);
    // Each once, whatever became of the submits that had no answer.
    expect((await readFile(starts, 'utf8')).trim().split('\n').sort()).toEqual(['1', '2', '3']);
    await north.awaitNoJobs();
  });

  it('takes its jobs up again after a kill -9, on both', async () => {
    const go = (name: string) =>
      `while [ ! -e ${north.scratch}/${name} ]; do sleep 0.1; done; echo $$`;
    const jids = await submit(alice, [sh('NORTH', go('go')), sh('SOUTH', go('go'))]);
    for (const jid of jids) await awaitStatus(alice, jid, ['Running']);
    await grid.kill();
    grid = await grid.again();
    alice = await grid.as('alice');
    await writeFile(join(north.scratch, 'go'), '');
    const jobs = await awaitFinal(alice, jids);
    expect(jobs.map(({ status }) => status)).toEqual(['Done', 'Done']);
  });

  it('shows a site that cannot be used, lets its jobs wait, and follows the registry without a restart', async () => {
    const broken = { ...connection(south), workDirectory: '/proc/none/work' };
    await load(sites({ BROKEN: { backend: 'slurm', connection: broken } }));
    const [jid = 0] = await submit(alice, [sh('BROKEN', 'echo here')]);
    await eventually(
      async () =>
        (await explain(jid)).sites['BROKEN'] ===
        'It cannot be used now: workDirectory /proc/none/work is not there, or is no directory',
      'explain to say why',
    );
    const mended = { ...broken, workDirectory: join(south.directory, 'more') };
    await mkdir(mended.workDirectory);
    await load(sites({ BROKEN: { backend: 'slurm', connection: mended } }));
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({ status: 'Done', site: 'BROKEN' });
  });
});
