import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryGroups } from '#src/worker/isolation/memory-group.js';
import { markedProcesses } from '../support/faults/job-processes.js';
import { awaitFinal, awaitStatus, sandboxOf, submit } from '../support/jobs.js';
import { controlGroups, runningProcesses } from '../support/processes.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const MEMORY_MIB = 64;
const PROCESSES = 20;
/** Opens files until it may not, and tells the error by its exit code. */
const OPEN_MANY = 'for (1..100) { open($f[$_], "<", "/dev/null") or exit($!) }';

/** Where they can be made each job has one for its memory. */
function hasMemoryGroups(): boolean {
  const groups = MemoryGroups.open('of-the-test');
  groups?.close();
  return groups !== undefined;
}

/** Limits of local jobs, reached by real programs; that of wall-clock time is in job-life-local. */
describe('limits of local jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  let executors: Set<string>;
  beforeAll(async () => {
    grid = await startGrid({
      env: {
        GRID_JOB_MEMORY: String(MEMORY_MIB),
        GRID_JOB_PROCESSES: String(PROCESSES),
        GRID_JOB_MAX_OUTPUT: '1000000',
        GRID_JOB_DISK: '4000000',
        GRID_JOB_FILES: '200',
        GRID_JOB_OPEN_FILES: '40',
        GRID_LOCAL_SLOTS: '12',
      },
    });
    alice = await grid.as('alice');
    const id = readFileSync(join(grid.home, 'jobs', 'executor-id'), 'utf8').trim();
    executors = new Set([`local:${id}`]);
    // A manifest cannot ask for less than 100 s of CPU; the test does not want to burn so many.
    await grid.sql(`
      create function one_second() returns trigger language plpgsql as
        $$ begin new.cpu_time = 1; return new; end $$;
      create trigger one_second before insert on jobs for each row
        when (new.name = 'one second') execute function one_second()`);
  });
  afterAll(() => grid?.remove());

  const sh = (script: string, more: object = {}) => ({
    Executable: '/bin/sh',
    Arguments: ['-c', script],
    ...more,
  });
  const short = { JobName: 'one second' };
  const spin = 'while :; do :; done';
  const hold = (mib: number) => `head -c ${mib}M /dev/zero | tail -c ${mib}M | sleep 600`;

  /** What stands in the record and the parameters when a limit was reached. */
  const REACHED: Record<string, [object, string, string]> = {
    'CPU by one process': [
      sh(spin, short),
      'Job has reached the CPU limit of the queue',
      'Used (more than 1 s of CPU|[\\d.]+ s)',
    ],
    'CPU by many processes, none of which uses it up': [
      sh(`${spin} & ${spin} & ${spin} & wait`, short),
      'Job has reached the CPU limit of the queue',
      'Used more than 1 s of CPU',
    ],
    'CPU by a program that does not want to hear of it': [
      sh(`trap "" XCPU; ${spin}`, short),
      'Job has reached the CPU limit of the queue',
      'Used more than 1 s of CPU',
    ],
    'CPU by a program in a session of its own': [
      sh(`setsid sh -c "trap '' XCPU; ${spin}" & wait`, short),
      'Job has reached the CPU limit of the queue',
      'Used more than 1 s of CPU',
    ],
    'memory by one process': [
      sh(hold(MEMORY_MIB + 10)),
      'Job has exceeded maximum memory',
      `Used more than ${MEMORY_MIB} MiB`,
    ],
    'memory by many processes': [
      sh(`${hold(30)} & ${hold(30)} & setsid sh -c '${hold(30)}' & wait`),
      'Job has exceeded maximum memory',
      `Used more than ${MEMORY_MIB} MiB`,
    ],
    'bytes of a file': [
      sh('exec head -c 5000000 /dev/zero > big'),
      'Job has insufficient disk space to continue',
      'A file became larger than allowed',
    ],
    'bytes of its standard output': [
      sh('exec head -c 5000000 /dev/zero'),
      'Job has insufficient disk space to continue',
      'A file became larger than allowed',
    ],
    'all files together': [
      sh('for i in 1 2 3 4 5 6; do head -c 900000 /dev/zero > $i; done; sleep 600'),
      'Job has insufficient disk space to continue',
      'Used more than 3 MiB of disk',
    ],
    'all files together in its directory for temporary files': [
      sh('cd $TMPDIR; for i in 1 2 3 4 5 6; do head -c 900000 /dev/zero > $i; done; sleep 600'),
      'Job has insufficient disk space to continue',
      'Used more than 3 MiB of disk',
    ],
    'number of files': [
      sh('mkdir d; i=0; while [ $i -lt 300 ]; do : > d/$i; i=$((i+1)); done; sleep 600'),
      'Job has exceeded maximum number of files',
      'Had more than 200 files',
    ],
    'open files': [
      { Executable: '/usr/bin/perl', Arguments: ['-e', OPEN_MANY] },
      'Application Finished With Errors',
      'Exited with code 24', // EMFILE
    ],
    processes: [
      sh(`i=0; while [ $i -lt ${PROCESSES + 5} ]; do sleep 600 & i=$((i+1)); done; wait`),
      'Job has exceeded maximum number of processes',
      `Had more than ${PROCESSES} processes`,
    ],
  };

  it('end a job with their own reason and leave none of its processes', async () => {
    const names = Object.keys(REACHED);
    const jids = await submit(
      alice,
      names.map((name) => REACHED[name]?.[0] ?? {}),
    );
    const jobs = await awaitFinal(alice, jids);
    const ends = jobs.map(({ status, minorStatus, appStatus }, index) => {
      const [, minor = '', app = ''] = REACHED[names[index] ?? ''] ?? [];
      const isTold = new RegExp(`^(${app})$`).test(appStatus);
      return [
        names[index],
        status,
        minorStatus === minor && isTold ? 'told' : [minorStatus, appStatus],
      ];
    });
    expect(ends).toEqual(names.map((name) => [name, 'Failed', 'told']));
    await nothingLeft();
    const { body } = await alice.get(`/jobs/${jids[6]}/parameters`);
    expect(body).toMatchObject({ ExitCode: 153 });
  });

  describe('where each job has a control group for its memory', () => {
    const perl = (script: string) => ({ Executable: '/usr/bin/perl', Arguments: ['-e', script] });
    const itIsSo = hasMemoryGroups() ? it : it.skip;

    itIsSo('count what no process maps: pipes that nobody reads', async () => {
      // Each of 8 processes fills 12 pipes of 1 MiB (F_SETPIPE_SZ is 1031).
      const fill =
        'pipe($r[$_], $w[$_]); fcntl($w[$_], 1031, 1 << 20); syswrite($w[$_], "x" x (1 << 20))';
      const [jid = 0] = await submit(alice, [
        perl(`fork for 1..3; for (1..12) { ${fill} } sleep 600`),
      ]);
      expect(await awaitStatus(alice, jid, ['Failed'])).toMatchObject({
        minorStatus: 'Job has exceeded maximum memory',
        appStatus: `Used more than ${MEMORY_MIB} MiB`,
      });
    });

    itIsSo('count once what processes share, and no address space', async () => {
      const share =
        '$x = "x" x (20 << 20); for (1..5) { fork or do { sleep 3; exit } } 1 while wait > 0';
      const [shared = 0, reserved = 0] = await submit(alice, [
        perl(share),
        { Executable: '/bin/sh', Arguments: ['-c', 'ulimit -v'] },
      ]);
      for (const jid of [shared, reserved]) {
        expect(await awaitStatus(alice, jid, ['Done', 'Failed'])).toMatchObject({ status: 'Done' });
      }
      const output = await sandboxOf(alice, reserved);
      expect(output['std.out']).toBe('unlimited\n');
    });

    itIsSo('say so when it was not its own memory that was not enough', async () => {
      const [own = ''] = [...executors].flatMap((id) =>
        controlGroups(id.replace('local:', 'gridgate-')).sort((a, b) => a.length - b.length),
      );
      const limit = ['memory.limit_in_bytes', 'memory.max']
        .map((name) => join(own, name))
        .find(existsSync);
      const before = readFileSync(limit ?? '', 'latin1');
      writeFileSync(limit ?? '', String(40 * 2 ** 20));
      try {
        const [jid = 0] = await submit(alice, [perl('$x = "x" x (50 << 20); sleep 600')]);
        expect(await awaitStatus(alice, jid, ['Failed'])).toMatchObject({
          minorStatus: 'Application thread failed',
          appStatus: 'The memory of its machine was not enough',
        });
      } finally {
        writeFileSync(limit ?? '', before);
      }
    });

    itIsSo('leave no group behind', async () => {
      await nothingLeft();
      const own = [...executors].map((id) => id.replace('local:', 'gridgate-'));
      const left = (): string[] => own.flatMap((name) => controlGroups(name));
      // That of the worker, with none of a run.
      await eventually(() => Promise.resolve(left().length <= 1), 'the groups to be removed');
    });
  });

  it('bound a fork bomb: the service answers, other jobs run after it, nothing of it is left', async () => {
    // The first shell forks once: it outlives the forks that the kernel refuses to its children.
    const bomb =
      'bomb() { bomb & bomb & wait; exec sleep 600; }; bomb 2>/dev/null & wait; exec sleep 600';
    const [jid = 0] = await submit(alice, [sh(bomb)]);
    await awaitStatus(alice, jid, ['Running', 'Failed']);
    const [job] = await awaitFinal(alice, [jid]);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Job has exceeded maximum number of processes',
      appStatus: `Had more than ${PROCESSES} processes`,
    });
    await nothingLeft();
    const [after] = await awaitFinal(alice, await submit(alice, [{ Executable: '/bin/true' }]));
    expect(after?.status).toBe('Done');
  });

  /** Programs that try to outlive a kill; each prints its mark in its arguments. */
  const ESCAPES: Record<string, (mark: string) => string> = {
    'a session of its own': (mark) => `setsid sleep ${mark} & wait`,
    'the double fork of a daemon': (mark) => `setsid sh -c 'sleep ${mark} & exit' & sleep 600`,
    'an empty environment': (mark) => `env -i sleep ${mark} & wait`,
    'an empty environment in a session of its own': (mark) => `env -i setsid sleep ${mark} & wait`,
    'signals ignored': (mark) => `trap "" TERM INT HUP QUIT; sleep ${mark}; sleep ${mark}`,
    'a daemon without environment whose parents lived a while': (mark) =>
      `env -i setsid sh -c 'sleep ${mark} & sleep 2' & sleep 600`,
  };

  it.each(Object.keys(ESCAPES))('a kill reaches %s', async (how) => {
    const mark = `47${String(Math.floor(Math.random() * 1e9))}`;
    const script = ESCAPES[how]?.(mark) ?? '';
    const [jid = 0] = await submit(alice, [sh(script)]);
    await awaitStatus(alice, jid, ['Running']);
    await eventually(() => Promise.resolve(sleepers(mark).length > 0), 'the program');
    if (how.includes('lived a while')) {
      await eventually(
        () => Promise.resolve(sleepers(mark).every(({ parent }) => isFirstOfItsOwn(parent))),
        'its parents to be gone',
      );
    }
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    await eventually(() => Promise.resolve(sleepers(mark).length === 0), 'its end');
  });

  it('what a job leaves in the background ends with it', async () => {
    const mark = `48${String(Math.floor(Math.random() * 1e9))}`;
    const script = `setsid sleep ${mark} & sleep ${mark} & env -i setsid sleep ${mark} & sleep 2.5`;
    const [job] = await awaitFinal(alice, await submit(alice, [sh(script)]));
    expect(job?.status).toBe('Done');
    await eventually(() => Promise.resolve(sleepers(mark).length === 0), 'their end');
  });

  async function nothingLeft(): Promise<void> {
    await eventually(
      () => Promise.resolve(markedProcesses(executors).length === 0),
      'the end of all processes',
    );
  }

  function sleepers(mark: string): { parent: number }[] {
    return runningProcesses().filter(({ command }) => command === `sleep ${mark}`);
  }
});

/** True for the first process of a pid namespace, who has become the parent of orphans; who has ended meanwhile is none. */
function isFirstOfItsOwn(pid: number): boolean {
  try {
    return /^NSpid:(?:\t\d+)*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}
