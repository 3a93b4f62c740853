import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { adminToken } from '../support/administration.js';
import { everybodyMayReach } from '#src/worker/runs/reach.js';
import { CommandUser, RunningCommand } from '../support/command.js';
import { isNightly, seed } from '../support/counts.js';
import { blocksOf, isShown } from '../support/documentation.js';
import { FAR_MACHINES, FarMachine } from '../support/far-machine.js';
import { Dice } from '../support/faults/dice.js';
import { type DrillRecord, FarDrill } from '../support/faults/far-drill.js';
import { FarSite } from '../support/faults/far-site.js';
import { leftovers } from '../support/faults/leftovers.js';
import {
  awaitFinal,
  awaitStatus,
  pastOf,
  sandboxOf,
  type ShownJob,
  submit,
} from '../support/jobs.js';
import { describeOn, describeWith } from '../support/missing.js';
import type { StartedWorker } from '../support/started-worker.js';
import { commandOf } from '../support/processes.js';
import { eventually, support } from '../support/testbed.js';

/** The longest cut; 60 at night. */
const CUT_SECONDS = Number(process.env['GRID_CUT_SECONDS'] ?? (isNightly ? 60 : 8));
const IS_LONG = CUT_SECONDS >= 60;
const JOBS = 300;
const MACHINES = [1, 2, 3];
const PORT = 4_000;

const { programs } = FAR_MACHINES;
const onFarMachines = programs
  ? describeOn(FAR_MACHINES)
  : describeWith({ met: false, name: 'ip, nft and nsenter' });

/** What a connection to that address brings, made by a program after these words. */
async function reached(through: readonly string[], address: string): Promise<string> {
  const script = `const socket = require('net').connect({ host: '${address}', port: ${PORT}, timeout: 1500 });
    socket.on('timeout', () => { console.log('silence'); socket.destroy(); });
    socket.on('data', (text) => console.log(String(text)));
    socket.on('error', ({ code }) => console.log(code));`;
  const [first, ...rest] = [...through, process.execPath, '-e', script];
  return (await promisify(execFile)(first, rest)).stdout.trim();
}

/** Runs the work while something listens there. */
async function whileListening(machine: FarMachine, work: () => Promise<void>): Promise<void> {
  const script = `require('net').createServer((socket) => socket.end('reached')).listen(${PORT}, '0.0.0.0', () => console.log('up'))`;
  const [first, ...rest] = [...machine.through, process.execPath, '-e', script];
  const listener = spawn(first, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(listener.stdout, 'data');
    await work();
  } finally {
    listener.kill('SIGKILL');
    await once(listener, 'exit');
  }
}

onFarMachines('workers on machines that nobody reaches', () => {
  const machines: FarMachine[] = [];
  beforeAll(() => {
    for (const number of MACHINES) machines.push(FarMachine.start(number));
  });
  afterAll(() => {
    for (const machine of machines) machine.remove();
    FarMachine.end();
  });

  it('cannot be reached, neither from the service nor from each other', async () => {
    const [one, two] = machines as [FarMachine, FarMachine];
    await whileListening(one, async () => {
      const all = [[], two.through, one.through];
      const seen = (): Promise<string[]> =>
        Promise.all(all.map((through) => reached(through, one.address)));
      expect(await seen()).toEqual(['reached', 'silence', 'reached']); // this machine passes nothing on
      one.close();
      expect(await seen()).toEqual(['silence', 'silence', 'reached']);
    });
    for (const machine of machines) machine.close();
  });

  describe(`among cuts of up to ${CUT_SECONDS} s and kills (GRID_TEST_SEED=${seed})`, () => {
    let site: FarSite;
    let record: DrillRecord;
    let jobs: ShownJob[];
    beforeAll(async () => {
      site = await FarSite.start(machines);
    });
    afterAll(() => site?.remove());

    it('run each job once, and tell the truth of each', async () => {
      const drill = new FarDrill(site, new Dice(seed), {
        ...{ jobs: JOBS, jobMs: 3_000, longestCutMs: CUT_SECONDS * 1000 },
        ...{ pauseMs: IS_LONG ? 12_000 : 3_000, patienceMs: IS_LONG ? 400_000 : 200_000 },
      });
      record = await drill.run();
      const query = { maxJobs: 10_000 };
      const answer = await site.client().get<{ jobs: ShownJob[] }>('/jobs', { query });
      ({ jobs } = answer.body);
      expect(jobs.map(({ jid }) => jid).sort((a, b) => a - b)).toEqual(
        [...record.jobs.keys()].sort((a, b) => a - b),
      );
      expect(jobs).toHaveLength(JOBS);
      const starts = site.starts();
      const killed = 'Killed|Marked for termination|Unknown';
      const odd = jobs.filter(({ jid, status, minorStatus, appStatus }) => {
        const end = `${status}|${minorStatus}|${appStatus}`;
        const count = starts.get(jid) ?? 0;
        if (record.killed.has(jid)) return end !== killed || count > 1;
        if (record.maybeKilled.has(jid) && end === killed) return count > 1;
        return end !== 'Done|Execution Complete|Unknown' || count !== 1;
      });
      const stories = await Promise.all(
        odd.map(async (job) => {
          const { body } = await site.client().get(`/jobs/${job.jid}/history`);
          return { job, starts: starts.get(job.jid), history: body.history as unknown };
        }),
      );
      if (odd.length > 0) process.stdout.write(`${site.logs()}\n`);
      expect(stories).toEqual([]);
      // No history goes on after an end.
      expect(
        await site.sql(`select h.jid from job_history h join job_history n on n.jid = h.jid and n.id > h.id
          where h.status in ('Done', 'Failed', 'Killed', 'Deleted')`),
      ).toEqual([]);
    }, 1_500_000);

    it('bring the whole output of each', async () => {
      for (const { jid, status } of jobs) {
        if (status !== 'Done') continue;
        const { 'std.out': text, ...more } = await sandboxOf(site.client(), jid);
        expect([jid, text]).toEqual([jid, `end of ${jid}\n`]);
        expect(Object.keys(more)).toEqual(record.jobs.get(jid) === 0 ? [] : ['big']);
      }
    });

    it('have all had a part in it', () => {
      const { faults, cuts, seconds, killed } = record;
      process.stdout.write(`${JSON.stringify({ faults, cuts, seconds, killed: killed.size })}\n`);
      expect(record.executors.size).toBe(MACHINES.length);
    });

    // A lease of workers is 90 s.
    (IS_LONG ? it : it.skip)(
      'give back what has not begun after a long silence, and give up what has',
      async () => {
        await site.grid.stop();
        await site.startAgain({ GRID_WORKER_GIVE_UP: '60' });
        const [one, two] = site.workers as [StartedWorker, StartedWorker];
        for (const worker of [one, two]) await worker.stop();
        const job = (script: string): object => ({
          ...{ Executable: '/bin/sh', Site: site.name },
          Arguments: ['-c', `echo $JOBID >> ${site.lines}; ${script}`],
        });
        const begun = await submit(site.client(), [job('sleep 1000'), job('sleep 1000')]);
        for (const jid of begun) await awaitStatus(site.client(), jid, ['Running']);
        await eventually(
          () => Promise.resolve(begun.every((jid) => site.starts().has(jid))),
          'two',
        );
        machines[2]?.cut('answers');
        const [late = 0] = await submit(site.client(), [job('echo late')]);
        await awaitStatus(site.client(), late, ['Matched']);
        for (const worker of [one, two]) await worker.begin();
        const ends = await awaitFinal(site.client(), [...begun, late], 400_000);
        const reason = ['Job stalled: pilot not running', 'Nothing was heard of it any more'];
        expect(ends.map((end) => [end.status, end.minorStatus, end.appStatus])).toEqual([
          ['Failed', ...reason],
          ['Failed', ...reason],
          ['Done', 'Execution Complete', 'Unknown'],
        ]);
        machines[2]?.mend();
        await eventually(
          () => Promise.resolve(site.workers.every(({ runs }) => runs.length === 0)),
          'the programs of the lost runs to be ended',
          120_000,
        );
        expect([...begun, late].map((jid) => site.starts().get(jid))).toEqual([1, 1, 1]);
        expect(await pastOf(site.client(), begun[0] ?? 0)).toEqual([
          ...['Received', 'Checking', 'Waiting', 'Matched', 'Running', 'Stalled', 'Failed'],
        ]);
      },
      900_000,
    );

    it('leave nothing on any machine when they have ended', async () => {
      const adam = site.grid.bearer(await adminToken(site.grid));
      const [first, ...others] = site.workers;
      first?.signal('SIGINT');
      for (const { id } of others) {
        expect((await adam.post(`/admin/workers/${id}/drain`)).status).toBe(200);
      }
      expect(await Promise.all(site.workers.map((worker) => worker.ended()))).toEqual([0, 0, 0]);
      const isClean = async (): Promise<boolean> => (await leftovers(site.traces())).length === 0;
      await eventually(isClean, 'nothing to be left').catch(() => undefined);
      expect(await leftovers(site.traces())).toEqual([]);
      expect(site.ownFiles()).toEqual([]);
      expect(machines.flatMap((machine) => machine.processes())).toEqual([]);
    });
  });

  describe('a newcomer', () => {
    let site: FarSite;
    let home: string;
    beforeAll(async () => {
      site = await FarSite.start([]);
      home = await mkdtemp(join(tmpdir(), 'grid-newcomer-'));
      await chmod(home, 0o777);
      const program = `#!/bin/sh\nexec ${process.execPath} ${join(support().root, 'bin/gridgate.mjs')} "$@"\n`;
      await writeFile(join(home, 'gridgate'), program, { mode: 0o755 });
    });
    afterAll(async () => {
      await site?.remove();
      await rm(home, { recursive: true, force: true });
    });

    it('adds a machine by the commands of the page', async () => {
      const { grid } = site;
      const [machine] = machines as [FarMachine];
      const blocks = blocksOf('docs/how-to/add-a-site.md').map(({ text }) => text);
      const beside = blocks.find((text) => text.startsWith('gridgate site add')) ?? '';
      const line = blocks.find((text) => text.startsWith('printf %s gridgate-site.')) ?? '';
      expect([...beside.split('\n'), ...line.split('\n')]).toHaveLength(3);

      const PATH = `${home}:${process.env['PATH']}`;
      const service = {
        ...{ GRID_HOME: grid.home, DATABASE_URL: site.postgres.url, GRID_PUBLIC_URL: grid.url },
      };
      const env = { PATH, HOME: home };
      const { stdout } = await promisify(execFile)('sh', ['-ec', beside], {
        env: { ...env, ...service },
      });
      const [change, printed = ''] = stdout.trim().split('\n');
      expect(change).toBe('+ sites.DESK.example');
      const plain = printed
        .replace(grid.url, 'https://grid.example.org')
        .replace(/ --ca sha256:\w+/, '');
      expect(isShown(line, plain, true)).toBe(true);

      const isOpen = await everybodyMayReach(support().root);
      const account = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
      const words = [...machine.through, ...(isOpen ? account : []), 'sh', '-c', printed];
      const terminal = new RunningCommand(
        spawn(words[0] ?? '', words.slice(1), { env, cwd: home }),
      );
      const takes = (): boolean => terminal.stdout.includes(' takes jobs of DESK.example ');
      await eventually(() => Promise.resolve(takes()), 'the worker');

      const alice = new CommandUser(home);
      await alice.login(grid);
      const job = { Executable: '/bin/echo', Arguments: 'here', Sites: ['DESK.example'] };
      await writeFile(join(home, 'job.json'), JSON.stringify(job));
      const submitted = await alice.run(['submit', 'job.json', '--wait']);
      expect([submitted.code, submitted.stdout]).toEqual([
        0,
        expect.stringMatching(/Done +Execution Complete .* DESK\.example/),
      ]);
      const isWorker = (pid: number): boolean => commandOf(pid).startsWith(process.execPath);
      for (const pid of machine.processes().filter(isWorker)) process.kill(pid, 'SIGINT'); // Ctrl-C
      const { code, stdout: said } = await terminal.ended();
      expect([code, said]).toEqual([
        0,
        expect.stringContaining('the worker is drained and has ended\n'),
      ]);
      expect(machine.processes()).toEqual([]);
    }, 180_000);
  });

  it('are gone without a trace', () => {
    for (const machine of machines) machine.remove();
    FarMachine.end();
    expect(FarMachine.left()).toEqual([]);
  });
});
