import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { PROBLEM_CODES } from '#src/kernel/index.js';
import { isNightly, runs, seed } from '../support/counts.js';
import { CANARY, hostileRequests, type HostileRequest } from '../support/hostile/job-requests.js';
import { hostileOutputs } from '../support/hostile/outputs.js';
import { RawConnection, type RawAnswer } from '../support/hostile/raw-connection.js';
import { runningJobs } from '../support/faults/job-processes.js';
import { awaitFinal, awaitStatus, submit } from '../support/jobs.js';
import { eventually, startGrid, support, type Grid, type GridClient } from '../support/testbed.js';

const REQUESTS = runs(2_000);
const AT_ONCE = 6;
const MOST_MIB = 500;
const IS_ROOT = process.getuid?.() === 0;

const sh = (script: string, wanted: string[]) => ({
  Executable: '/bin/sh',
  Arguments: ['-c', script],
  OutputSandbox: wanted,
});

describe(`jobs against hostile users (seed ${seed})`, () => {
  let grid: Grid;
  let alice: GridClient;
  let temporary: string;
  let jids: number[] = [];
  beforeAll(async () => {
    temporary = mkdtempSync(join(tmpdir(), 'grid-hostile-'));
    chmodSync(temporary, 0o711);
    grid = await startGrid({
      ownProcess: true,
      env: {
        TMPDIR: temporary,
        GRID_RATE_SUBMIT: '0',
        GRID_LOCAL_SLOTS: '4',
        GRID_MAX_PARAMETRIC_JOBS: '20',
        GRID_MAX_SANDBOX: '1000000',
        GRID_LOG_LEVEL: 'warn',
      },
    });
    alice = await grid.as('alice');
  });
  afterAll(async () => {
    await grid?.remove();
    await rm(temporary, { recursive: true, force: true });
  });

  const namesOf = async (jid: number): Promise<string[]> => {
    const { status, body } = await alice.get(`/jobs/${jid}/outputsandbox/files`);
    return status === 404 ? [] : body.files.map(({ name }: { name: string }) => name).sort();
  };

  it('collects of what jobs leave behind only plain files of their own', async () => {
    const secret = join(grid.home, 'pki', 'ca.key');
    const outputs = hostileOutputs(secret, IS_ROOT ? secret : '/etc/shadow');
    jids = await submit(
      alice,
      outputs.map(({ script, wanted }) => sh(script, wanted)),
    );
    const jobs = await awaitFinal(alice, jids);
    const found = await Promise.all(
      jobs.map(async ({ jid, status }, index) => ({
        what: outputs[index]?.what,
        status,
        files: await namesOf(jid),
      })),
    );
    // what is deeper than a path may be long ends the job when the watch comes by before it has ended
    const ends = (what: string, status: string): unknown =>
      what === 'a very deep directory' ? expect.stringMatching(/^(Done|Failed)$/) : status;
    expect(found).toEqual(
      outputs.map(({ what, status, files }) => ({ what, status: ends(what, status), files })),
    );
  });

  (IS_ROOT ? it : it.skip)('passes over devices, whoever made them', async () => {
    const [jid = 0] = await submit(alice, [
      sh('echo up; until [ -e go ]; do sleep 0.1; done', ['*']),
    ]);
    jids.push(jid);
    await awaitStatus(alice, jid, ['Running']);
    const id = readFileSync(join(grid.home, 'jobs', 'executor-id'), 'utf8').trim();
    const work = await eventually(() => {
      const job = runningJobs(new Set([`local:${id}`])).find((one) => one.jid === jid);
      return Promise.resolve(job && join(readlinkSync(`/proc/${job.wrapper}/cwd`), 'work'));
    }, 'the directory of its run');
    await eventually(() => Promise.resolve(existsSync(work)), 'its directory');
    const made = [
      ['zero', 'c', '1', '5'],
      ['disk', 'b', '7', '0'],
    ].map((device) => spawnSync('mknod', device, { cwd: work }).status);
    if (made.every((code) => code === 0)) chownSync(join(work, 'zero'), 65_534, 65_534);
    spawnSync('touch', ['go'], { cwd: work });
    await awaitStatus(alice, jid, ['Done']);
    expect(await namesOf(jid)).toEqual(['std.err', 'std.out']); // `go` is root's
  });

  it('answers every request in order, and writes nothing outside of its store', async () => {
    const requests = fc.sample(hostileRequests(jids), { numRuns: REQUESTS, seed });
    const token = await grid.token('alice', 'grid_user');
    const port = Number(new URL(grid.url).port);
    const faults: string[] = [];
    const statuses: Record<string, number> = {};
    const queue = requests.entries();
    const work = async (): Promise<void> => {
      const connection = new RawConnection(port, grid.ca, token);
      for (const [index, request] of queue) {
        const answer = await connection.exchange(request).catch((error: unknown) => error as Error);
        const fault = answer instanceof Error ? answer.message : faultOf(request, answer);
        if (fault) faults.push(`${index}: ${fault}: ${shown(request)}`);
        const status = answer instanceof Error || !answer ? 'closed' : String(answer.status);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect(faults.slice(0, 10)).toEqual([]);
    expect(statuses['200']).toBeGreaterThan(REQUESTS / 20);

    expect((await grid.anonymous.get('/health/ready')).status).toBe(200);
    expect(grid.server.child.exitCode).toBeNull();
    expect(errorsIn(grid.server.log())).toEqual([]);
  }, 1_200_000);

  it('forgets uploads whose sender went away, whatever of them had come', async () => {
    const token = await grid.token('alice', 'grid_user');
    const port = Number(new URL(grid.url).port);
    const headers: [string, string][] = [['content-type', 'multipart/form-data; boundary=B']];
    const part = '--B\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n';
    for (const body of ['', part, part + 'x'.repeat(200_000)]) {
      const request = { method: 'POST', target: '/jobs', headers, body: Buffer.from(body) };
      const cut = Array.from({ length: 30 }, async () => {
        const connection = new RawConnection(port, grid.ca, token);
        await connection.exchange({ ...request, isCut: true });
      });
      await Promise.all(cut);
    }
    const spool = join(grid.home, 'sandboxes', 'spool');
    await eventually(async () => (await readdir(spool)).length === 0, 'an empty spool');
  });

  it('has let go of everything when the jobs have ended', async () => {
    await eventually(
      async () => {
        const { body } = await alice.get('/jobs/summary');
        return Object.keys(body).every((state) => /Done|Failed|Killed|Deleted/.test(state));
      },
      'all jobs to end',
      600_000,
    );
    const inHome = await eventually(async () => {
      const all = await pathsBelow(grid.home);
      return all && !all.some((path) => path.startsWith('sandboxes/spool/')) && all;
    }, 'the spool to be empty'); // the last requests that were cut may still be under way
    const kept = inHome.filter((path) => /^sandboxes\/.+\//.test(path));
    expect(
      kept.filter((path) => !/^sandboxes\/[0-9a-f]{2}\/[0-9a-f]{64}\.tar\.gz$/.test(path)),
    ).toEqual([]);
    const rest = inHome.filter((path) => !/^(sandboxes|pki|jobs\/runs)(\/|$)/.test(path));
    expect(
      rest.filter(
        (path) => !/^(jobs(\/executor-id)?|logs|postgres|server\.lock|worker(\/.*)?)$/.test(path),
      ),
    ).toEqual([]);
    // The accounts of jobs cannot pass through to the home of root: then the directories of runs are elsewhere.
    await eventually(async () => {
      const runs = await readdir(join(grid.home, 'jobs', 'runs')).catch(() => []);
      const others = await pathsBelow(temporary);
      // What all runs share stays: the accounts that jobs see, the filter of system calls.
      return (
        others &&
        [...runs, ...others].every((path) => /^(gridgate-[0-9a-f]+\/?)?(etc(\/.*)?)?$/.test(path))
      );
    }, 'the directories of runs to be removed');
    expect(canaries()).toEqual([]);
    const peak = Number(
      /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${grid.server.child.pid}/status`, 'utf8'))?.[1],
    );
    expect(peak / 1024).toBeLessThan(MOST_MIB);
  }, 700_000);

  /** What is wrong with an answer; undefined when nothing is. */
  function faultOf(request: HostileRequest, answer: RawAnswer | undefined): string | undefined {
    if (!answer) return request.isCut ? undefined : 'closed without an answer';
    const { status, headers, body } = answer;
    if (status >= 500) return `status ${status} ${body.slice(0, 300)}`;
    if (status < 400 || request.method === 'HEAD') return undefined;
    if (body.includes(grid.home) || body.includes(support().root))
      return `tells a path: ${body.slice(0, 300)}`;
    if (headers.get('content-type') !== 'application/problem+json') return `type of ${status}`;
    const { code, status: told } = JSON.parse(body) as { code: string; status: number };
    const known = PROBLEM_CODES[code as keyof typeof PROBLEM_CODES] as
      { status: number } | undefined;
    return known?.status === status && told === status ? undefined : `code ${code} for ${status}`;
  }
});

function shown(request: HostileRequest): string {
  const head = `${request.method} ${request.target.slice(0, 200)} ${JSON.stringify(request.headers).slice(0, 300)}`;
  return `${head} ${JSON.stringify(request.body.subarray(0, 600).toString('latin1'))}`;
}

function errorsIn(log: string): string[] {
  return log.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
}

/** All paths below a folder; undefined while something in it is being removed. */
function pathsBelow(folder: string): Promise<string[] | undefined> {
  return readdir(folder, { recursive: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  });
}

/** Files that have the name with which requests and jobs tried to get out: anywhere on this machine at night, else where they aim. */
function canaries(): string[] {
  const places = isNightly ? ['/'] : [tmpdir(), support().root];
  const skip = ['/proc', '/sys', '/dev']
    .flatMap((path) => ['-path', path, '-o'])
    .concat(['-name', 'node_modules']);
  const args = [
    ...places,
    '-xdev',
    '(',
    ...skip,
    ')',
    '-prune',
    '-o',
    '-name',
    `*${CANARY}*`,
    '-print',
  ];
  return spawnSync('find', args, { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '');
}
