import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent, FormData, request } from 'undici';
import {
  awaitFinal,
  awaitStatus,
  parametersOf,
  pastOf,
  sandboxOf,
  show,
  submit,
} from '../support/jobs.js';
import { describeWith } from '../support/missing.js';
import { slurmFault } from '../support/slurm/packages.js';
import { startSlurm, type SlurmCluster } from '../support/slurm/slurm-cluster.js';
import { encoded } from '../support/tenants/place.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const fault = slurmFault();
const need = { met: fault === undefined, name: `a one-node Slurm (${fault ?? ''})` };
const SITE = { Sites: ['SLURM.test'] };
const SITES = `sites:
  SLURM.test: { backend: slurm }
  SLURM.rich:
    backend: slurm
    processors: 8
    ramMB: 4000
    gpus: 2
    tags: [el9, large, cvmfs, sparse]
    maxWallTime: 3600
    options: { memoryMb: 500, constraints: { large: big, cvmfs: '' } }
`;
const REPLICA = { url: 'https://se.example/in', se: 'SE-A' };
const INPUT = { replicas: [REPLICA], size_bytes: 7, checksum: {} };
const WAY = [
  ...['Received', 'Checking', 'Waiting', 'Matched', 'Running'],
  ...['Completing', 'Completed', 'Done'],
];

describeWith(need)('the life of jobs on a real Slurm', () => {
  let slurm: SlurmCluster;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    slurm = await startSlurm();
    const registry = join(slurm.directory, 'registry.yaml');
    await writeFile(registry, SITES);
    const env = {
      ...slurm.env,
      GRID_REGISTRY: registry,
      GRID_REGISTRY_SYNC: 'true',
      GRID_JOB_LEASE: '5',
    };
    grid = await startGrid({ env });
    alice = await grid.as('alice');
  });

  afterAll(async () => {
    await grid?.remove();
    await slurm?.stop();
  });

  const sh = (script: string, more: object = {}) => ({
    ...SITE,
    Executable: '/bin/sh',
    Arguments: ['-c', script],
    ...more,
  });

  /** Starts the server again on the same database. */
  const again = async (): Promise<void> => {
    grid = await grid.again();
    alice = await grid.as('alice');
  };

  it('runs a hundred jobs of one request, each once, and brings their output home', async () => {
    const log = join(slurm.scratch, 'starts.log');
    const manifests = Array.from({ length: 100 }, (_, n) =>
      sh(`echo ${n} >>${log}; echo out-${n}`),
    );
    const jids = await submit(alice, manifests);
    const jobs = await awaitFinal(alice, jids);
    expect(
      new Set(jobs.map(({ status, minorStatus, site }) => `${status} ${minorStatus} ${site}`)),
    ).toEqual(new Set(['Done Execution Complete SLURM.test']));
    const starts = (await readFile(log, 'utf8')).trim().split('\n').map(Number);
    expect(starts.sort((a, b) => a - b)).toEqual(manifests.map((_, n) => n));
    expect(await sandboxOf(alice, jids[42] ?? 0)).toEqual({ 'std.out': 'out-42\n', 'std.err': '' });
    expect(await pastOf(alice, jids[42] ?? 0)).toEqual(WAY);
    // Many jobs a call: far fewer arrays than jobs.
    const ended = (await readFile(join(slurm.directory, 'completions.txt'), 'utf8')).split('\n');
    expect(ended.filter((line) => line.startsWith('JobId=')).length).toBe(100);
  });

  it('leaves nothing behind in the shared directory', async () => {
    await eventually(async () => {
      const names = await Promise.all(
        ['runs', 'batches', `marks/begun/${slurm.uid}`, `marks/ended/${slurm.uid}`].map(
          async (name) => (await slurm.list(join('work', name))).length,
        ),
      );
      return names.every((count) => count === 0);
    }, 'the runs to be removed');
  });

  it('gives the payload its input files and an account without rights', async () => {
    const json = { Size: 7, Replicas: { [REPLICA.se]: { PFN: REPLICA.url } } };
    await alice.put(`/filecatalogue/file/${encoded('/vo/in')}`, { json });
    const form = new FormData();
    const manifest = {
      ...SITE,
      Executable: 'job.sh',
      Arguments: 'a "b c"',
      InputData: 'LFN:/vo/in',
      OutputSandbox: ['std.out', 'std.err', 'made/*'],
    };
    form.append('manifest', JSON.stringify(manifest));
    const script =
      '#!/bin/sh\nid -un; cat data; printf "%s;" "$@"; mkdir made; echo x >made/file; cat "$GRIDGATE_INPUT_DATA"\n';
    form.append('job.sh', new Blob([script]), 'job.sh');
    form.append('data', new Blob(['input\n']), 'data');
    const answer = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
    expect(answer.status).toBe(200);
    const [jid = 0] = answer.body.jids;
    await awaitStatus(alice, jid, ['Done']);
    expect(await sandboxOf(alice, jid)).toEqual({
      'std.out': `${slurm.user}\ninput\na;b c;${JSON.stringify({ 'LFN:/vo/in': INPUT })}\n`,
      'std.err': '',
      'made/file': 'x\n',
    });
  });

  it('does not start a script whose interpreter is not there, and shows its first line', async () => {
    const form = new FormData();
    form.append('manifest', JSON.stringify({ ...SITE, Executable: 'job.sh' }));
    form.append('job.sh', new Blob(['#!/bin/bash\r\necho\r\n']), 'job.sh');
    const answer = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
    const [job] = await awaitFinal(alice, answer.body.jids);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Application not found',
      appStatus: 'The interpreter of the program was not found: "#!/bin/bash\\r"',
    });
    await slurm.awaitNoJobs();
  });

  it('records exit code, times, memory, efficiency and host of a job that fails', async () => {
    const [jid = 0] = await submit(alice, [
      sh('echo no >&2; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 2; exit 3', {
        MaxRAM: 400,
      }),
    ]);
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Application Finished With Errors',
      appStatus: 'Exited with code 3',
    });
    const parameters = await parametersOf(alice, jid);
    expect(parameters).toEqual({
      ExitCode: 3,
      BatchSystem: 'slurm',
      LocalAccount: slurm.user,
      HostName: slurm.nodeName,
      Pilot_Reference: expect.stringMatching(/^\d+$/),
      'TotalCPUTime(s)': expect.any(Number),
      'WallClockTime(s)': expect.any(Number),
      UsageSource: 'wrapper',
      'CPUEfficiency(%)': expect.any(Number),
      'Energy(Wh)': expect.any(Number),
      'Memory(MB)': expect.any(Number),
      'MemoryEfficiency(%)': expect.any(Number),
    });
    const cpu = Number(parameters['TotalCPUTime(s)']);
    const wall = Number(parameters['WallClockTime(s)']);
    expect(cpu).toBeGreaterThan(0.05);
    expect(parameters['CPUEfficiency(%)']).toBeCloseTo((cpu / wall) * 100, 0);
    expect(parameters['Memory(MB)']).toBeLessThan(50);
    expect((await sandboxOf(alice, jid))['std.err']).toBe('no\n');
  });

  it.each([
    ['an unknown program', { Executable: 'no-such-program' }, 'Application not found'],
    ['a signal', sh('kill -9 $$'), 'Application thread failed'],
    ['more CPUs than Slurm has', sh('true', { NumberOfProcessors: 999 }), 'Submitting To CE'],
  ])('fails a job with %s', async (_name, manifest, minorStatus) => {
    const [jid = 0] = await submit(alice, [{ ...SITE, ...manifest }]);
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({ status: 'Failed', minorStatus });
    await slurm.awaitNoJobs();
  });

  /** What Slurm says of the only job that it has. */
  const shown = async (): Promise<Record<string, string>> => {
    const text = await slurm.command('scontrol', '--oneliner', 'show', 'job');
    return Object.fromEntries(
      [...text.matchAll(/(\S+?)=(\S*)/g)].map(([, name = '', value = '']) => [name, value]),
    );
  };

  it.each([
    [
      'everything',
      {
        ...{ NumberOfProcessors: 3, MinRAM: 100, MaxRAM: 1500, GPUs: 2, WallTime: 600 },
        Tags: ['el9', 'large', 'cvmfs'],
      },
      {
        ...{ 'CPUs/Task': '3', NumCPUs: '3', MinMemoryNode: '1500M', TimeLimit: '00:12:00' },
        ...{ Features: 'el9&big', TresPerNode: 'gres:gpu:2' },
      },
    ],
    [
      'nothing',
      {},
      { 'CPUs/Task': '1', MinMemoryNode: '500M', TimeLimit: '01:02:00', Features: '(null)' },
    ],
    ['more memory than there is', { MaxRAM: 9000 }, { 'CPUs/Task': '1', MinMemoryNode: '4000M' }],
  ])('asks Slurm for what a job wants that asks for %s', async (_what, wants, expected) => {
    const go = join(slurm.scratch, `go-${Object.keys(wants).length}`);
    const script = `echo $GRIDGATE_PROCESSORS; while [ ! -e ${go} ]; do sleep 0.1; done`;
    const [jid = 0] = await submit(alice, [sh(script, { Sites: ['SLURM.rich'], ...wants })]);
    await awaitStatus(alice, jid, ['Running']);
    expect(await shown()).toMatchObject({ JobState: 'RUNNING', ...expected });
    await writeFile(go, '');
    await awaitStatus(alice, jid, ['Done']);
    expect((await sandboxOf(alice, jid))['std.out']).toBe(`${expected['CPUs/Task']}\n`);
    await slurm.awaitNoJobs();
  });

  it('fails a job for which no node has the feature, in the words of Slurm', async () => {
    const [jid = 0] = await submit(alice, [
      sh('true', { Sites: ['SLURM.rich'], Tags: ['sparse'] }),
    ]);
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({ status: 'Failed', minorStatus: 'Submitting To CE' });
    expect(job?.appStatus).toMatch(/^Slurm refuses it: .*feature/i);
  });

  it('ends a job at its own WallTime, and says so', async () => {
    const [jid = 0] = await submit(alice, [sh('sleep 60', { WallTime: 2 })]);
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Job has exceeded maximum wall clock time',
      appStatus: 'Ran longer than it may',
    });
  });

  it('names the limit when Slurm itself ends a job at its time', async () => {
    const [jid = 0] = await submit(alice, [sh('sleep 100')]);
    await awaitStatus(alice, jid, ['Running']);
    const { JobId = '' } = await shown();
    await slurm.command('scontrol', 'update', `JobId=${JobId}`, 'EndTime=now+2');
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Job has exceeded maximum wall clock time',
      appStatus: 'Slurm: TIMEOUT',
    });
  });

  it('shows values of the environment to nobody else: in no argument list, in no readable file', async () => {
    const go = join(slurm.scratch, 'go-secret');
    const secret = 'no-one-else-reads-this';
    const script = `echo "$program $KEY"; cat "$0" >/dev/null 2>&1; while [ ! -e ${go} ]; do sleep 0.1; done`;
    const ExecutionEnvironment = { KEY: secret, program: '/bin/false', UID: '0' };
    const [jid = 0] = await submit(alice, [sh(script, { ExecutionEnvironment })]);
    await awaitStatus(alice, jid, ['Running']);
    expect(await slurm.tellingArguments(secret)).toEqual([]);
    expect(await slurm.readableBy(65_533, slurm.directory, secret)).toEqual([]);
    expect(
      await slurm.readableBy(65_534, `${slurm.workDirectory}/runs/${jid}-1/wrapper`, secret),
    ).toHaveLength(1);
    await writeFile(go, '');
    await awaitStatus(alice, jid, ['Done']);
    expect((await sandboxOf(alice, jid))['std.out']).toBe(`/bin/false ${secret}\n`);
  });

  it('shows what a running job writes while it does, as it is and to who follows it', async () => {
    const mark = join(slurm.directory, 'follow');
    const wait = (step: number): string => `while [ ! -e ${mark}.${step} ]; do sleep 0.1; done`;
    const script = `echo one; ${wait(1)}; echo two; echo wrong >&2; ${wait(2)}; echo three`;
    const [jid = 0] = await submit(alice, [sh(script)]);
    await awaitStatus(alice, jid, ['Running']);
    const path = `/jobs/${jid}/output/std.out`;
    const agent = new Agent({ connect: { ca: grid.ca } });
    const { statusCode, body } = await request(`${grid.url}${path}?follow=true`, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${alice.token}` },
      bodyTimeout: 0,
    });
    expect(statusCode).toBe(200);
    let text = '';
    const whole = (async (): Promise<void> => {
      for await (const piece of body) text += String(piece);
    })();
    const heard = (expected: string): Promise<unknown> =>
      eventually(() => Promise.resolve(text === expected), `to hear ${expected}`, 30_000);
    await heard('one\n');
    expect((await alice.get(path)).bytes.toString()).toBe('one\n');
    await writeFile(`${mark}.1`, '');
    await heard('one\ntwo\n');
    expect((await alice.get(`/jobs/${jid}/output/std.err`)).bytes.toString()).toBe('wrong\n');
    expect((await show(alice, jid)).status).toBe('Running');
    await writeFile(`${mark}.2`, '');
    await whole;
    expect(text).toBe('one\ntwo\nthree\n');
    const [job] = await awaitFinal(alice, [jid]);
    expect(job?.status).toBe('Done');
    await agent.destroy();
  });

  it('kills a running job that ignores SIGTERM', async () => {
    const mark = join(slurm.scratch, 'alive');
    const [jid = 0] = await submit(alice, [
      sh(`trap '' TERM; while :; do date +%s.%N >${mark}; sleep 0.2; done`),
    ]);
    await awaitStatus(alice, jid, ['Running']);
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    expect(await show(alice, jid)).toMatchObject({ status: 'Killed' });
    await eventually(
      async () => Date.now() / 1000 - Number(await readFile(mark, 'utf8')) > 1,
      'the payload to end',
    );
    await slurm.awaitNoJobs();
    expect(await show(alice, jid)).toMatchObject({ status: 'Killed' });
  });

  it('kills a job that waits in the queue of Slurm, and it never starts', async () => {
    const log = join(slurm.scratch, 'never.log');
    const many = Array.from({ length: 32 }, () => sh('sleep 60'));
    const blockers = await submit(alice, many);
    for (const jid of blockers) await awaitStatus(alice, jid, ['Running']);
    const waiting = await submit(
      alice,
      [1, 2, 3].map((n) => sh(`echo ${n} >>${log}`)),
    );
    for (const jid of waiting) await awaitStatus(alice, jid, ['Matched']);
    await eventually(
      async () => (await slurm.command('squeue', '-h', '-o', '%T')).includes('PENDING'),
      'Slurm to have them',
    );
    const [first = 0, ...others] = waiting;
    expect((await alice.delete(`/jobs/${first}`)).status).toBe(200);
    const all = [...blockers, ...others];
    const query = all.map((jid) => `jid=${jid}`).join('&');
    const answer = await alice.delete('/jobs', { query });
    expect(Object.values(answer.body.results)).toEqual(all.map(() => ({ status: 200 })));
    await slurm.awaitNoJobs();
    const jobs = await awaitFinal(alice, [...waiting, ...blockers]);
    expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(['Killed']));
    await expect(readFile(log, 'utf8')).rejects.toThrow('ENOENT');
  });

  it('goes on with running batch jobs when the server is killed and started again', async () => {
    const log = join(slurm.scratch, 'restart.log');
    const jids = await submit(
      alice,
      Array.from({ length: 10 }, (_, n) => sh(`echo ${n} >>${log}; sleep 6; echo end-${n}`)),
    );
    for (const jid of jids) await awaitStatus(alice, jid, ['Running']);
    const more = await submit(alice, [sh(`echo 10 >>${log}; echo end-10`)]);
    await grid.kill();
    await again();
    const all = [...jids, ...more];
    const jobs = await awaitFinal(alice, all);
    expect(jobs.map(({ status }) => status)).toEqual(all.map(() => 'Done'));
    const starts = (await readFile(log, 'utf8')).trim().split('\n').map(Number);
    expect(starts.sort((a, b) => a - b)).toEqual(all.map((_, n) => n));
    expect(await sandboxOf(alice, jids[3] ?? 0)).toMatchObject({ 'std.out': 'end-3\n' });
  });

  it('loses and repeats nothing when slurmctld is killed -9 and comes back', async () => {
    const log = join(slurm.scratch, 'controller.log');
    const start = (n: number) => sh(`echo ${n} >>${log}; sleep 3`);
    const before = await submit(alice, [0, 1, 2, 3, 4].map(start));
    for (const jid of before) await awaitStatus(alice, jid, ['Running']);
    await slurm.killController();
    const during = await submit(alice, [5, 6, 7].map(start));
    // What runs goes on and ends, controller or not.
    const ended = await awaitFinal(alice, before);
    expect(ended.map(({ status }) => status)).toEqual(before.map(() => 'Done'));
    expect((await show(alice, during[0] ?? 0)).status).toBe('Matched');
    await slurm.startController();
    const all = [...before, ...during];
    const jobs = await awaitFinal(alice, all);
    expect(jobs.map(({ status }) => status)).toEqual(all.map(() => 'Done'));
    const starts = (await readFile(log, 'utf8')).trim().split('\n').map(Number);
    expect(starts.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('kills a running job while slurmctld is away', async () => {
    const [jid = 0] = await submit(alice, [sh('sleep 100')]);
    await awaitStatus(alice, jid, ['Running']);
    await slurm.killController();
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    await eventually(async () => (await slurm.payloads('sleep 100')) === 0, 'the payload to end');
    await slurm.startController();
    await slurm.awaitNoJobs();
  });

  it('ends a job at its wall-clock limit', async () => {
    await grid.stop();
    grid = await grid.again({ GRID_JOB_WALL_TIME: '3' });
    alice = await grid.as('alice');
    const [jid = 0] = await submit(alice, [sh('echo before; sleep 60')]);
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Job has exceeded maximum wall clock time',
    });
    expect(await sandboxOf(alice, jid)).toMatchObject({ 'std.out': 'before\n' });
  });

  it('tells the truth of a job that somebody cancels in Slurm itself', async () => {
    const [jid = 0] = await submit(alice, [sh('sleep 50')]);
    await awaitStatus(alice, jid, ['Running']);
    await slurm.command('scancel', '--user', slurm.user);
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Application thread failed',
      appStatus: 'Slurm: CANCELLED',
    });
  });
});
