import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CommandUser } from '../support/command.js';
import { awaitFinal, awaitStatus, parametersOf, sandboxOf, show, submit } from '../support/jobs.js';
import { describeWith } from '../support/missing.js';
import { slurmFault } from '../support/slurm/packages.js';
import { startSlurm, type SlurmCluster } from '../support/slurm/slurm-cluster.js';
import { sshFault, startSsh, type SshServer } from '../support/slurm/ssh-server.js';
import { UnixAccounts } from '../support/slurm/unix-accounts.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const ACCOUNT = 'gridssh';
const fault = slurmFault() ?? sshFault() ?? (await UnixAccounts.fault([ACCOUNT]));
const need = { met: fault === undefined, name: `a Slurm behind a real sshd (${fault ?? ''})` };
const run = promisify(execFile);

describeWith(need)('a Slurm that is reached by ssh', () => {
  let slurm: SlurmCluster;
  let ssh: SshServer;
  let accounts: UnixAccounts;
  let grid: Grid;
  let alice: GridClient;
  let starts: string;

  /** The site WEST is good; each of the others has one thing wrong. BESIDE is the same cluster by slurmrestd. */
  const sites = async (): Promise<object> => {
    const good = {
      ...{ ssh: ssh.host, port: ssh.port, user: ACCOUNT, timeout: 3 },
      ...{ identityFile: ssh.identityFile, knownHostsFile: ssh.knownHostsFile },
      ...{ programs: join(ssh.directory, 'bin'), configFile: join(slurm.directory, 'slurm.conf') },
    };
    const open = join(ssh.directory, 'open');
    await copyFile(ssh.identityFile, open);
    await chmod(open, 0o644);
    const all = {
      WEST: good,
      UNKNOWN: { ...good, knownHostsFile: ssh.emptyHostsFile },
      CHANGED: { ...good, knownHostsFile: ssh.wrongHostsFile },
      STRANGER: { ...good, identityFile: ssh.strangeIdentityFile },
      OPEN: { ...good, identityFile: open },
      BESIDE: { url: slurm.url, keyFile: slurm.jwtKeyFile, user: slurm.user },
    };
    const made = Object.entries(all).map(async ([name, connection]) => {
      const workDirectory = join(slurm.directory, `work-${name}`);
      await mkdir(workDirectory);
      return [name, { backend: 'slurm', connection: { ...connection, workDirectory } }] as const;
    });
    return Object.fromEntries(await Promise.all(made));
  };

  beforeAll(async () => {
    accounts = await UnixAccounts.make([ACCOUNT]);
    // Without a password, not locked: sshd lets nobody in who is.
    await run('usermod', ['-p', '*', ACCOUNT]);
    slurm = await startSlurm();
    ssh = await startSsh(ACCOUNT);
    await chmod(slurm.scratch, 0o1777);
    starts = join(slurm.scratch, 'starts');
    // An sbatch that is as slow to answer as a test wants.
    await mkdir(join(ssh.directory, 'bin'));
    const hold = join(slurm.scratch, 'hold');
    const script = `#!/bin/sh\nid=$(/usr/bin/sbatch "$@") || exit 1\n[ -e ${hold} ] && { : >${hold}.held; sleep 60; }\necho "$id"\n`;
    await writeFile(join(ssh.directory, 'bin', 'sbatch'), script, { mode: 0o755 });
    const registry = join(slurm.directory, 'registry.yaml');
    await writeFile(registry, JSON.stringify({ sites: await sites() }));
    grid = await startGrid({
      env: { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true', GRID_JOB_LEASE: '5' },
    });
    alice = await grid.as('alice');
  });

  afterAll(async () => {
    await ssh?.signalAll('SIGCONT');
    await grid?.remove();
    await slurm?.stop();
    await ssh?.stop();
    await accounts?.remove();
  });

  const sh = (script: string, more: object = {}) => ({
    Sites: ['WEST'],
    Executable: '/bin/sh',
    Arguments: ['-c', script],
    ...more,
  });
  const explain = async (jid: number) =>
    (await alice.get<{ waitsFor: string; sites: Record<string, string> }>(`/jobs/${jid}/explain`))
      .body;
  const started = async (): Promise<string[]> =>
    existsSync(starts) ? (await readFile(starts, 'utf8')).trim().split('\n').sort() : [];

  it('runs jobs and arrays of them, under the account of the key, and brings output home', async () => {
    const words = ["it's", '$(touch /tmp/never); `id`', 'a\nb'];
    const odd = { Executable: '/usr/bin/printf', Arguments: ['%s|', ...words], Sites: ['WEST'] };
    const jids = await submit(alice, [
      ...Array.from({ length: 20 }, (_, n) => sh(`echo ${n}; id -un; echo "$SBATCH_X$SSH_CLIENT"`)),
      odd,
      sh('echo no >&2; exit 3', { MaxRAM: 300 }),
    ]);
    const jobs = await awaitFinal(alice, jids);
    expect(jobs.map(({ status, site }) => `${status} ${site}`)).toEqual([
      ...Array.from({ length: 21 }, () => 'Done WEST'),
      'Failed WEST',
    ]);
    expect(await sandboxOf(alice, jids[7] ?? 0)).toEqual({
      'std.out': `7\n${ACCOUNT}\n\n`,
      'std.err': '',
    });
    expect((await sandboxOf(alice, jids[20] ?? 0))['std.out']).toBe(`${words.join('|')}|`);
    expect(jobs[21]).toMatchObject({ appStatus: 'Exited with code 3' });
    expect(await parametersOf(alice, jids[21] ?? 0)).toMatchObject({ LocalAccount: ACCOUNT });
  });

  it('kills a job', async () => {
    const [jid = 0] = await submit(alice, [sh('exec sleep 986')]);
    await awaitStatus(alice, jid, ['Running']);
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    await eventually(async () => {
      const { stdout } = await run('ps', ['-u', ACCOUNT, '-o', 'args=']).catch(() => ({
        stdout: '',
      }));
      return !stdout.includes('sleep 986');
    }, 'the payload to end');
    expect((await show(alice, jid)).status).toBe('Killed');
    await slurm.awaitNoJobs();
  });

  it.each([
    ['UNKNOWN', 'the key of 127.0.0.1 is not in knownHostsFile'],
    ['CHANGED', 'the key of 127.0.0.1 is another one than knownHostsFile says'],
    ['STRANGER', `127.0.0.1 does not take the key of identityFile for ${ACCOUNT}`],
    ['OPEN', 'identityFile can be read by others than the service'],
  ])('gives %s no jobs, and says that %s', async (site, why) => {
    const [jid = 0] = await submit(alice, [{ ...sh('echo never'), Sites: [site] }]);
    await eventually(
      async () => (await explain(jid)).waitsFor.includes(`${site}: It cannot be used now: ${why}`),
      'explain to say why',
    );
    expect((await show(alice, jid)).status).toMatch(/^(Waiting|Matched)$/);
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
  });

  it('says the same to an administrator', async () => {
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url };
    const ended = await new CommandUser(slurm.directory).run(['doctor', '--json'], env);
    const { findings } = JSON.parse(ended.stdout) as {
      findings: { check: string; state: string; text: string }[];
    };
    const by = Object.fromEntries(
      findings.map(({ check, state, text }) => [check, `${state}: ${text}`]),
    );
    expect(by).toMatchObject({
      'Slurm of WEST': 'ok: answers 1 of 1 accounts',
      'Slurm of BESIDE': 'ok: answers 1 of 1 accounts',
      'Slurm of UNKNOWN': `fault: does not answer ${ACCOUNT}: the key of 127.0.0.1 is not in knownHostsFile`,
    });
  });

  it('shows how each is reached, and which cannot be used', async () => {
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url };
    const ended = await new CommandUser(slurm.directory).run(['site', 'show', '--json'], env);
    const cluster = `ssh ${ACCOUNT}@127.0.0.1 port ${ssh.port}`;
    const { sites } = JSON.parse(ended.stdout) as { sites: { name: string }[] };
    expect(sites.filter(({ name }) => ['BESIDE', 'UNKNOWN', 'WEST'].includes(name))).toEqual([
      { name: 'WEST', backend: 'slurm', state: 'open', cluster },
      {
        ...{ name: 'UNKNOWN', backend: 'slurm', state: 'open', cluster },
        fault: 'It cannot be used now: the key of 127.0.0.1 is not in knownHostsFile',
      },
      { name: 'BESIDE', backend: 'slurm', state: 'open', cluster: slurm.url },
    ]);
  });

  it('submits no job twice when ssh is cut in the middle of a submit', async () => {
    const hold = join(slurm.scratch, 'hold');
    await writeFile(hold, '');
    const jids = await submit(
      alice,
      [1, 2, 3].map((n) => sh(`echo ${n} >>${starts}`)),
    );
    await eventually(() => Promise.resolve(existsSync(`${hold}.held`)), 'a submit to be held');
    await ssh.cut();
    await run('rm', ['-f', hold]);
    const jobs = await awaitFinal(alice, jids);
    expect(jobs.map(({ status }) => status)).toEqual(['Done', 'Done', 'Done']);
    expect(await started()).toEqual(['1', '2', '3']);
    await slurm.awaitNoJobs();
  });

  it('goes on elsewhere while sshd hangs, and with its jobs when it is back', async () => {
    const [running = 0] = await submit(alice, [sh(`sleep 4; echo 4 >>${starts}`)]);
    await awaitStatus(alice, running, ['Running']);
    await ssh.signalAll('SIGSTOP');
    const stuck = await submit(
      alice,
      [5, 6].map((n) => sh(`echo ${n} >>${starts}`)),
    );
    const others = await submit(
      alice,
      [1, 2, 3].map(() => ({ ...sh('echo on'), Sites: ['BESIDE'] })),
    );
    expect((await awaitFinal(alice, others)).map(({ status }) => status)).toEqual([
      ...['Done', 'Done', 'Done'],
    ]);
    const [late = 0] = await submit(alice, [sh(`echo 7 >>${starts}`)]);
    await eventually(
      async () => (await explain(late)).waitsFor.includes('It cannot be used now: '),
      'explain to say that it hangs',
      30_000,
    );
    await ssh.signalAll('SIGCONT');
    const jobs = await awaitFinal(alice, [running, ...stuck, late]);
    expect(jobs.map(({ status }) => status)).toEqual(['Done', 'Done', 'Done', 'Done']);
    expect((await started()).slice(3)).toEqual(['4', '5', '6', '7']);
    await slurm.awaitNoJobs();
  });

  it('takes its runs up again after a kill -9', async () => {
    const go = join(slurm.scratch, 'go');
    const jids = await submit(alice, [sh(`while [ ! -e ${go} ]; do sleep 0.1; done; echo went`)]);
    for (const jid of jids) await awaitStatus(alice, jid, ['Running']);
    await grid.kill();
    grid = await grid.again();
    alice = await grid.as('alice');
    await writeFile(go, '');
    const [job] = await awaitFinal(alice, jids);
    expect(job?.status).toBe('Done');
  });
});
