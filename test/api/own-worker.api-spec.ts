import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markedProcesses } from '../support/faults/job-processes.js';
import { awaitStatus, sandboxOf, submit } from '../support/jobs.js';
import { commandOf } from '../support/processes.js';
import {
  eventually,
  HAS_WORKERS,
  startGrid,
  type Grid,
  type GridClient,
  runRootOf,
} from '../support/testbed.js';

const describeOwn = HAS_WORKERS ? describe.skip : describe;

describeOwn('the worker of the service itself', () => {
  let grid: Grid;
  let alice: GridClient;
  let outside: string;

  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'outside-'));
    chmodSync(outside, 0o777);
    grid = await startGrid({ ownProcess: true, env: { GRID_LOCAL_BINDS: `${outside}:rw` } });
    alice = await grid.as('alice');
  });
  afterAll(async () => {
    await grid.remove();
    rmSync(outside, { recursive: true, force: true });
  });

  /** A job that writes a line and waits until it may end; resolves when it has begun. */
  const begin = async (name: string, more: object = {}) => {
    const [lines, go] = [join(outside, name), join(outside, `${name}.go`)];
    writeFileSync(lines, '');
    chmodSync(lines, 0o666);
    const script = `echo $JOBID >> ${lines}; until [ -e ${go} ]; do sleep 0.05; done; echo whole`;
    const [jid = 0] = await submit(alice, [
      { Executable: '/bin/sh', Arguments: ['-c', script], OutputSandbox: ['std.out'], ...more },
    ]);
    await eventually(() => Promise.resolve(readFileSync(lines, 'utf8') !== ''), 'its line');
    return {
      jid,
      goOn: () => writeFileSync(go, ''),
      isWhole: async () => {
        expect(await awaitStatus(alice, jid, ['Done', 'Failed'])).toMatchObject({ status: 'Done' });
        expect((await sandboxOf(alice, jid))['std.out']).toBe('whole\n');
        expect(readFileSync(lines, 'utf8')).toBe(`${jid}\n`);
      },
    };
  };
  const executorId = () => readFileSync(join(grid.home, 'jobs', 'executor-id'), 'utf8').trim();
  const programs = () => markedProcesses(new Set([`local:${executorId()}`]));
  const again = async () => {
    grid = await grid.again();
    alice = await grid.as('alice');
  };
  const isGone = (pid = 0) => commandOf(pid) === '';

  it('is started again when it was killed, and goes on with its runs', async () => {
    const job = await begin('killed');
    const first = grid.ownWorker();
    await grid.killOwnWorker();
    await eventually(
      () => Promise.resolve(![undefined, first].includes(grid.ownWorker())),
      'another',
    );
    job.goOn();
    await job.isWhole();
  });

  it('goes on without the service, ends what takes too long, and ends when it has nothing left', async () => {
    const [whole, late] = [await begin('without'), await begin('late', { WallTime: 5 })];
    await grid.stop();
    const worker = grid.ownWorker();
    whole.goOn();
    await eventually(() => Promise.resolve(programs().length === 0), 'the end of both');
    await eventually(() => Promise.resolve(isGone(worker)), 'the end of the worker');
    await again();
    await whole.isWhole();
    expect(await awaitStatus(alice, late.jid, ['Done', 'Failed'])).toMatchObject({
      status: 'Failed',
      minorStatus: 'Job has exceeded maximum wall clock time',
    });
  });

  it('is replaced by that of the next start after a kill of the service, which finds its runs', async () => {
    const job = await begin('replaced');
    const first = grid.ownWorker();
    await grid.kill({ isWorkerSpared: true });
    expect(grid.ownWorker()).toBe(first);
    await again();
    await eventually(
      () => Promise.resolve(![undefined, first].includes(grid.ownWorker())),
      'another',
    );
    await eventually(() => Promise.resolve(isGone(first)), 'the end of the first');
    job.goOn();
    await job.isWhole();
  });

  it('takes over what a service of an earlier release has begun', async () => {
    const job = await begin('taken');
    await grid.kill();
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    await grid.sql('update jobs set run_reference = $1 where jid = $2', [boot, job.jid]);
    const { path: runs } = await runRootOf(grid.home);
    for (const name of readdirSync(runs).filter((one) => one.startsWith(`${job.jid}.`))) {
      rmSync(join(runs, name, 'order'));
    }
    await again();
    job.goOn();
    await job.isWhole();
  });

  it('ends with the service when it has no run', async () => {
    const worker = await eventually(() => Promise.resolve(grid.ownWorker()), 'the worker');
    await grid.stop();
    await eventually(() => Promise.resolve(isGone(worker)), 'its end');
    await again();
  });

  it('is alone at its socket, which opens its own routes', async () => {
    await eventually(() => Promise.resolve(grid.ownWorker()), 'the worker');
    expect(statSync(join(grid.home, 'worker')).mode & 0o777).toBe(0o700);
    const call = async (method: string, path: string, body?: object) => {
      const message = request({ socketPath: join(grid.home, 'worker', 'socket'), method, path });
      if (body) message.setHeader('Content-Type', 'application/json');
      message.end(body && JSON.stringify(body));
      const answer = await new Promise<IncomingMessage>((done) => message.once('response', done));
      const { code } = JSON.parse((await text(answer)) || '{}') as { code?: string };
      return `${answer.statusCode} ${code}`;
    };
    const other = '5a9c8f3e-2d41-4b7a-9c55-0e6d1f2a3b4c';
    const words = { protocol: 2, name: 'x', version: '1' };
    expect([
      await call('POST', `/workers/${other}/reports`, { reports: [] }),
      await call('PUT', `/workers/${executorId()}`, words),
      await call('GET', '/jobs'),
      await call('GET', '/admin/workers'),
    ]).toEqual([
      '404 worker.not-found',
      '409 worker.protocol-unknown',
      '401 auth.token-missing',
      '401 auth.token-missing',
    ]);
    const report = await grid.anonymous.post(`/workers/${executorId()}/reports`, {
      json: { reports: [] },
    });
    expect(report.status).toBe(401); // over HTTPS it is nobody's
  });

  it('is in no list of workers, and cannot be removed', async () => {
    const adam = grid.bearer(await grid.token('adam', 'grid_adm', 'Prod', 'admin'));
    expect((await adam.get('/admin/workers')).body).toEqual({ workers: [] });
    expect((await adam.delete(`/admin/workers/${executorId()}`)).status).toBe(404);
    expect((await adam.post(`/admin/workers/${executorId()}/drain`)).status).toBe(404);
  });
});
