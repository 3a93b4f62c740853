import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNightly, runs } from '../support/counts.js';
import { markedProcesses, runningJobs } from '../support/faults/job-processes.js';
import { awaitFinal, awaitStatus, pastOf, sandboxOf, show, submit } from '../support/jobs.js';
import { runningProcesses, type RunningProcess } from '../support/processes.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

/** Processes of this machine whose command line holds the text. */
function processesWith(text: string): RunningProcess[] {
  return runningProcesses().filter(({ command }) => command.includes(text));
}

describe('the life of a job on local-process', () => {
  let grid: Grid;
  let alice: GridClient;
  let outside: string;

  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'outside-'));
    chmodSync(outside, 0o777);
    grid = await startGrid({
      ownProcess: true,
      env: {
        GRID_LOCAL_BINDS: `${outside}:rw`,
        GRID_JOB_MAX_OUTPUT: '1000000',
        GRID_MAX_SANDBOX: '500000',
      },
    });
    alice = await grid.as('alice');
  });

  afterAll(async () => {
    await grid.remove();
    rmSync(outside, { recursive: true, force: true });
  });

  const run = async (manifest: object) => {
    const [jid = 0] = await submit(alice, [manifest]);
    const [job] = await awaitFinal(alice, [jid]);
    if (!job) throw new Error('no job');
    return job;
  };
  const sh = (script: string, more: object = {}) => ({
    Executable: '/bin/sh',
    Arguments: ['-c', script],
    ...more,
  });

  it('runs it where nothing of the service is to be seen, and brings its output back', async () => {
    const script = `env; touch made; cat ${grid.home}/pki/ca.key; ls ${grid.home}/sandboxes`;
    const job = await run(sh(script, { OutputSandbox: ['*'], ExecutionEnvironment: { A: 'b c' } }));
    const files = await sandboxOf(alice, job.jid);
    expect(Object.keys(files).sort()).toEqual(['made', 'std.err', 'std.out']);
    const out = files['std.out'] ?? '';
    expect(out).toContain(`JOBID=${job.jid}\n`);
    expect(out).toContain('A=b c\n');
    expect(out).not.toMatch(/DATABASE_URL|GRID_HOME|GRID_KEY|postgres:/);
    expect(out).toContain('USER=job\n');
    const { body } = await alice.get(`/jobs/${job.jid}/parameters`);
    // Which way this machine permits the service finds out; without any it runs no job.
    const refusal = { namespaces: 'No such file or directory', accounts: 'Permission denied' };
    const level = body.Isolation as keyof typeof refusal;
    expect(files['std.err']?.split(refusal[level])).toHaveLength(3);
    const metrics = await alice.get('/metrics');
    expect(metrics.bytes.toString('utf8')).toContain(
      `gridgate_local_isolation{level="${level}"} 1\n`,
    );
  });

  it.each<[string, object, string, string, string]>([
    ['well', { Executable: 'true' }, 'Done', 'Execution Complete', 'Unknown'],
    [
      'with a code',
      sh('exit 7'),
      'Failed',
      'Application Finished With Errors',
      'Exited with code 7',
    ],
    [
      'by a signal',
      sh('kill -SEGV $$'),
      'Failed',
      'Application thread failed',
      'Ended by signal SIGSEGV',
    ],
    [
      'without a program',
      { Executable: 'no-such-program' },
      'Failed',
      'Application not found',
      'no-such-program was not found',
    ],
    [
      'over its file size',
      sh('exec head -c 5000000 /dev/zero > big'),
      'Failed',
      'Job has insufficient disk space to continue',
      'A file became larger than allowed',
    ],
    [
      'over its time',
      sh('sleep 600', { WallTime: 2 }),
      'Failed',
      'Job has exceeded maximum wall clock time',
      'Ran longer than 2 s',
    ],
    [
      'with too much output',
      sh('head -c 900000 /dev/urandom > big', { OutputSandbox: ['big', 'std.out'] }),
      'Failed',
      'Uploading Output Sandbox',
      'The output is larger than 500000 bytes',
    ],
  ])('tells the truth when it ends %s', async (_how, manifest, status, minorStatus, appStatus) => {
    expect(await run(manifest)).toMatchObject({ status, minorStatus, appStatus });
  });

  it('brings plain files and links that stay in its directory, and names everything else', async () => {
    const script = [
      'mkdir d; echo x > d/x; ln -s x d/latest; ln -s "$PWD/d" all; ln -s nowhere d/gone',
      'ln -s /etc/passwd link; mkfifo pipe; ln -s /etc d/etc; echo 2 > d/"$(printf "gr\\374n")"',
      'echo 3 > plot.svg; echo 4 > .hidden; : > empty',
    ].join('; ');
    const job = await run(
      sh(script, { OutputSandbox: ['link', 'pipe', 'all', 'none', 'std.err'] }),
    );
    expect(job.status).toBe('Done');
    const { body } = await alice.get(`/jobs/${job.jid}/outputsandbox/files`);
    expect(body.files).toEqual([
      { name: 'all', size: 0, link: 'd' },
      { name: 'd/gone', size: 0, link: 'd/nowhere' },
      { name: 'd/latest', size: 2, link: 'd/x' },
      { name: 'd/x', size: 2 },
      { name: 'std.err', size: 0 },
    ]);
    const read = (name: string) => alice.get(`/jobs/${job.jid}/outputsandbox/files/${name}`);
    expect((await read('d/latest')).bytes.toString()).toBe('x\n');
    const detail = 'The link leads to d, which is no file of the sandbox';
    expect((await read('all')).body).toMatchObject({ code: 'job.no-such-file', detail });
    const parameters = await alice.get(`/jobs/${job.jid}/parameters`);
    expect(parameters.body).toMatchObject({
      MissingOutput: 'none',
      OutputLeftOut: [
        'link (it is a link that leaves the directory)',
        'pipe (it is not a plain file)',
        'd/etc (it is a link that leaves the directory)',
        'd/gr\\xFCn (its name is not UTF-8)',
      ].join(', '),
      OutputNotRequested: 'plot.svg',
    });
    const archive = await alice.get(`/jobs/${job.jid}/outputsandbox`);
    const listing = execFileSync('tar', ['-tvzf', '-'], { input: archive.bytes, encoding: 'utf8' });
    expect(listing.split('\n').map((line) => line.split(' ').slice(-3).join(' '))).toEqual(
      expect.arrayContaining([expect.stringContaining('d/latest -> x')]),
    );
    expect(listing).toContain('all -> d\n');
  });

  it('brings the whole directory for a dot, with empty directories and the streams', async () => {
    const job = await run(
      sh('mkdir -p d/empty; echo 1 > d/x; echo own > std.out; echo printed', {
        OutputSandbox: ['.'],
      }),
    );
    const path = `/jobs/${job.jid}/outputsandbox/files`;
    expect((await alice.get(path)).body.files).toEqual([
      { name: 'd/empty', size: 0, directory: true },
      { name: 'd/x', size: 2 },
      { name: 'std.err', size: 0 },
      { name: 'std.out', size: 8 },
    ]);
    expect((await alice.get(`${path}/std.out`)).bytes.toString()).toBe('printed\n');
    expect((await alice.get(`${path}/d/empty`)).body).toMatchObject({
      code: 'job.no-such-file',
      detail: 'It is an empty directory, which has no bytes',
    });
    expect((await alice.get(`/jobs/${job.jid}/parameters`)).body).toMatchObject({
      OutputLeftOut:
        'std.out (the job has written a file of this name itself, and what it prints has the name: let StdOutput or StdError name another file)',
    });
    const archive = await alice.get(`/jobs/${job.jid}/outputsandbox`);
    const listing = execFileSync('tar', ['-tzf', '-'], { input: archive.bytes, encoding: 'utf8' });
    expect(listing).toBe('d/empty/\nd/x\nstd.err\nstd.out\n');
  });

  it('shows the running output, and a kill ends every process', async () => {
    const mark = `31${Date.now() % 1_000_000}`;
    const script = `echo begun; sleep ${mark} & setsid sleep ${mark} & env -i setsid sleep ${mark} & wait`;
    const [jid = 0] = await submit(alice, [sh(script)]);
    await awaitStatus(alice, jid, ['Running']);
    await eventually(
      async () => (await alice.get(`/jobs/${jid}/peek`)).body.stdout === 'begun\n',
      'the output',
    );
    await eventually(() => Promise.resolve(processesWith(mark).length >= 3), 'three sleepers');
    const bob = await grid.as('bob');
    expect((await bob.delete(`/jobs/${jid}`)).status).toBe(403);
    expect((await bob.get(`/jobs/${jid}/peek`)).status).toBe(403);
    expect((await alice.delete(`/jobs/${jid}`)).body).toEqual({ jid });
    await eventually(() => Promise.resolve(processesWith(mark).length === 0), 'their end');
    expect(await show(alice, jid)).toMatchObject({
      status: 'Killed',
      minorStatus: 'Marked for termination',
    });
    expect((await alice.delete(`/jobs/${jid}`)).body).toEqual({ jid });
    expect((await alice.get(`/jobs/${jid}/peek`)).status).toBe(409);
    expect((await alice.post(`/jobs/${jid}/reschedule`)).status).toBe(409);
  });

  it('answers a kill where it cannot with 409 and the state, and bulk kills one by one', async () => {
    const done = await run({ Executable: '/bin/true' });
    const kill = await alice.delete(`/jobs/${done.jid}`);
    expect(kill.status).toBe(409);
    expect(kill.body).toMatchObject({ code: 'job.state-conflict', jobStatus: 'Done' });
    const [waiting = 0] = await submit(alice, [sh('sleep 600')]);
    const query = { jid: [String(done.jid), String(waiting), '424242'] };
    expect((await alice.delete('/jobs', { query })).body).toEqual({
      results: {
        [done.jid]: { status: 409, detail: `Job ${done.jid} is Done` },
        [waiting]: { status: 200 },
        424242: { status: 404, detail: 'Job 424242 does not exist' },
      },
    });
    expect((await alice.delete('/jobs', { query: { jid: ['1', 'x'] } })).status).toBe(400);
    expect((await alice.delete('/jobs')).status).toBe(400);
  });

  it('runs a failed job again until it was rescheduled too often', async () => {
    const job = await run({ Executable: '/bin/false' });
    for (let time = 1; time <= 3; time += 1) {
      const again = await alice.post(`/jobs/${job.jid}/reschedule`);
      expect([again.status, again.body]).toEqual([200, { jid: job.jid }]);
      await awaitStatus(alice, job.jid, ['Failed']);
      const { body } = await alice.get(`/jobs/${job.jid}`);
      expect(body.reschedules).toBe(time);
    }
    const tooOften = await alice.post(`/jobs/${job.jid}/reschedule`);
    expect([tooOften.status, tooOften.body.code]).toEqual([409, 'job.state-conflict']);
    expect((await pastOf(alice, job.jid)).filter((state) => state === 'Running')).toHaveLength(4);
  });

  it('says of a job that is tried again nothing of the attempt before', async () => {
    const { jid } = await run({ Executable: '/bin/false' });
    await alice.post(`/jobs/${jid}/reschedule`);
    await awaitStatus(alice, jid, ['Failed']);
    const { body } = await alice.get<{ history: { status: string; appStatus: string }[] }>(
      `/jobs/${jid}/history`,
    );
    const said = body.history.filter(({ appStatus }) => appStatus !== 'Unknown');
    const once = ['Completing', 'Failed'].map((status) => [status, 'Exited with code 1']);
    expect(said.map(({ status, appStatus }) => [status, appStatus])).toEqual([...once, ...once]);
  });

  it('deletes for good when asked to purge', async () => {
    const job = await run({ Executable: '/bin/true' });
    const { status } = await alice.delete(`/jobs/${job.jid}`, { query: { purge: true } });
    expect(status).toBe(200);
    expect(await show(alice, job.jid)).toMatchObject({ status: 'Deleted' });
    expect((await alice.delete(`/jobs/${job.jid}`)).status).toBe(409);
  });

  it('brings many short jobs to Done', async () => {
    const manifests = Array.from({ length: runs(200) }, () => ({ Executable: '/bin/true' }));
    const jobs = await awaitFinal(alice, await submit(alice, manifests));
    expect(jobs.every(({ status }) => status === 'Done')).toBe(true);
  });

  it('never starts a run again of which nothing is left', async () => {
    const file = join(outside, 'once');
    writeFileSync(file, '');
    chmodSync(file, 0o666);
    const [jid = 0] = await submit(alice, [sh(`echo $JOBID >> ${file}; sleep 600`)]);
    const written = (): string => readFileSync(file, 'utf8');
    await eventually(() => Promise.resolve(written() !== ''), 'its line');
    const id = readFileSync(join(grid.home, 'jobs', 'executor-id'), 'utf8').trim();
    const [job] = runningJobs(new Set([`local:${id}`]));
    const directory = readlinkSync(`/proc/${job?.wrapper}/cwd`);
    await grid.kill();
    rmSync(directory, { recursive: true });
    grid = await grid.again();
    alice = await grid.as('alice');
    expect(await awaitStatus(alice, jid, ['Failed'])).toMatchObject({
      minorStatus: 'Job stalled: pilot not running',
      appStatus: 'Nothing is left of the run on its machine',
    });
    expect(written()).toBe(`${jid}\n`);
    expect(markedProcesses(new Set([`local:${id}`]))).toEqual([]);
  });

  it("has none of the worker's files open", async () => {
    const jid = await run(sh('ls /proc/self/fd')).then((job) => job.jid);
    // 3 is that of ls itself.
    expect((await sandboxOf(alice, jid))['std.out']).toBe('0\n1\n2\n3\n');
  });

  it('loses no job and starts none twice when the server is killed among running jobs', async () => {
    const file = join(outside, 'lines');
    writeFileSync(file, '');
    chmodSync(file, 0o666);
    const script = `sleep 0.05; echo $JOBID >> ${file}; sleep 0.05`;
    const jids = await submit(
      alice,
      Array.from({ length: isNightly ? 50 : 20 }, () => sh(script)),
    );
    for (const wanted of [3, 10]) {
      const lines = (): number => readFileSync(file, 'utf8').split('\n').length - 1;
      await eventually(() => Promise.resolve(lines() >= wanted), `${wanted} lines`);
      await grid.kill();
      grid = await grid.again();
      alice = await grid.as('alice');
    }
    const jobs = await awaitFinal(alice, jids);
    expect(jobs.map(({ status }) => status)).toEqual(jids.map(() => 'Done'));
    const lines = readFileSync(file, 'utf8').trim().split('\n').map(Number);
    expect(lines.sort((a, b) => a - b)).toEqual([...jids].sort((a, b) => a - b));
  });
});
