import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CommandUser } from '../support/command.js';
import { awaitFinal, submit } from '../support/jobs.js';
import { describeWith } from '../support/missing.js';
import { slurmFault } from '../support/slurm/packages.js';
import { startSlurm, type SlurmCluster } from '../support/slurm/slurm-cluster.js';
import { sshFault, startSsh, type SshServer } from '../support/slurm/ssh-server.js';
import { UnixAccounts } from '../support/slurm/unix-accounts.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const ACCOUNT = 'gridqueue';
const fault = slurmFault() ?? sshFault() ?? (await UnixAccounts.fault([ACCOUNT]));
const need = { met: fault === undefined, name: `a Slurm that is full (${fault ?? ''})` };
/** Slurm is asked about a job that waits every half minute. */
const PATIENCE_MS = 90_000;

interface Explained {
  status: string;
  waitsFor: string;
  batchQueue?: { reason: string; meaning?: string; expectedStart?: string; asOf: string };
  sites: Record<string, string>;
}

describeWith(need)('jobs in the queue of a full Slurm', () => {
  let slurm: SlurmCluster;
  let ssh: SshServer;
  let accounts: UnixAccounts;
  let grid: Grid;
  let alice: GridClient;
  let blocker: string;
  /** The site WEST is the cluster by ssh, EAST the same one by slurmrestd. */
  const jids: Record<string, number> = {};

  beforeAll(async () => {
    accounts = await UnixAccounts.make([ACCOUNT]);
    // Without a password, not locked: sshd lets nobody in who is.
    await promisify(execFile)('usermod', ['-p', '*', ACCOUNT]);
    slurm = await startSlurm();
    ssh = await startSsh(ACCOUNT);
    const programs = join(ssh.directory, 'bin');
    await mkdir(programs);
    // The clock on the wall of the login node is not that of the service.
    const script = '#!/bin/sh\nTZ=${TZ:-JST-9} exec /usr/bin/squeue "$@"\n';
    await writeFile(join(programs, 'squeue'), script, { mode: 0o755 });
    const connections = {
      WEST: {
        ...{ ssh: ssh.host, port: ssh.port, user: ACCOUNT, programs },
        ...{ identityFile: ssh.identityFile, knownHostsFile: ssh.knownHostsFile },
        configFile: join(slurm.directory, 'slurm.conf'),
      },
      EAST: { url: slurm.url, keyFile: slurm.jwtKeyFile, user: slurm.user },
    };
    const sites = Object.entries(connections).map(async ([name, connection]) => {
      const workDirectory = join(slurm.directory, `work-${name}`);
      await mkdir(workDirectory);
      return [name, { backend: 'slurm', connection: { ...connection, workDirectory } }] as const;
    });
    const registry = join(slurm.directory, 'registry.yaml');
    const all = { sites: Object.fromEntries(await Promise.all(sites)) as object };
    await writeFile(registry, JSON.stringify(all));
    grid = await startGrid({ env: { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' } });
    alice = await grid.as('alice');
    const whose = [`--uid=${slurm.user}`, '--chdir=/', '--output=/dev/null'];
    const what = ['--parsable', '--exclusive', '--time=10080', '--wrap=sleep 86400'];
    blocker = (await slurm.command('sbatch', ...whose, ...what)).trim();
    await eventually(async () => (await queued('RUNNING')).includes(blocker), 'a full cluster');
  });

  afterAll(async () => {
    await grid?.remove();
    await slurm?.stop();
    await ssh?.stop();
    await accounts?.remove();
  });

  /** Ids of jobs in Slurm's queue, of an account. */
  const queued = async (state: string, ...more: string[]): Promise<string[]> =>
    (await slurm.command('squeue', '-h', '-o', '%A', '-t', state, ...more)).trim().split('\n');
  const waiting = async (site: string): Promise<string> => {
    const account = site === 'WEST' ? ACCOUNT : slurm.user;
    return (await queued('PENDING', '-u', account))[0] ?? '';
  };
  const explain = async (site: string): Promise<Explained> => {
    const { status, body } = await alice.get<Explained>(`/jobs/${jids[site]}/explain`);
    expect(status).toBe(200);
    return body;
  };
  const control = async (...words: string[]): Promise<string> =>
    slurm.command('scontrol', ...words);
  const update = async (...words: string[]): Promise<string> => control('update', ...words);
  /** Waits until explain tells the reason, and answers the rest of it when all of it says the same. */
  const told = async (site: string, reason: string): Promise<Partial<Explained['batchQueue']>> => {
    const { batchQueue, ...rest } = await eventually(
      async () => {
        const answer = await explain(site);
        return answer.batchQueue?.reason.startsWith(reason) && answer;
      },
      `${site} to say ${reason}`,
      PATIENCE_MS,
    );
    const { reason: words, meaning, expectedStart, asOf } = batchQueue!;
    expect(Date.parse(asOf)).toBeLessThanOrEqual(Date.now());
    const start =
      expectedStart === undefined ? '' : `. It is expected to start at ${expectedStart}`;
    const text = `Slurm said at ${asOf}: ${words}. ${meaning}${start}`;
    const other = site === 'WEST' ? 'EAST' : 'WEST';
    expect(rest).toEqual({
      jid: jids[site],
      status: 'Matched',
      waitsFor: `Its start: it is queued at ${site}. ${text}`,
      sites: { [site]: `The job is queued here. ${text}`, [other]: expect.any(String) },
    });
    return { reason: words, ...(meaning && { meaning }), ...(expectedStart && { expectedStart }) };
  };
  const bothSay = async (reason: string): Promise<unknown[]> =>
    Promise.all([told('WEST', reason), told('EAST', reason)]);

  it('are queued there at once, and Slurm was not asked about them', async () => {
    for (const site of ['WEST', 'EAST']) {
      [jids[site] = 0] = await submit(alice, [{ Executable: '/bin/true', Sites: [site] }]);
      await eventually(async () => (await waiting(site)) !== '', `a job in the queue of ${site}`);
      expect((await explain(site)).waitsFor).toBe(
        `Its start: it is queued at ${site}. Slurm has not been asked about it yet`,
      );
    }
  });

  it('wait for resources and for others, until the time that Slurm expects', async () => {
    const end = await control('show', 'job', blocker);
    const expectedStart = new Date(/EndTime=(\S+)/.exec(end)?.[1] ?? '').toISOString();
    expect(await told('WEST', 'Resources')).toEqual({
      reason: 'Resources',
      meaning: 'What it needs is in use by other jobs',
      expectedStart,
    });
    expect(await told('EAST', 'Priority')).toMatchObject({
      reason: 'Priority',
      meaning: 'Other jobs in the queue of its partition come before it',
    });
    const user = new CommandUser(ssh.directory);
    expect((await user.login(grid)).code).toBe(0);
    const { stdout } = await user.run(['why', String(jids['WEST'])]);
    expect(stdout).toContain('waits for: Its start: it is queued at WEST. Slurm said at ');
    expect(stdout).toContain(
      `: Resources. What it needs is in use by other jobs. It is expected to start at ${expectedStart}`,
    );
  });

  it('are held, or not to start before a time', async () => {
    const start = new Date(Math.ceil(Date.now() / 1000) * 1000 + 7 * 86_400_000);
    const time = start.toISOString().slice(0, 19);
    await control('hold', await waiting('WEST'));
    await slurm.command(
      'env',
      'TZ=UTC0',
      'scontrol',
      ...['update', `JobId=${await waiting('EAST')}`, `StartTime=${time}`],
    );
    expect(await told('WEST', 'JobHeldAdmin')).toEqual({
      reason: 'JobHeldAdmin',
      meaning: 'An administrator of the cluster holds it back',
    });
    expect(await told('EAST', 'BeginTime')).toEqual({
      reason: 'BeginTime',
      meaning: 'It is not to start before a time that was set for it',
      expectedStart: start.toISOString(),
    });
    await control('release', await waiting('WEST'));
    await update(`JobId=${await waiting('EAST')}`, 'StartTime=now');
  });

  it('are in a partition that is down', async () => {
    await update('PartitionName=main', 'State=DOWN');
    const down = { reason: 'PartitionDown', meaning: 'Its partition starts no jobs now' };
    expect(await bothSay('PartitionDown')).toEqual([down, down]);
    await update('PartitionName=main', 'State=UP');
  });

  it('need a node that is drained', async () => {
    const node = `NodeName=${slurm.nodeName}`;
    await update(node, 'State=DRAIN', 'Reason=test');
    expect(await told('EAST', 'Nodes required')).toMatchObject({
      meaning: 'The nodes that it may use are down, drained or reserved',
    });
    await update(node, 'State=RESUME');
  });

  it('are not told who else may use a partition', async () => {
    await update('PartitionName=main', 'AllowAccounts=physics,cms');
    const refused = {
      reason: "Job's account not known, so it can't use this partition",
      meaning: 'Its Slurm account may not use its partition',
    };
    expect(await bothSay(refused.reason)).toEqual([refused, refused]);
    const said = await slurm.command('squeue', '-h', '-t', 'PENDING', '-o', '%r');
    expect(said).toContain('(main allows physics,cms)');
    await update('PartitionName=main', 'AllowAccounts=ALL');
  });

  it('run when there is room, and wait for nothing then', async () => {
    await slurm.command('scancel', blocker);
    const jobs = await awaitFinal(alice, Object.values(jids));
    expect(jobs.map(({ status }) => status)).toEqual(['Done', 'Done']);
    expect(await explain('WEST')).toEqual({
      jid: jids['WEST'],
      status: 'Done',
      waitsFor: 'Nothing: it has ended as Done (Execution Complete)',
      sites: expect.any(Object),
    });
    const rows = await grid.sql('select batch_wait from jobs where jid = any ($1)', [
      Object.values(jids),
    ]);
    expect(rows).toEqual([{ batch_wait: null }, { batch_wait: null }]);
  });
});
