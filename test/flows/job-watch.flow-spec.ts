import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processEntry } from '#src/worker/watch/process-table.js';
import { runningJobs } from '../support/faults/job-processes.js';
import { awaitStatus, submit } from '../support/jobs.js';
import {
  eventually,
  runRootOf,
  startGrid,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const FILES = 400_000;
const PROCESSES = 5_000;
/** The kernel counts what is shared once for each of the processes. */
const MEMORY_MIB = 200_000;
const PROGRAM = `
  mkdir "m"; for (1..${FILES}) { open($f, ">", "m/$_") or die "file $_: $!" }
  for (1..${PROCESSES}) { my $p = fork; die "process $_: $!" unless defined $p; $p or do { sleep 1000; exit } }
  $| = 1; print "all\\n"; sleep 1000`;

/** A job that makes everything large that is looked at, and is within its limits. */
describe('a job with very many files and processes', () => {
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    grid = await startGrid({
      env: {
        GRID_JOB_FILES: '1000000',
        GRID_JOB_PROCESSES: String(PROCESSES + 100),
        GRID_JOB_MEMORY: String(MEMORY_MIB),
        GRID_JOB_WALL_TIME: '900',
      },
    });
    alice = await grid.as('alice');
  });
  afterAll(() => grid?.remove());

  it('does not hold the service up while it runs, nor when it ends and is removed', async () => {
    const [jid = 0] = await submit(alice, [
      { Executable: 'perl', Arguments: ['-e', PROGRAM], OutputSandbox: ['std.err', 'm/1*'] },
    ]);
    await eventually(
      async () => (await alice.get(`/jobs/${jid}/peek`)).body.stdout === 'all\n',
      'all of it',
      400_000,
    );
    const id = readFileSync(join(grid.home, 'jobs', 'executor-id'), 'utf8').trim();
    const supervisor = runningJobs(new Set([`local:${id}`]))[0]?.wrapper ?? 0;
    const { path } = await runRootOf(grid.home);
    const runs = (): string[] => readdirSync(path).filter((name) => name.startsWith(`${jid}.`));
    expect([runs(), processEntry(supervisor)?.pid]).toEqual([[`${jid}.1`], supervisor]);
    expect(await awaitStatus(alice, jid, ['Running'])).toMatchObject({ status: 'Running' });

    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    await awaitStatus(alice, jid, ['Killed']);
    await eventually(() => Promise.resolve(runs().length === 0), 'its removal', 300_000);
    expect(processEntry(supervisor)).toBeUndefined();
    // That the event loop stood still for no 100 ms is what the guard of the run looks at (stalls.mjs).
  }, 840_000);
});
