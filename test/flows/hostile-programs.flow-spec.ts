import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { markedProcesses, runningJobs } from '../support/faults/job-processes.js';
import { openLoopbackDoor, type LoopbackDoor } from '../support/database/loopback-door.js';
import { remainsOf, removeRemains, type Remains } from '../support/hostile/remains.js';
import { THINGS, type Target, type Thing } from '../support/hostile/things/index.mjs';
import {
  ABSTRACT_LISTENER,
  makeOpenThings,
  victimsOf,
  type OpenThings,
} from '../support/hostile/victims.js';
import { isLeak, isTried, waysHere, type HostedWay } from '../support/hostile/ways.js';
import { awaitFinal, awaitStatus, sandboxOf, submit, type ShownJob } from '../support/jobs.js';
import {
  eventually,
  HAS_WORKERS,
  startGrid,
  support,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const LIMITS = {
  GRID_JOB_MEMORY: '200',
  GRID_JOB_DISK: '100000000',
  GRID_JOB_MAX_OUTPUT: '60000000',
  GRID_MAX_SANDBOX: '10000000',
  GRID_JOB_PROCESSES: '64',
  GRID_LOCAL_SLOTS: '6',
};
/** What the minor status names. */
const NAMED = {
  memory: 'Job has exceeded maximum memory',
  disk: 'Job has insufficient disk space to continue',
  files: 'Job has exceeded maximum number of files',
  processes: 'Job has exceeded maximum number of processes',
};
const Token = { scope: 'jobs:read' };

describe.each(waysHere())('hostile programs: $name', (hosted: HostedWay) => {
  const { way } = hosted;
  // A worker that keeps nothing apart takes jobs of one owner alone.
  const stranger = HAS_WORKERS && way === 'none' ? 'alice' : 'bob';
  const things = Object.values(THINGS)
    .flat()
    .filter((thing) => isTried(thing, way));
  const mark = `4711${randomInt(100_000, 1_000_000)}`;
  const secret = `value-that-nobody-else-may-see-${mark}`;
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;
  let neighbour: number;
  let target: Target;
  let openThings: OpenThings;
  let door: LoopbackDoor;
  let before: object;

  beforeAll(async () => {
    const { env, ...rest } = hosted.start();
    door = await openLoopbackDoor(support().url);
    const databaseUrl = door.through;
    grid = await startGrid({ ...rest, databaseUrl, env: { ...LIMITS, ...env } });
    const isTold = (): boolean => grid.runner.log.includes(`by ${hosted.means}`);
    await eventually(() => Promise.resolve(isTold()), `jobs by ${hosted.means}`);
    alice = await grid.as('alice');
    bob = await grid.as(stranger);
    openThings = await makeOpenThings(mark);
    const abstract = `gridgate-neighbour-${mark}`;
    [neighbour = 0] = await submit(alice, [neighbourJob(abstract, secret)]);
    await awaitStatus(alice, neighbour, ['Running']);
    const said = async (): Promise<boolean> => (await neighboursOutput()) === 'mine\n';
    await eventually(said, 'the neighbour to speak');
    const { supervisor, pid } = await eventually(() => Promise.resolve(found()), 'the neighbour');
    target = {
      ...{ home: grid.home, server: grid.server.child.pid ?? 0, worker: grid.runner.pid },
      ...{ mark, secret, ...openThings },
      port: new URL(grid.url).port,
      databasePort: new URL(grid.database.url).port,
      neighbour: { directory: readlinkSync(`/proc/${supervisor}/cwd`), pid, abstract },
    };
    before = victimsOf(target);
  });

  afterAll(async () => {
    await openThings?.close();
    try {
      // a job outlives its service, and nobody would end one whose home is gone
      if (target) await endNeighbour();
    } finally {
      await grid?.remove();
      await door?.close();
    }
  });

  function found(): { supervisor: number; pid: number } | undefined {
    const id = readFileSync(`${grid.home}/jobs/executor-id`, 'utf8').trim();
    const executors = new Set([`local:${id}`]);
    const marked = markedProcesses(executors);
    const own = marked.find(({ pid }) => argumentsOf(pid).startsWith('perl -e use Socket'));
    const [job] = runningJobs(executors);
    return own && job ? { supervisor: job.wrapper, pid: own.pid } : undefined;
  }

  /** As the service shows it; of a job that a worker runs it shows nothing yet. */
  async function neighboursOutput(): Promise<string | undefined> {
    if (!HAS_WORKERS) return (await alice.get(`/jobs/${neighbour}/peek`)).body.stdout;
    const job = found();
    return job && readFileSync(`/proc/${job.supervisor}/cwd/out`, 'utf8');
  }

  async function endNeighbour(): Promise<void> {
    expect((await alice.delete(`/jobs/${neighbour}`)).status).toBe(200);
    const isGone = (): boolean => !existsSync(target.neighbour.directory);
    await eventually(() => Promise.resolve(isGone()), 'the end of the neighbour', 30_000);
    expect(argumentsOf(target.neighbour.pid)).toBe('');
  }

  it('is the way that the service tells', async () => {
    const { body } = await alice.get<Record<string, unknown>>(`/jobs/${neighbour}`);
    expect(body).toMatchObject({ status: 'Running' });
    expect(before).toMatchObject({
      neighboursFiles: { mine: expect.any(String) },
      neighboursOutput: 'mine\n',
    });
  });

  it('harm nothing but what the page says that it does not stop', async () => {
    const jobs = things.flatMap((thing) => Array.from({ length: thing.tries ?? 1 }, () => thing));
    const jids = await submit(bob, jobs.map(manifestOf));
    const ended = awaitFinal(bob, jids, 300_000);
    const [records] = await Promise.all([ended, isAnswered(ended)]);
    const results: Record<string, boolean> = {};
    for (const [index, thing] of jobs.entries()) {
      const job = records[index] as ShownJob;
      results[thing.thing] = (results[thing.thing] ?? false) || (await isHarmed(thing, job));
    }
    expect(results).toEqual(
      Object.fromEntries(things.map((thing) => [thing.thing, isLeak(thing, way)])),
    );
  }, 360_000);

  function manifestOf(thing: Thing): object {
    const script = thing.script(target);
    return { ...shell(script), OutputSandbox: ['*'], Token };
  }

  async function isHarmed(thing: Thing, job: ShownJob): Promise<boolean> {
    const { limit } = thing;
    const files = await sandboxOf(bob, job.jid);
    const text = Object.values(files).join('');
    if (!isLeak(thing, way)) expect(text).not.toMatch(/root:|BEGIN .*PRIVATE|for everybody/);
    if (limit === undefined) return (files['std.out'] ?? '').includes('HARM');
    const isEnded = job.status === 'Failed' && job.minorStatus === NAMED[limit];
    return !isEnded && !text.includes('REFUSED');
  }

  /** The service answers meanwhile. */
  async function isAnswered(until: Promise<unknown>): Promise<void> {
    let isOver = false;
    const end = (): boolean => (isOver = true);
    until.then(end, end);
    while (!isOver) {
      await pause(50); // as a person's page does, not a storm of its own
      expect((await alice.get(`/jobs/${neighbour}`)).status).toBe(200);
    }
  }

  it('leave nothing behind but what the page says, and all others as they were', async () => {
    expect((await alice.get(`/jobs/${neighbour}`)).body).toMatchObject({ status: 'Running' });
    expect(await neighboursOutput()).toBe('mine\n');
    expect(victimsOf(target)).toEqual(before);
    const { directory } = target.neighbour;
    const left = (): Remains => remainsOf(dirname(directory), basename(directory), mark);
    const stays = things.some(({ remains }) => remains?.[way] !== undefined);
    const isClean = (): boolean => {
      const { directories, sleepers, files, objects } = left();
      const others = stays ? [] : [...sleepers, ...files, ...objects];
      return directories.length + others.length === 0;
    };
    try {
      await eventually(() => Promise.resolve(isClean()), 'all to be gone', 120_000);
    } catch {
      expect(left()).toEqual({ directories: [], sleepers: [], files: [], objects: [] });
    } finally {
      removeRemains(left());
    }
  });

  it('has its own token in a file of its own', async () => {
    const script = 'stat -c %a "$BEARER_TOKEN_FILE"; cat "$BEARER_TOKEN_FILE"';
    const [jid = 0] = await submit(bob, [{ ...shell(script), Token }]);
    await awaitFinal(bob, [jid]);
    const [mode, token = ''] = ((await sandboxOf(bob, jid))['std.out'] ?? '').split('\n');
    expect(mode).toBe('400');
    expect(decodeJwt(token)).toMatchObject({ preferred_username: stranger, scope: Token.scope });
  });

  it('find no secret in any list of arguments', () => {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    expect(all.filter((pid) => argumentsOf(Number(pid)).includes(secret))).toEqual([]);
  });
});

function shell(script: string): object {
  return { Executable: '/bin/sh', Arguments: ['-c', script] };
}

/** Has a file, a secret, a token, and an abstract socket; writes one line and waits. */
function neighbourJob(abstract: string, SECRET: string): object {
  const script = `echo mine >mine; exec perl -e '${ABSTRACT_LISTENER}' ${abstract}`;
  return {
    ...shell(script),
    ExecutionEnvironment: { SECRET },
    Token,
  };
}

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
