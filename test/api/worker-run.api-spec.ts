import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FormData } from 'undici';
import { adminToken } from '../support/administration.js';
import { CommandUser } from '../support/command.js';
import { markedProcesses } from '../support/faults/job-processes.js';
import {
  awaitFinal,
  awaitStatus,
  parametersOf,
  pastOf,
  sandboxOf,
  show,
  submit,
} from '../support/jobs.js';
import { StartedWorker } from '../support/started-worker.js';
import { freePorts } from '../support/ports.mjs';
import { addWorkerSite, TestWorker } from '../support/test-worker.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

let grid: Grid;
let alice: GridClient;
let sites = 0;
let site: string;
const workers: StartedWorker[] = [];

const sh = (script: string, more: object = {}): object => ({
  ...{ Executable: '/bin/sh', Arguments: ['-c', script], Site: site, ...more },
});

async function started(options: string[] = []): Promise<StartedWorker> {
  const worker = await StartedWorker.start(grid, site, options);
  workers.push(worker);
  return worker;
}

const stateOf = async (worker: StartedWorker): Promise<string | undefined> => {
  const adam = await administrator();
  const { body } = await adam.get(`/admin/workers`, { query: { site: worker.site } });
  return body.workers.find((one: { id: string }) => one.id === worker.id)?.state;
};

const administrator = async (): Promise<GridClient> => grid.bearer(await adminToken(grid));

/** Processes of a run of the worker that live. */
const programsOf = (worker: StartedWorker, jid: number): number =>
  markedProcesses(new Set([worker.executor])).filter(({ mark }) => mark.includes(`/${jid}.`))
    .length;

/** Waits until nothing of any run is left in the directory of the worker. */
const whenEmpty = (worker: StartedWorker): Promise<true> =>
  eventually(() => Promise.resolve(worker.runs.length === 0), 'the end of all runs');

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  grid = await startGrid({ ownProcess: true, env: { GRID_PORT: String(port) } });
  alice = await grid.as('alice');
});
afterAll(() => grid?.remove());
beforeEach(async () => {
  site = `RUN.s${(sites += 1)}`;
  await addWorkerSite(grid, site);
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.remove();
});

describe('gridgate worker run', () => {
  it('runs jobs with what they bring, and brings home what they leave', async () => {
    const worker = await started();
    expect(readFileSync(join(worker.directory, 'log'), 'utf8')).toContain('isolation level');
    const form = new FormData();
    const large = randomBytes(300_000).toString('hex');
    const script = 'wc -c < large; cp large copy; echo oops >&2; echo "$GRID_SITE"; exit 3';
    const manifest = {
      ...{ Executable: 'run.sh', Site: site, InputSandbox: ['run.sh', 'large'] },
      OutputSandbox: ['std.out', 'std.err', 'copy', 'not-there'],
    };
    form.append('manifest', JSON.stringify(manifest));
    form.append('run.sh', new Blob([`#!/bin/sh\n${script}\n`]), 'run.sh');
    form.append('large', new Blob([large]), 'large');
    const { body } = await alice.post('/jobs', { multipart: form });
    const [jid = 0] = body.jids as number[];
    const [end] = await awaitFinal(alice, [jid]);
    expect([end?.status, end?.minorStatus]).toEqual(['Failed', 'Application Finished With Errors']);
    expect(await sandboxOf(alice, jid)).toEqual({
      ...{ 'std.out': `600000\n${site}\n`, 'std.err': 'oops\n', copy: large },
    });
    expect(await parametersOf(alice, jid)).toMatchObject({
      ...{ ExitCode: 3, BatchSystem: 'worker', UsageSource: 'worker', MissingOutput: 'not-there' },
    });
    expect(await pastOf(alice, jid)).toEqual([
      ...['Received', 'Checking', 'Waiting', 'Matched', 'Running', 'Completing', 'Failed'],
    ]);
  });

  it('shows what its programs write, at once and as it grows', async () => {
    await started();
    const [jid = 0] = await submit(alice, [
      sh(
        'echo one; until [ -e go ]; do sleep 0.1; [ "$((n += 1))" -lt 30 ] || touch go; done; echo two',
      ),
    ]);
    await awaitStatus(alice, jid, ['Running']);
    const peeked = await eventually(async () => {
      const { status, body } = await alice.get(`/jobs/${jid}/peek`);
      return status === 200 && body.stdout !== '' ? body : undefined;
    }, 'its first line');
    expect(peeked).toMatchObject({ stdout: 'one\n', stderr: '' });
    const { status, body } = await alice.get(`/jobs/${jid}/output/std.out`, {
      query: { follow: 'true' },
    });
    expect([status, body]).toEqual([200, 'one\ntwo\n']);
    expect((await alice.get(`/jobs/${jid}/output/none`)).status).toBe(404);
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
  });

  it('ends a program that is killed, and keeps what it has written', async () => {
    const worker = await started();
    const [jid = 0] = await submit(alice, [sh('echo begun; exec sleep 1000')]);
    await awaitStatus(alice, jid, ['Running']);
    await eventually(() => Promise.resolve(programsOf(worker, jid) > 0), 'the program');
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
    await eventually(() => Promise.resolve(programsOf(worker, jid) === 0), 'its end');
    await whenEmpty(worker);
    expect(await show(alice, jid)).toMatchObject({ status: 'Killed' });
    expect(await sandboxOf(alice, jid)).toMatchObject({ 'std.out': 'begun\n' });
  });

  it('finds its programs again after kill -9, also one that has ended meanwhile', async () => {
    const worker = await started(['--processors', '2']);
    const jids = await submit(alice, [sh('sleep 6; echo long'), sh('sleep 2; echo short')]);
    const [long = 0, short = 0] = jids;
    for (const jid of jids) await awaitStatus(alice, jid, ['Running']);
    await eventually(() => Promise.resolve(programsOf(worker, short) > 0), 'the program');
    await worker.kill();
    await eventually(() => Promise.resolve(programsOf(worker, short) === 0), 'its end');
    await worker.again();
    const ends = await awaitFinal(alice, jids);
    expect(ends.map(({ status }) => status)).toEqual(['Done', 'Done']);
    expect(await sandboxOf(alice, long)).toEqual({ 'std.out': 'long\n', 'std.err': '' });
    expect(await sandboxOf(alice, short)).toEqual({ 'std.out': 'short\n', 'std.err': '' });
    await whenEmpty(worker);
  });

  it('waits for a service that is killed, and reports then', async () => {
    const worker = await started();
    const [jid = 0] = await submit(alice, [sh('sleep 2; echo done')]);
    await awaitStatus(alice, jid, ['Running']);
    await eventually(() => Promise.resolve(programsOf(worker, jid) > 0), 'the program');
    await grid.kill();
    await eventually(() => Promise.resolve(programsOf(worker, jid) === 0), 'its end');
    grid = await grid.again();
    alice = await grid.as('alice');
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    expect(await sandboxOf(alice, jid)).toMatchObject({ 'std.out': 'done\n' });
    expect(worker.output).toContain('the service is away');
    expect(await stateOf(worker)).toBe('active');
  });

  it('ends when it is drained, after its last run', async () => {
    const worker = await started();
    const [jid = 0] = await submit(alice, [sh('sleep 2; echo last')]);
    await awaitStatus(alice, jid, ['Running']);
    const adam = await administrator();
    const { id } = worker;
    expect((await adam.post(`/admin/workers/${id}/drain`)).status).toBe(200);
    const [next = 0] = await submit(alice, [sh('echo next')]);
    expect(await worker.ended()).toBe(0);
    expect(worker.output).toContain('the worker is drained and has ended\n');
    expect(await show(alice, jid)).toMatchObject({ status: 'Done' });
    expect(await show(alice, next)).toMatchObject({ status: 'Waiting' });
    expect(existsSync(join(worker.directory, 'worker.json'))).toBe(false);
    await worker.again(); // it registers anew with its secret
    expect(await awaitFinal(alice, [next])).toMatchObject([{ status: 'Done' }]);
    expect(worker.id).not.toBe(id);
  });

  it('drains at an interrupt, and at the second one leaves its programs to the next start', async () => {
    const worker = await started();
    const [jid = 0] = await submit(alice, [sh('sleep 4; echo kept')]);
    await awaitStatus(alice, jid, ['Running']);
    await eventually(() => Promise.resolve(programsOf(worker, jid) > 0), 'the program');
    worker.signal('SIGINT');
    await eventually(() => Promise.resolve(worker.output.includes('press again')), 'an answer');
    worker.signal('SIGINT');
    expect(await worker.ended()).toBe(0);
    expect(worker.output).toContain('programs of jobs go on');
    expect(programsOf(worker, jid)).toBeGreaterThan(0);
    await worker.again();
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    expect(await sandboxOf(alice, jid)).toMatchObject({ 'std.out': 'kept\n' });
  });

  it('ends its programs when it is revoked', async () => {
    const worker = await started();
    const [jid = 0] = await submit(alice, [sh('exec sleep 1000')]);
    await awaitStatus(alice, jid, ['Running']);
    await eventually(() => Promise.resolve(programsOf(worker, jid) > 0), 'the program');
    const adam = await administrator();
    expect((await adam.delete(`/admin/workers/${worker.id}`)).status).toBe(204);
    expect(await worker.ended()).toBe(1);
    expect(programsOf(worker, jid)).toBe(0);
    expect(worker.output).toContain(
      'gridgate: The service does not know this worker any more\n' +
        'hint: its programs were ended; with a secret of its site it can begin anew\n',
    );
    expect(worker.runs).toEqual([]);
  });

  it('gives back what it has not begun when it is told to end', async () => {
    const worker = await started(['--processors', '1']);
    const [first = 0, second = 0] = await submit(alice, [sh('sleep 4'), sh('echo second')]);
    await awaitStatus(alice, first, ['Running']);
    worker.signal('SIGTERM');
    expect(await worker.ended()).toBe(0);
    expect(await show(alice, second)).toMatchObject({ status: 'Waiting' });
    await worker.again();
    const done = { status: 'Done', minorStatus: 'Execution Complete', appStatus: 'Unknown' };
    expect(await awaitFinal(alice, [first, second])).toMatchObject([done, done]);
  });

  it('gives a job with `Token` a token of its submitter', async () => {
    await started();
    const [jid = 0] = await submit(alice, [
      sh('cut -d. -f2 "$BEARER_TOKEN_FILE"', { Token: { scope: 'jobs:read' } }),
    ]);
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    const { 'std.out': claims = '' } = await sandboxOf(alice, jid);
    const read = JSON.parse(Buffer.from(claims.trim(), 'base64url').toString()) as object;
    expect(read).toMatchObject({ preferred_username: 'alice', group: 'grid_user' });
  });
});

describe('gridgate worker run refuses', () => {
  let user: CommandUser;
  beforeAll(async () => {
    user = new CommandUser(await mkdtemp(join(tmpdir(), 'gridgate-user-')));
  });
  afterAll(() => rm(user.home, { recursive: true, force: true }));

  const refusal = async (...more: string[]): Promise<[number, string]> => {
    const place = ['--server', grid.url, '--site', site, '--ca', join(grid.home, 'pki/ca.crt')];
    const { code, stderr } = await user.run(['worker', 'run', ...place, ...more]);
    const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    return [code, said.join('\n').replaceAll(user.home, '~')];
  };

  it('a directory that another process has, a copy of one, and one of another site', async () => {
    const worker = await started();
    expect(await refusal('--directory', worker.directory)).toEqual([
      2,
      expect.stringMatching(
        /^gridgate: process \d+ is the worker of \S+ already\nhint: give each worker a directory of its own$/,
      ),
    ]);
    const copy = join(user.home, 'copy');
    await cp(worker.directory, copy, { recursive: true });
    await rm(join(copy, 'lock'));
    expect(await refusal('--directory', copy)).toEqual([
      2,
      'gridgate: ~/copy is a copy of the directory of a worker\n' +
        'hint: give each worker a directory of its own; where the other one is gone for good, remove key.pem and worker.json',
    ]);
    const { directory } = worker;
    await worker.kill();
    expect(await refusal('--directory', directory, '--site', 'OTHER')).toEqual([
      2,
      `gridgate: ${directory} is that of a worker of site ${site} at ${grid.url}\n` +
        'hint: give each worker a directory of its own',
    ]);
  });

  it('to go on beside another program that has its key', async () => {
    const worker = await started();
    const privateKey = createPrivateKey(readFileSync(join(worker.directory, 'key.pem')));
    const publicKey = createPublicKey(privateKey);
    const jwk = publicKey.export({ format: 'jwk' });
    const key = { privateKey, publicKey, jwk, thumbprint: '' };
    const other = await TestWorker.of(grid, key);
    other.id = worker.id;
    other.token = (await other.renew()).body.token;
    const json = { seq: 10_000, most: 0, holding: [], free: { processors: 1, ramMB: 1 }, wait: 1 };
    const path = `/workers/${worker.id}/claims`;
    const { status } = await other.caller.call('POST', path, { token: other.token, json });
    expect(status).toBe(200);
    expect(await worker.ended()).toBe(1);
    expect(worker.output).toContain(
      'gridgate: Another program claims runs with the key of this worker: was its directory copied?\n' +
        'hint: give each worker a directory of its own; one from a backup begins anew without key.pem and worker.json\n',
    );
  });

  it('to begin without a secret, with one that is none, and with one of another worker', async () => {
    const none = ['--directory', join(user.home, 'new')];
    expect(await refusal(...none)).toEqual([
      2,
      'gridgate: the worker is not registered\n' +
        'hint: give it the secret of an administrator (gridgate site secret add) with --secret-file',
    ]);
    const file = join(user.home, 'secret');
    await writeFile(file, 'gridgate-site.000000000000.wrong');
    expect(await refusal(...none, '--secret-file', file)).toEqual([
      2,
      'gridgate: The secret is none of this site, is revoked, or belongs to another worker: look whether the site is right, or ask an administrator for a new one (gridgate site secret add)',
    ]);
    await writeFile(file, '\n');
    expect(await refusal(...none, '--secret-file', file)).toEqual([
      2,
      `gridgate: --secret-file ~/secret is empty`,
    ]);
    expect(await refusal(...none, '--secret-file', join(user.home, 'gone'))).toEqual([
      2,
      `gridgate: --secret-file ~/gone cannot be read (ENOENT)`,
    ]);
  });

  it('a certificate that it cannot trust', async () => {
    const place = [
      '--server',
      grid.url,
      '--site',
      site,
      '--directory',
      join(user.home, 'untrusting'),
    ];
    const file = join(user.home, 'some-secret');
    await writeFile(file, 'gridgate-site.000000000000.any');
    const { code, stderr } = await user.run(['worker', 'run', ...place, '--secret-file', file]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /gridgate: the certificate of the service is not trusted: .+\nhint: give its CA with --ca, as `gridgate site secret add` prints it\n$/,
      ),
    ]);
  });

  it('what its options cannot mean, by their names', async () => {
    const none = ['--directory', join(user.home, 'new')];
    const cases: [string[], string][] = [
      [['--max-memory', 'x'], '--max-memory="x" is not a whole number at least 16'],
      [
        ['--ram', '999999999'],
        `--ram 999999999 is more than the machine has\nhint: it has ${Math.floor(totalmem() / 2 ** 20)} MB`,
      ],
      [['--processors', '0'], '--processors 0 is no number from 1 on'],
      [['--idle', '10'], '--idle 10 is no time\nhint: give a number with s, m, h or d'],
      [['--lifetime', 'x'], '--lifetime x is no time\nhint: give a number with s, m, h or d'],
      [
        ['--server', 'here'],
        '--server here is no URL\nhint: give one such as https://grid.example.org',
      ],
      [['--ca', '/not/there'], '--ca /not/there cannot be read (ENOENT)'],
      [
        ['--ca', `sha256:${'0'.repeat(64)}`],
        `${grid.url} shows no certificate with the fingerprint of --ca\n` +
          'hint: look whether the address is right, or give --ca a PEM file',
      ],
    ];
    for (const [words, text] of cases) {
      expect(await refusal(...none, ...words)).toEqual([2, `gridgate: ${text}`]);
    }
    const ca = `sha256:${'0'.repeat(64)}`;
    const words = ['--server', grid.url, '--site', site, '--ca', ca, ...none];
    const proxied = await user.run(['worker', 'run', ...words], {
      HTTPS_PROXY: 'http://127.0.0.1:9',
    });
    expect([proxied.code, proxied.stderr]).toEqual([
      2,
      `gridgate: --ca ${ca}: a fingerprint is of what the service shows without a proxy\n` +
        'hint: give --ca a PEM file with the CA\n',
    ]);
  });
});

describe('the line of gridgate site secret add', () => {
  it('starts a worker as it stands, which knows the service by the fingerprint alone', async () => {
    const home = await mkdtemp(join(tmpdir(), 'gridgate-user-'));
    try {
      const user = new CommandUser(home);
      const env = {
        GRID_HOME: grid.home,
        DATABASE_URL: grid.database.url,
        GRID_PUBLIC_URL: grid.url,
      };
      const { stdout } = await user.run(['site', 'secret', 'add', site], env);
      const [jid = 0] = await submit(alice, [sh('echo pasted')]);
      const line = stdout.trim().replace('| gridgate', `| ${process.execPath} "$GRIDGATE"`);
      const { code, stdout: said, stderr } = await user.shell(`${line} --idle 1s`);
      expect([code, said]).toEqual([
        0,
        expect.stringContaining('the worker had no job for as long as it may and has ended\n'),
      ]);
      expect(stderr).not.toContain('gridgate-site.');
      expect(await sandboxOf(alice, jid)).toMatchObject({ 'std.out': 'pasted\n' });

      const next = await user.run(['site', 'secret', 'add', site], env);
      const known = next.stdout.trim().replace('| gridgate', `| ${process.execPath} "$GRIDGATE"`);
      const last = await user.shell(`${known.replace(/ --ca \S+/, '')} --lifetime 1s`);
      expect([last.code, last.stdout]).toEqual([
        0,
        expect.stringMatching(/ takes jobs of .*\nthe worker is drained and has ended\n$/),
      ]);
      expect(last.stderr).toContain('with --lifetime it takes jobs with a WallTime that fits');
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
