import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hostilePrograms, type Target } from '../support/hostile/programs.js';
import { markedProcesses } from '../support/faults/job-processes.js';
import { awaitFinal, awaitStatus, sandboxOf, submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const isRoot = process.getuid?.() === 0;
/** A normal user has no accounts to give. */
const LEVELS = isRoot ? (['namespaces', 'accounts'] as const) : (['namespaces'] as const);
const SECRET = 'value-that-nobody-else-may-see';

describe.each(LEVELS)('hostile programs at level %s', (level) => {
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  let neighbour: number;
  let target: Target;

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_LOCAL_ISOLATION: level, GRID_LOCAL_SLOTS: '4' } });
    alice = await grid.as('alice');
    bob = await grid.as('bob');
    const id = readFileSync(`${grid.home}/jobs/executor-id`, 'utf8').trim();
    [neighbour = 0] = await submit(alice, [
      {
        Executable: '/bin/sh',
        Arguments: ['-c', 'echo mine >mine; sleep 600'],
        ExecutionEnvironment: { SECRET },
      },
    ]);
    await awaitStatus(alice, neighbour, ['Running']);
    const own = await eventually(() => {
      const marked = markedProcesses(new Set([`local:${id}`]));
      return Promise.resolve(marked.find(({ pid }) => argumentsOf(pid).startsWith('sleep 600')));
    }, 'the neighbour');
    const supervisor = markedProcesses(new Set([`local:${id}`])).find(({ pid }) =>
      argumentsOf(pid).includes('gridgate-job'),
    );
    const launch = /(\/\S+)\/\d+\.1\/launch/.exec(argumentsOf(supervisor?.pid ?? 0))?.[1] ?? '';
    target = {
      home: grid.home,
      server: grid.server.child.pid ?? 0,
      port: new URL(grid.url).port,
      neighbour: { directory: `${launch}/${neighbour}.1`, pid: own.pid },
    };
  }, 90_000);

  afterAll(async () => {
    try {
      // a job outlives its service, and nobody would end one whose home is gone
      if (target) await endNeighbour();
    } finally {
      await grid?.remove();
    }
  }, 30_000);

  async function endNeighbour(): Promise<void> {
    expect((await alice.delete(`/jobs/${neighbour}`)).status).toBe(200);
    const isGone = (): boolean => !existsSync(target.neighbour.directory);
    await eventually(() => Promise.resolve(isGone()), 'the end of the neighbour', 20_000);
    expect(argumentsOf(target.neighbour.pid)).toBe('');
  }

  it('harm nothing but what the level is known not to stop', async () => {
    expect(statSync(target.neighbour.directory).isDirectory()).toBe(true);
    const programs = hostilePrograms(target);
    const manifests = programs.map(({ script }) => ({
      Executable: '/bin/sh',
      Arguments: ['-c', script],
      OutputSandbox: ['*'],
    }));
    const jids = await submit(bob, manifests);
    const jobs = await awaitFinal(bob, jids, 90_000);
    const results: Record<string, boolean> = {};
    for (const [index, { name }] of programs.entries()) {
      const files = await sandboxOf(bob, jobs[index]?.jid ?? 0);
      results[name] = (files['std.out'] ?? '').includes('HARM');
      expect(Object.values(files).join('')).not.toMatch(/root:|BEGIN .*PRIVATE/);
    }
    const expected = Object.fromEntries(programs.map(({ name, leaks }) => [name, leaks === level]));
    expect(results).toEqual(expected);
  }, 120_000);

  it('leave nothing behind, and the neighbour as it was', async () => {
    const live = await alice.get(`/jobs/${neighbour}`);
    expect(live.body).toMatchObject({ status: 'Running' });
    expect((await alice.get(`/jobs/${neighbour}/peek`)).body).toMatchObject({ stdout: '' });
    const left = (): string[] => remains(dirname(target.neighbour.directory), neighbour);
    await eventually(() => Promise.resolve(left().length === 0), 'all to be gone', 30_000).catch(
      () => expect(left()).toEqual([]),
    );
  }, 60_000);

  it('find no secret in any list of arguments', () => {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    expect(all.filter((pid) => argumentsOf(Number(pid)).includes(SECRET))).toEqual([]);
  });
});

/** What is there of runs beside the neighbour's: directories, processes, files, shared memory. */
function remains(runs: string, neighbour: number): string[] {
  const directories = readdirSync(runs).filter((name) => /^\d/.test(name));
  const sleepers = execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' });
  const left = ['/tmp', '/var/tmp', '/dev/shm'].flatMap((path) =>
    readdirSync(path).filter((name) => name === 'hostile-left'),
  );
  const shared = ['shm', 'sem', 'msg'].flatMap(objectsOfJobs);
  return [
    ...directories.filter((name) => name !== `${neighbour}.1`),
    ...(sleepers.match(/^sleep 4711471$/gm) ?? []),
    ...left,
    ...shared,
  ];
}

/** IPC objects of accounts of jobs. */
function objectsOfJobs(kind: string): string[] {
  const [head = '', ...lines] = readFileSync(`/proc/sysvipc/${kind}`, 'utf8').trim().split('\n');
  const column = head.trim().split(/\s+/).indexOf('cuid');
  const owner = (line: string): number => Number(line.trim().split(/\s+/)[column]);
  return lines.filter((line) => owner(line) >= 200_000 && owner(line) <= 265_535);
}

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
