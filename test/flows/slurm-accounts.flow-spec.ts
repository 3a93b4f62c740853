import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CommandUser } from '../support/command.js';
import { awaitFinal, awaitStatus, parametersOf, sandboxOf, show, submit } from '../support/jobs.js';
import { describeWith } from '../support/missing.js';
import { slurmFault } from '../support/slurm/packages.js';
import { startSlurm, type SlurmCluster } from '../support/slurm/slurm-cluster.js';
import { UnixAccounts } from '../support/slurm/unix-accounts.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

/** Owners and a group of the demo; carol is an owner without an account. */
const NAMES = ['alice', 'bob', 'grid_share'];
const fault = slurmFault() ?? (await UnixAccounts.fault(NAMES));
const need = { met: fault === undefined, name: `a one-node Slurm with accounts (${fault ?? ''})` };
const SITES = 'sites:\n  SLURM.test: { backend: slurm }\n';

/** Jobs of several users on a Slurm that shows nobody the jobs of others (`PrivateData=jobs`). */
describeWith(need)('accounts of jobs on a real Slurm', () => {
  let slurm: SlurmCluster;
  let accounts: UnixAccounts;
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;

  beforeAll(async () => {
    accounts = await UnixAccounts.make(NAMES);
    slurm = await startSlurm({ settings: { PrivateData: 'jobs' } });
    await chmod(slurm.scratch, 0o1777);
    const registry = join(slurm.directory, 'registry.yaml');
    await writeFile(registry, SITES);
    const env = {
      ...slurm.env,
      GRID_REGISTRY: registry,
      GRID_REGISTRY_SYNC: 'true',
      GRID_JOB_LEASE: '5',
    };
    grid = await startGrid({ env: { ...env, GRID_SLURM_ACCOUNTS: 'owner' } });
    await signIn();
  });

  afterAll(async () => {
    await grid?.remove();
    await slurm?.stop();
    await accounts?.remove();
  });

  const signIn = async (): Promise<void> => {
    [alice, bob] = [await grid.as('alice'), await grid.as('bob')];
  };
  const again = async (env: Record<string, string>): Promise<void> => {
    await grid.stop();
    grid = await grid.again(env);
    await signIn();
  };
  const sh = (script: string, more: object = {}) => ({
    Sites: ['SLURM.test'],
    Executable: '/bin/sh',
    Arguments: ['-c', script],
    ...more,
  });
  const go = (name: string): string => join(slurm.scratch, name);
  const until = (name: string): string => `while [ ! -e ${go(name)} ]; do sleep 0.1; done`;
  /** What `gridgate doctor` says, with the environment of the server. */
  const doctor = async (more: Record<string, string>) => {
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url, ...slurm.env, ...more };
    const ended = await new CommandUser(slurm.directory).run(['doctor', '--json'], env);
    const { findings } = JSON.parse(ended.stdout) as { findings: { check: string }[] };
    const found = findings.map(({ check, ...rest }) => [check, rest] as const);
    return { code: ended.code, found: Object.fromEntries(found) };
  };
  /** Slurm's own view of all jobs, as root sees it: user and state. */
  const queue = async (): Promise<string[]> =>
    (await slurm.command('squeue', '-h', '-o', '%u %T')).trim().split('\n').sort();

  it('runs jobs of different owners under different accounts', async () => {
    const script = 'id -un; id -gn; echo $USER $HOME';
    const jids = [
      ...(await submit(alice, [sh(script), sh(script)])),
      ...(await submit(bob, [sh(script), sh(script)])),
    ];
    const jobs = [
      ...(await awaitFinal(alice, jids.slice(0, 2))),
      ...(await awaitFinal(bob, jids.slice(2))),
    ];
    expect(jobs.map(({ status }) => status)).toEqual(['Done', 'Done', 'Done', 'Done']);
    for (const [n, jid] of jids.entries()) {
      const [client, name] = n < 2 ? ([alice, 'alice'] as const) : ([bob, 'bob'] as const);
      const home = join(slurm.workDirectory, 'runs', `${jid}-1`, 'work');
      expect((await sandboxOf(client, jid))['std.out']).toBe(`${name}\n${name}\n${name} ${home}\n`);
      expect(await parametersOf(client, jid)).toMatchObject({ LocalAccount: name });
    }
  });

  it('fails the job of an owner without an account, and says whose and which', async () => {
    const carol = await grid.as('carol');
    const [jid = 0] = await submit(carol, [sh('id')]);
    const [job] = await awaitFinal(carol, [jid]);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Submitting To CE',
      appStatus: 'Jobs of carol run under the account carol, which does not exist',
    });
    expect(await slurm.list('work/runs')).not.toContain(`${jid}-1`);
    const comments = await slurm.command('squeue', '-h', '-t', 'all', '-o', '%k');
    expect(comments).not.toContain(`grid:${jid}:`);
  });

  it('lets no account read, end, or fake the end of the run of another', async () => {
    const ExecutionEnvironment = { KEY: 'only-alice-knows' };
    const [victim = 0] = await submit(alice, [
      sh(`echo only-alice-knows; ${until('go-victim')}`, { ExecutionEnvironment }),
    ]);
    await awaitStatus(alice, victim, ['Running']);
    const { workDirectory: work } = slurm;
    const run = `${work}/runs/${victim}-1`;
    const { uid } = accounts.of('alice');
    const attempts = [
      `cat ${run}/wrapper`,
      `cat ${run}/work/std.out`,
      `ls ${run}/work`,
      `ls ${run}/record`,
      `ls ${work}/runs`,
      `ls ${work}/batches`,
      `cat ${run}/record/start`,
      `cat ${work}/batches/*.json`,
      `ls ${work}/marks/ended/${uid}`,
      `touch ${work}/marks/ended/${uid}/${victim}-1`,
      `touch ${work}/marks/ended/${victim}-1`,
      `mkdir ${work}/marks/ended/0`,
      `mv ${work}/marks/ended/${uid} ${work}/marks/ended/away`,
      `mv ${run} ${run}.away`,
      `mkdir ${work}/runs/mine`,
      `touch ${run}/cancel`,
      `ln -s started ${run}/record/claim2`,
      `cp /dev/null ${run}/record/exit`,
      `pkill -u alice`,
    ];
    const script = attempts.map((attempt, n) => `if ${attempt}; then echo DONE ${n}; fi`);
    // What the service reads in its own name must not be led there either.
    const led = `rm std.out; ln -s ${run}/work/std.out std.out; ln -s ${run}/wrapper leaf`;
    const [attacker = 0] = await submit(bob, [
      sh(`(${script.join('; ')}) >tried 2>/dev/null; ${led}; ${until('go-attacker')}`, {
        OutputSandbox: ['tried', 'std.out', 'leaf'],
      }),
    ]);
    await awaitStatus(bob, attacker, ['Running']);
    const mine = join(work, 'runs', `${attacker}-1`, 'work');
    await eventually(async () => (await readdir(mine)).includes('leaf'), 'the attempts');
    expect((await bob.get(`/jobs/${attacker}/peek`)).body).toEqual({ stdout: '', stderr: '' });
    expect((await alice.get(`/jobs/${victim}/peek`)).body.stdout).toBe('only-alice-knows\n');
    expect(await slurm.readableBy(accounts.of('bob').uid, work, 'only-alice-knows')).toEqual([]);
    await writeFile(go('go-attacker'), '');
    await awaitStatus(bob, attacker, ['Done']);
    expect(await sandboxOf(bob, attacker)).toEqual({ tried: '' });
    expect(await show(alice, victim)).toMatchObject({ status: 'Running' });
    await writeFile(go('go-victim'), '');
    await awaitStatus(alice, victim, ['Done']);
  });

  it('leaves nothing of a run behind, also where its account made a mess', async () => {
    const { uid } = accounts.of('bob');
    const mess = `mkdir -p deep/er; chmod 000 deep; mkdir ${slurm.workDirectory}/marks/ended/${uid}/x`;
    const [jid = 0] = await submit(bob, [sh(mess)]);
    await awaitStatus(bob, jid, ['Done']);
    await eventually(
      async () => !(await slurm.list('work/runs')).includes(`${jid}-1`),
      'the run to be removed',
    );
    expect(await slurm.list(`work/marks/begun/${uid}`)).toEqual([]);
    expect(await slurm.list(`work/marks/ended/${uid}`)).toEqual(['x']);
  });

  it('kills running and waiting jobs of each owner in their names', async () => {
    const blocker = { NumberOfProcessors: 32 };
    const [running = 0] = await submit(alice, [sh('sleep 100', blocker)]);
    await awaitStatus(alice, running, ['Running']);
    const log = go('never.log');
    const waiting = await submit(
      bob,
      [1, 2].map((n) => sh(`echo ${n} >>${log}`, blocker)),
    );
    await eventually(
      async () => (await queue()).includes('bob PENDING'),
      "bob's jobs in the queue",
    );
    for (const jid of waiting) expect((await bob.delete(`/jobs/${jid}`)).status).toBe(200);
    await eventually(
      async () => (await queue()).join() === 'alice RUNNING',
      "bob's jobs to leave the queue",
    );
    expect((await alice.delete(`/jobs/${running}`)).status).toBe(200);
    await slurm.awaitNoJobs();
    await expect(readFile(log, 'utf8')).rejects.toThrow('ENOENT');
  });

  it('loses and repeats nothing of either when slurmctld is killed while they are submitted', async () => {
    const log = go('killed.log');
    await writeFile(log, '');
    await chmod(log, 0o666);
    await slurm.killController();
    const [first = 0] = await submit(alice, [sh(`id -un >>${log}`)]);
    const [second = 0] = await submit(bob, [sh(`id -un >>${log}`)]);
    await awaitStatus(alice, first, ['Matched']);
    await awaitStatus(bob, second, ['Matched']);
    await slurm.startController();
    await awaitStatus(alice, first, ['Done']);
    await awaitStatus(bob, second, ['Done']);
    const lines = (await readFile(log, 'utf8')).trim().split('\n');
    expect(lines.sort()).toEqual(['alice', 'bob']);
    await slurm.awaitNoJobs();
  });

  it('goes on with what runs when the setting changes, and ends it in its old name', async () => {
    const [kept = 0, killed = 0] = await submit(alice, [
      sh(`id -un; ${until('go-kept')}`),
      sh('sleep 90'),
    ]);
    for (const jid of [kept, killed]) await awaitStatus(alice, jid, ['Running']);
    await again({ GRID_SLURM_ACCOUNTS: 'grid_share' });
    expect((await alice.delete(`/jobs/${killed}`)).status).toBe(200);
    await eventually(
      async () => (await queue()).filter((line) => line === 'alice RUNNING').length === 1,
      'the killed job to leave Slurm',
    );
    await writeFile(go('go-kept'), '');
    await awaitStatus(alice, kept, ['Done']);
    expect(await sandboxOf(alice, kept)).toEqual({ 'std.out': 'alice\n', 'std.err': '' });
    expect(await parametersOf(alice, kept)).toMatchObject({ LocalAccount: 'alice' });
    const [fresh = 0] = await submit(bob, [sh('id -un')]);
    await awaitStatus(bob, fresh, ['Done']);
    expect((await sandboxOf(bob, fresh))['std.out']).toBe('grid_share\n');
  });

  it('lets doctor say whose jobs would fail, and whether Slurm answers the others', async () => {
    const { found } = await doctor({ GRID_SLURM_ACCOUNTS: 'owner' });
    expect(found['Slurm']).toEqual({ state: 'ok', text: 'answers 2 of 2 accounts' });
    expect(found['accounts of Slurm jobs']).toEqual({
      state: 'warning',
      text: expect.stringContaining(
        'Jobs of carol run under the account carol, which does not exist',
      ),
      advice: 'Make the accounts, or leave it so: these jobs fail, and no others',
    });
    const text = await slurm.command('scontrol', 'token', 'username=bob', 'lifespan=600');
    const token = text.trim().replace(/^SLURM_JWT=/, '');
    const foreign = { GRID_SLURM_JWT_KEY: '', GRID_SLURM_TOKEN: token };
    const { found: other, code } = await doctor({ ...foreign, GRID_SLURM_ACCOUNTS: 'owner' });
    expect(other['Slurm']).toMatchObject({
      state: 'fault',
      text: 'does not answer alice: slurmctld config is unable to load (-1)',
    });
    expect(code).toBe(1);
    const single = await doctor({ GRID_SLURM_ACCOUNTS: 'grid_share' });
    expect(single.found['Slurm']).toEqual({ state: 'ok', text: 'answers 1 of 1 accounts' });
    expect(single.found['accounts of Slurm jobs']).toEqual({ state: 'ok', text: '1: grid_share' });
  });

  it('runs the jobs of a group under its account', async () => {
    await again({ GRID_SLURM_ACCOUNTS: 'group' });
    const sharer = await grid.as('bob', 'grid_share');
    const [jid = 0] = await submit(sharer, [sh('id -un')]);
    await awaitStatus(sharer, jid, ['Done']);
    expect((await sandboxOf(sharer, jid))['std.out']).toBe('grid_share\n');
    const [other = 0] = await submit(alice, [sh('id -un')]);
    const [job] = await awaitFinal(alice, [other]);
    expect(job).toMatchObject({
      status: 'Failed',
      appStatus: 'Jobs of alice in grid_user run under the account grid_user, which does not exist',
    });
  });

  it('fails the job of an account that only the service knows, and leaves nothing in Slurm', async () => {
    const bin = join(slurm.directory, 'bin');
    await mkdir(bin);
    const carol = 'carol:x:70123:70123::/nonexistent:/bin/sh';
    const getent = `#!/bin/sh\ncase "$2" in carol|70123) echo ${carol} ;; *) exec /usr/bin/getent "$@" ;; esac\n`;
    await writeFile(join(bin, 'getent'), getent, { mode: 0o755 });
    await again({ GRID_SLURM_ACCOUNTS: 'owner', PATH: `${bin}:${process.env['PATH']}` });
    const client = await grid.as('carol');
    const [jid = 0] = await submit(client, [sh('id')]);
    const [own = 0] = await submit(alice, [sh('id -un')]);
    const [job] = await awaitFinal(client, [jid]);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Submitting To CE',
      appStatus:
        'Slurm takes carol for account 99, and here it is 70123: the cluster lacks the account, or has another number for it',
    });
    await awaitStatus(alice, own, ['Done']);
    await slurm.awaitNoJobs();
    await eventually(async () => (await slurm.list('work/runs')).length === 0, 'the runs to go');
  });

  it.each([
    ['no-such-account', {}, 'names an account that does not exist'],
    ['daemon', {}, 'names an account that is an account of the system'],
    ['root', {}, 'names an account that is an account of the system'],
    ['owner', { GRID_SLURM_JWT_KEY: '' }, 'GRID_SLURM_ACCOUNTS needs GRID_SLURM_JWT_KEY'],
    ['no name', {}, 'neither owner nor group nor the name of an account'],
  ])('does not start with GRID_SLURM_ACCOUNTS=%s', async (setting, more, sentence) => {
    const env = { GRID_SLURM_ACCOUNTS: setting, ...more };
    await expect(grid.second(env)).rejects.toThrow(sentence);
  });

  it("runs jobs of two owners with a token of SlurmUser instead of Slurm's key", async () => {
    const text = await slurm.command('scontrol', 'token', 'lifespan=600');
    const token = text.trim().replace(/^SLURM_JWT=/, '');
    const env = { GRID_SLURM_JWT_KEY: '', GRID_SLURM_TOKEN: token };
    await again({ ...env, GRID_SLURM_ACCOUNTS: 'owner' });
    for (const [client, name] of [[alice, 'alice'] as const, [bob, 'bob'] as const]) {
      const [jid = 0] = await submit(client, [sh('id -un')]);
      await awaitStatus(client, jid, ['Done']);
      expect((await sandboxOf(client, jid))['std.out']).toBe(`${name}\n`);
    }
  });

  it('runs nothing under another account with a token of somebody who may not act for others', async () => {
    const text = await slurm.command('scontrol', 'token', 'username=bob', 'lifespan=600');
    const token = text.trim().replace(/^SLURM_JWT=/, '');
    await again({ GRID_SLURM_TOKEN: token });
    const [own = 0] = await submit(bob, [sh('id -un')]);
    const [foreign = 0] = await submit(alice, [sh('id -un')]);
    await awaitStatus(bob, own, ['Done']);
    // The refusal of one account delays nobody else; of it, nothing has reached Slurm.
    expect(await show(alice, foreign)).toMatchObject({ status: 'Matched' });
    expect((await alice.delete(`/jobs/${foreign}`)).status).toBe(200);
    await slurm.awaitNoJobs();
  });
});
