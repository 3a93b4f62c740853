import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { findProgram, probeIsolation, writeShared } from '#src/worker/isolation/probe.js';
import { supervisorCommand } from '#src/worker/isolation/supervisor.js';
import { systemView } from '#src/worker/isolation/system-view.js';
import { CommandUser } from '../support/command.js';
import { describeOn } from '../support/missing.js';
import { awaitFinal, awaitStatus, sandboxOf, show, submit } from '../support/jobs.js';
import { StartedWorker } from '../support/started-worker.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const UUIDS = ['GPU-11111111-aaaa-2222-bbbb-333333333333', 'GPU-44444444-cccc-5555-dddd-666666'];
const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** A directory with a program that says what nvidia-smi says on a machine with these GPUs. */
function machineWith(directory: string, uuids: readonly string[]): string {
  const lines = uuids.map((uuid, index) => `echo 'GPU ${index}: A model (UUID: ${uuid})'`);
  const program = join(directory, 'nvidia-smi');
  writeFileSync(program, `#!/bin/sh\n[ "$*" = -L ] || exit 2\n${lines.join('\n')}\n`);
  chmodSync(program, 0o755);
  return `${directory}:${process.env['PATH']}`;
}

describe('the GPUs of a worker', () => {
  let grid: Grid;
  let alice: GridClient;
  let outside: string;
  let path: string;
  let site: string;
  let sites = 0;
  let worker: StartedWorker | undefined;

  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'gridgate-gpus-'));
    chmodSync(outside, 0o777);
    path = machineWith(outside, UUIDS);
    grid = await startGrid();
    alice = await grid.as('alice');
  });
  beforeEach(async () => {
    site = `GPUS.s${(sites += 1)}`;
    await addWorkerSite(grid, site);
    await grid.sql('update registry_site set gpus = 8 where name = $1', [site]);
  });
  afterAll(async () => {
    await grid?.remove();
    rmSync(outside, { recursive: true, force: true });
  });
  afterEach(async () => {
    await worker?.remove();
    worker = undefined;
  });

  const started = async (...options: string[]): Promise<StartedWorker> => {
    const more = ['--processors', '6', '--bind', `${outside}:ro`, ...options];
    return (worker = await StartedWorker.start(grid, site, more, { path }));
  };
  const SHOW = 'echo "devices: $CUDA_VISIBLE_DEVICES."';
  /** A job that says its GPUs and goes on until it may end. */
  const job = (name: string, GPUs?: number): object => ({
    ...{ Executable: '/bin/sh', Site: site, ...(GPUs !== undefined && { GPUs }) },
    Arguments: ['-c', `${SHOW}; until [ -e ${outside}/${name} ]; do sleep 0.1; done`],
  });
  const begin = async (name: string, GPUs?: number): Promise<number> => {
    const [jid = 0] = await submit(alice, [job(name, GPUs)]);
    return jid;
  };
  const end = (name: string): void => writeFileSync(join(outside, name), '');
  const saidBy = async (jid: number): Promise<string | undefined> => {
    await awaitFinal(alice, [jid]);
    return (await sandboxOf(alice, jid))['std.out'];
  };
  const explained = async (jid: number): Promise<string> =>
    (await alice.get(`/jobs/${jid}/explain`)).body.sites[site];

  it.each(['auto', 'none'])(
    'are each of one run, by their UUIDs; other runs have none (%s)',
    async (level) => {
      await started('--isolation', level);
      for (const name of ['one', 'two', 'none', 'third', 'plain'])
        rmSync(join(outside, name), { force: true });
      const [one, two, none] = [await begin('one', 1), await begin('two', 1), await begin('none')];
      for (const jid of [one, two, none]) await awaitStatus(alice, jid, ['Running']);
      const third = await begin('third', 1);
      const plain = await begin('plain');
      await awaitStatus(alice, plain, ['Running']); // which was submitted later
      expect(await show(alice, third)).toMatchObject({ status: 'Waiting' });
      end('one');
      await awaitStatus(alice, third, ['Running']);
      for (const name of ['two', 'none', 'third', 'plain']) end(name);
      const said = [await saidBy(one), await saidBy(two)];
      expect(said.toSorted()).toEqual(UUIDS.map((uuid) => `devices: ${uuid}.\n`));
      expect(await saidBy(third)).toBe(said[0]); // what the first one has left
      expect([await saidBy(none), await saidBy(plain)]).toEqual(['devices: .\n', 'devices: .\n']);
    },
  );

  it('stay those of their runs when the worker was killed and is started again', async () => {
    const killed = await started();
    const kept = await begin('kept', 1);
    await awaitStatus(alice, kept, ['Running']);
    await killed.kill();
    await killed.again();
    const [other, late] = [await begin('other', 1), await begin('late', 1)];
    await awaitStatus(alice, other, ['Running']);
    expect(await show(alice, late)).toMatchObject({ status: 'Waiting' });
    for (const name of ['kept', 'other']) end(name);
    await awaitStatus(alice, late, ['Running']);
    end('late');
    const said = [await saidBy(kept), await saidBy(other)];
    expect(said.toSorted()).toEqual(UUIDS.map((uuid) => `devices: ${uuid}.\n`));
    expect(await saidBy(late)).toMatch(/^devices: GPU-/);
  });

  it('are no more than it was told, and a job that wants more waits', async () => {
    await started('--gpus', '1');
    const many = await begin('many', 2);
    const one = await begin('single', 1);
    await awaitStatus(alice, one, ['Running']);
    end('single');
    expect(await saidBy(one)).toBe(`devices: ${UUIDS[0]}.\n`);
    expect(await show(alice, many)).toMatchObject({ status: 'Waiting' });
    const sentence = 'None of its workers can hold the job: one has 1 GPUs';
    await eventually(async () => (await explained(many)) === sentence, 'the sentence');
    expect((await alice.delete(`/jobs/${many}`)).status).toBe(200);
  });

  it('are not more than the machine has', async () => {
    const home = mkdtempSync(join(tmpdir(), 'gridgate-user-'));
    const place = ['--server', grid.url, '--site', site, '--directory', join(home, 'worker')];
    const refusal = async (count: string, env: Record<string, string>): Promise<unknown[]> => {
      const words = ['worker', 'run', ...place, '--gpus', count];
      const { code, stderr } = await new CommandUser(home).run(words, env);
      return [code, stderr];
    };
    try {
      const more = (has: number): string =>
        `gridgate: --gpus 3 is more than the machine has\nhint: it has ${has}: see nvidia-smi -L\n`;
      expect(await refusal('3', { PATH: path })).toEqual([2, more(2)]);
      expect(await refusal('3', { PATH: `${home}:/bin` })).toEqual([2, more(0)]);
      const text = 'gridgate: --gpus x is no number from 0 on\n';
      expect(await refusal('x', { PATH: path })).toEqual([2, text]);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

const need = {
  met: spawnSync('unshare', ['--user', '--map-root-user', 'true']).status === 0,
  name: 'user namespaces',
};

describeOn(need).each(['bwrap', 'unshare'])('a view of the machine by %s', (means) => {
  const TOOLS = ['unshare', 'setpriv', 'mount', 'umount', 'pivot_root', 'setsid'];
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'gridgate-view-'));
    chmodSync(root, 0o755);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** Names of `/dev` that a run with these device files sees, and what it reads of one. */
  async function seen(devices: string[]): Promise<string[]> {
    const [tools, directory] = [join(root, 'tools'), join(root, 'runs')];
    for (const made of [tools, directory]) mkdirSync(made, { recursive: true });
    for (const name of means === 'bwrap' ? ['bwrap', 'setpriv'] : TOOLS) {
      const found = findProgram(name, SYSTEM_PATH);
      if (found !== undefined) symlinkSync(found, join(tools, name));
    }
    writeShared(directory);
    const view = systemView([], []);
    const shmBytes = 2 ** 20;
    const input = { wanted: 'namespaces' as const, view, directory, shmBytes, path: tools };
    const { isolation, refusals } = await probeIsolation({ ...input, uid: undefined });
    if (!isolation) throw new Error(refusals.join('; '));
    const path = join(directory, '7.1');
    for (const name of ['', 'work', 'tmp']) mkdirSync(join(path, name));
    const script = 'ls /dev >/job/seen; cat /dev/nvidia7 >>/job/seen 2>/dev/null; >/dev/mine\n:';
    writeFileSync(join(path, 'launch'), script);
    const command = isolation.commandOf({
      ...{ path, uid: undefined, hasNetwork: false, hasToken: false, devices },
    });
    const [program = '', ...words] = supervisorCommand({
      ...{ command, filter: isolation.hasDescriptors && join(directory, 'etc/filter') },
      ...{ fileBlocks: 2048, cpuSeconds: 5, openFiles: 256 },
    });
    const options = { cwd: path, env: { PATH: SYSTEM_PATH }, detached: true };
    // Its last act ends its process group.
    await once(spawn(program, words, { ...options, stdio: 'ignore' }), 'exit');
    const lines = readFileSync(join(path, 'work/seen'), 'utf8').split('\n');
    return lines.filter((line) => /nvidia|mine|its/.test(line));
  }

  it('has the device files of a run, and no others', async () => {
    const own = join(root, 'nvidia7');
    writeFileSync(own, 'its own\n');
    const control = join(root, 'nvidiactl');
    writeFileSync(control, '');
    expect(await seen([own, control])).toEqual(['nvidia7', 'nvidiactl', 'its own']);
  });

  it('has none of them for a run without', async () => {
    expect(await seen([])).toEqual([]);
  });
});
