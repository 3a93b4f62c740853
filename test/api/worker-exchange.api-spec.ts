import { FormData } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RunReport } from '#src/jobs/workers/exchange/protocol.js';
import { awaitFinal, parametersOf, pastOf, sandboxOf, show, submit } from '../support/jobs.js';
import { archiveOf, PlayedWorker } from '../support/played-worker.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

let grid: Grid;
let alice: GridClient;
let bob: GridClient;
let sites = 0;
let site: string;

const job = (more: object = {}): object => ({ Executable: '/bin/true', Site: site, ...more });

beforeAll(async () => {
  grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'info' } });
  alice = await grid.as('alice');
  bob = await grid.as('bob');
});
afterAll(() => grid?.remove());
beforeEach(async () => {
  site = `WORKERS.s${(sites += 1)}`;
  await addWorkerSite(grid, site);
});

/** Waits until the claim of this number has begun. */
async function whenClaimed(worker: PlayedWorker, seq: number): Promise<void> {
  await eventually(async () => {
    const [row] = await grid.sql<{ seq: string }>('select seq from worker where id = $1', [
      worker.id,
    ]);
    return row?.seq === String(seq) || undefined;
  }, 'the claim to wait');
}

describe('a run of a worker', () => {
  it('is claimed, begins with the permission, and ends with its output', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [
      job({ Arguments: 'a b', Number: 1.5, OutputSandbox: ['std.out'] }),
    ]);
    const runs = await worker.take(5);
    const run = `${jid}.1`;
    expect(runs).toEqual([
      {
        run,
        site,
        setup: 'Prod',
        owner: 'alice',
        ownerGroup: 'grid_user',
        cpuTime: 86_400,
        manifest: expect.objectContaining({ Executable: '/bin/true', Arguments: 'a b' }),
      },
    ]);
    expect(await show(alice, jid)).toMatchObject({ status: 'Matched', site });
    expect(await worker.report({ run, kind: 'starting' })).toEqual([{ run, go: true }]);
    expect(await worker.report({ run, kind: 'starting' })).toEqual([{ run, go: true }]);
    expect(await show(alice, jid)).toMatchObject({ status: 'Running' });
    const archive = (await archiveOf({ 'std.out': 'hello\n' })).toString('base64');
    const end: RunReport = {
      ...{ run, kind: 'ended', wallSeconds: 0, cpuSeconds: 0.5, exitCode: 0 },
      ...{ host: 'node7', isolation: 'namespaces', output: { archive } },
    };
    expect(await worker.report(end)).toEqual([{ run, forget: true }]);
    expect(await worker.report(end, { run, kind: 'lost', app: 'x' })).toEqual([
      { run, forget: true },
    ]);
    expect(await show(alice, jid)).toMatchObject({ status: 'Done' });
    expect(await pastOf(alice, jid)).toEqual([
      ...['Received', 'Checking', 'Waiting', 'Matched', 'Running', 'Completing', 'Completed'],
      'Done',
    ]);
    expect(await sandboxOf(alice, jid)).toEqual({ 'std.out': 'hello\n' });
    expect(await parametersOf(alice, jid)).toMatchObject({
      ...{ HostName: 'node7', BatchSystem: 'worker', Isolation: 'namespaces', ExitCode: 0 },
    });
  });

  it('fails with what the worker says, in the words of the service', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const jids = await submit(alice, [job(), job(), job(), job()]);
    const runs = (await worker.take(5)).map((one) => one.run);
    await worker.report(...runs.slice(0, 3).map((run) => ({ run, kind: 'starting' }) as const));
    const [a = '', b = '', c = '', d = ''] = runs;
    const failure = { minor: 'Job has exceeded maximum memory', app: 'Used more than 5 MiB' };
    const answers = await worker.report(
      { run: a, kind: 'ended', failure, wallSeconds: 1 },
      { run: b, kind: 'ended', failure: { minor: 'Words of its own' } },
      { run: c, kind: 'lost', app: 'Its machine was started again' },
      { run: d, kind: 'refused', minor: 'Application not found', app: '/bin/true' },
    );
    expect(answers).toEqual(runs.map((run) => ({ run, forget: true })));
    const ends = await awaitFinal(alice, jids);
    expect(
      ends.map(({ status, minorStatus, appStatus }) => [status, minorStatus, appStatus]),
    ).toEqual([
      ['Failed', failure.minor, failure.app],
      ['Failed', 'Application Finished With Errors', 'Unknown'],
      ['Failed', 'Job stalled: pilot not running', 'Its machine was started again'],
      ['Failed', 'Application not found', '/bin/true'],
    ]);
  });

  it('goes back to the queue when it was not started', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [job()]);
    const [first] = await worker.take(1);
    const back = { run: first?.run ?? '', kind: 'returned', reason: 'no room' } as const;
    expect(await worker.report(back)).toEqual([{ run: `${jid}.1`, forget: true }]);
    const [second] = await worker.take(1);
    expect(second?.run).toBe(`${jid}.2`);
    expect(await worker.report({ run: `${jid}.1`, kind: 'starting' })).toEqual([
      { run: `${jid}.1`, forget: true },
    ]);
    expect(await show(alice, jid)).toMatchObject({ status: 'Matched' });
  });

  it('brings what does not fit into a report by itself, and takes its input', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const form = new FormData();
    form.append(
      'manifest',
      JSON.stringify(job({ InputSandbox: ['in.txt'], OutputSandbox: ['*'] })),
    );
    form.append('in.txt', new File(['input'], 'in.txt'));
    const { body } = await alice.post<{ jids: number[] }>('/jobs', { multipart: form });
    const [jid = 0] = body.jids;
    const [{ run, inputSandbox } = { run: '', inputSandbox: '' }] = await worker.take(1);
    expect(inputSandbox).toMatch(/^[0-9a-f]{64}$/);
    const input = await worker.call('GET', `runs/${run}/input`);
    expect(input.status).toBe(200);
    await worker.report({ run, kind: 'starting' });
    const output = await archiveOf({ 'big.bin': 'x'.repeat(200_000) });
    const put = await worker.call('PUT', `runs/${run}/output`, { body: output });
    expect(put.status).toBe(204);
    await worker.report({ run, kind: 'ended', wallSeconds: 0, output: { put: true } });
    await awaitFinal(alice, [jid]);
    expect(await sandboxOf(alice, jid)).toEqual({ 'big.bin': 'x'.repeat(200_000) });
  });

  it('has no output of another attempt', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [job()]);
    const [{ run } = { run: '' }] = await worker.take(1);
    await worker.report({ run, kind: 'starting' });
    const body = await archiveOf({ a: 'first' });
    expect((await worker.call('PUT', `runs/${run}/output`, { body })).status).toBe(204);
    await worker.report({ run, kind: 'returned' });
    const [{ run: next } = { run: '' }] = await worker.take(1);
    await worker.report({ run: next, kind: 'starting' });
    await worker.report({ run: next, kind: 'ended', output: { put: true } });
    await awaitFinal(alice, [jid]);
    expect((await alice.get(`/jobs/${jid}/outputsandbox`)).status).toBe(404);
  });
});

describe('a claim', () => {
  it('brings a run again whose answer was lost, forgets what is not the worker’s, and loses what it does not name', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0, begun = 0] = await submit(alice, [job(), job()]);
    const lost = await worker.take(2);
    expect(lost.map(({ run }) => run)).toEqual([`${jid}.1`, `${begun}.1`]);
    const again = await worker.claim({ holding: ['77.1'] });
    expect(again.body).toEqual({ runs: lost, stop: [], forget: ['77.1'], isDrained: false });
    await worker.report({ run: `${begun}.1`, kind: 'starting' });
    const { body } = await worker.claim({ holding: [`${jid}.1`] });
    expect(body).toEqual({ runs: [], stop: [], forget: [], isDrained: false });
    expect(await show(alice, begun)).toMatchObject({
      ...{ status: 'Failed', minorStatus: 'Job stalled: pilot not running' },
      appStatus: 'Nothing is left of the run on its machine',
    });
  });

  it('waits for work, and is answered when a job comes', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const waiting = worker.claim({ most: 1, wait: 25 });
    await whenClaimed(worker, 1);
    const [jid] = await submit(alice, [job()]);
    expect((await waiting).body.runs.map(({ run }) => run)).toEqual([`${jid}.1`]);
  });

  it('is ended by a kill, and is told to stop once', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [job()]);
    const [{ run } = { run: '' }] = await worker.take(1);
    await worker.report({ run, kind: 'starting' });
    const waiting = worker.claim({ holding: [run], wait: 25 });
    expect((await alice.call('DELETE', `/jobs/${jid}`)).status).toBe(200);
    expect((await waiting).body).toEqual({ runs: [], stop: [run], forget: [], isDrained: false });
    const next = await worker.claim({ holding: [run], stopping: [run] });
    expect(next.body).toEqual({ runs: [], stop: [], forget: [], isDrained: false });
    const archive = (await archiveOf({ 'std.out': 'half' })).toString('base64');
    expect(await worker.report({ run, kind: 'ended', output: { archive } })).toEqual([
      { run, forget: true },
    ]);
    expect(await show(alice, jid)).toMatchObject({ status: 'Killed' });
    expect(await sandboxOf(alice, jid)).toEqual({ 'std.out': 'half' });
  });

  it('with a number that is not above the last one decides nothing', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    await worker.claim({ seq: 7 });
    await submit(alice, [job()]);
    for (const seq of [7, 6]) {
      const { status, body } = await worker.claim({ seq, most: 1 });
      expect([status, body]).toEqual([
        409,
        expect.objectContaining({ code: 'worker.claim-outdated' }),
      ]);
    }
    expect((await worker.claim({ seq: 8, most: 1 })).body.runs).toHaveLength(1);
  });

  it('ends an older one of the same worker', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const older = worker.claim({ wait: 25 });
    await whenClaimed(worker, 1);
    const newer = worker.claim({ wait: 1 });
    const empty = { runs: [], stop: [], forget: [], isDrained: false };
    expect((await older).body).toEqual(empty);
    expect((await newer).body).toEqual(empty);
  });

  it('is ended by word of a newer one on another instance, and not by word of itself', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const word = (seq: number): Promise<object[]> =>
      grid.sql(`select pg_notify('workers', $1)`, [`${worker.id} ${seq}`]);
    const first = worker.claim({ most: 1, wait: 25 });
    await whenClaimed(worker, 1);
    await word(1);
    const [jid] = await submit(alice, [job()]);
    expect((await first).body.runs.map(({ run }) => run)).toEqual([`${jid}.1`]);
    let isAnswered = false;
    const second = worker
      .claim({ holding: [`${jid}.1`], wait: 25 })
      .finally(() => (isAnswered = true));
    const said = async (): Promise<boolean> => (await word(3)).length > 0 && isAnswered;
    await eventually(said, 'the claim to be ended before its time', 15_000);
    expect((await second).body).toEqual({ runs: [], stop: [], forget: [], isDrained: false });
  });

  it('gives runs of one owner alone where jobs can touch each other', async () => {
    const alone = await PlayedWorker.registered(grid, site, { isolation: 'none' });
    const apart = await PlayedWorker.registered(grid, site, { isolation: 'namespaces' });
    await submit(alice, [job(), job()]);
    await submit(bob, [job(), job()]);
    const owners = async (worker: PlayedWorker, most: number): Promise<string[]> =>
      (await worker.take(most)).map(({ owner }) => owner).sort();
    const first = await owners(alone, 4);
    expect([
      ['alice', 'alice'],
      ['bob', 'bob'],
    ]).toContainEqual(first);
    const other = first[0] === 'alice' ? bob : alice;
    const { body } = await alone.claim({ most: 4, holding: await heldBy(alone) });
    expect(body.runs).toEqual([]);
    await submit(other === bob ? alice : bob, [job()]);
    expect(await owners(apart, 3)).toHaveLength(3);
  });

  it('of a drained worker is told so once, and gets nothing', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [job()]);
    const [{ run } = { run: '' }] = await worker.take(1);
    await submit(alice, [job()]);
    await grid.sql('update worker set draining_at = now() where id = $1', [worker.id]);
    const drained = { runs: [], stop: [], forget: [], isDrained: true };
    expect((await worker.claim({ holding: [run], most: 1, wait: 25 })).body).toEqual(drained);
    const waiting = worker.claim({ holding: [run], most: 1, isDraining: true, wait: 25 });
    expect((await alice.call('DELETE', `/jobs/${jid}`)).status).toBe(200);
    expect((await waiting).body).toEqual({ ...drained, stop: [run] });
  });

  it('keeps no room for a job that the worker could never hold', async () => {
    const facts = { isolation: 'namespaces', processors: 4, ramMB: 16_000 };
    const worker = await PlayedWorker.registered(grid, site, facts);
    const [large = 0, small = 0] = await submit(alice, [job({ NumberOfProcessors: 64 }), job()]);
    await grid.sql(`update jobs set last_update = now() - interval '1 day' where jid = $1`, [
      large,
    ]);
    expect((await worker.take(4)).map(({ run }) => run)).toEqual([`${small}.1`]);
  });

  it('that waits gets nothing when the worker was drained or removed meanwhile', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const waiting = worker.claim({ most: 1, wait: 2 });
    await whenClaimed(worker, 1);
    await grid.sql('update worker set draining_at = now() where id = $1', [worker.id]);
    const [jid = 0] = await submit(alice, [job()]);
    expect((await waiting).body.runs).toEqual([]);
    expect(await show(alice, jid)).toMatchObject({ status: 'Waiting' });
  });

  it('gives no more than fits', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    await submit(alice, [job({ NumberOfProcessors: 3 }), job({ NumberOfProcessors: 2 }), job()]);
    const free = { processors: 4, ramMB: 1_000 };
    const { body } = await worker.claim({ most: 10, free });
    expect(body.runs.map(({ manifest }) => manifest['NumberOfProcessors'])).toEqual([3, undefined]);
  });

  const heldBy = async (worker: PlayedWorker): Promise<string[]> => {
    const rows = await grid.sql<{ run: string }>(
      `select jid || '.' || attempt as run from jobs where executor = $1`,
      [`worker:${worker.id}`],
    );
    return rows.map(({ run }) => run);
  };
});

describe('a worker that lies', () => {
  it('has nothing of the runs of others', async () => {
    const [mine, theirs] = await Promise.all([
      PlayedWorker.registered(grid, site),
      PlayedWorker.registered(grid, site),
    ]);
    const [jid = 0] = await submit(alice, [job({ InputSandbox: [] })]);
    const [{ run } = { run: '' }] = await theirs.take(1);
    await theirs.report({ run, kind: 'starting' });
    const kinds = [
      { run, kind: 'starting' },
      { run, kind: 'ended' },
      { run, kind: 'returned' },
      { run, kind: 'refused', minor: 'x', app: 'x' },
      { run, kind: 'lost', app: 'x' },
    ] as const;
    for (const report of kinds) expect(await mine.report(report)).toEqual([{ run, forget: true }]);
    const body = await archiveOf({ a: 'b' });
    const tries = await Promise.all([
      mine.call('GET', `runs/${run}/input`),
      mine.call('PUT', `runs/${run}/output`, { body }),
      mine.call('POST', `runs/${run}/token`),
      mine.call('GET', 'runs/1.1/input'),
      mine.call('GET', `runs/${encodeURIComponent("1' or 1=1")}/input`),
    ]);
    expect(tries.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const { body: answer } = await mine.claim({ holding: [run] });
    expect(answer.forget).toEqual([run]);
    expect(await show(alice, jid)).toMatchObject({ status: 'Running' });
  });

  it('cannot end what it was given and has not begun, nor write what is no report', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [job()]);
    const [{ run } = { run: '' }] = await worker.take(1);
    await worker.report({ run, kind: 'ended' });
    expect(await show(alice, jid)).toMatchObject({ status: 'Waiting' });
    const bad: [unknown, string, string][] = [
      [{ run, kind: 'won' }, 'reports.0.kind', 'is no kind of report'],
      [null, 'reports.0.kind', 'is no kind of report'],
      [{ run: '1', kind: 'starting' }, 'reports.0.run', expect.any(String) as never],
      [{ run, kind: 'starting', x: 1 }, 'reports.0.x', 'is not known; known are run, kind'],
      [{ run, kind: 'lost' }, 'reports.0.app', 'is missing'],
    ];
    for (const [report, field, problem] of bad) {
      const { status, body } = await worker.call('POST', 'reports', {
        json: { reports: [report] },
      });
      expect([status, body.violations]).toEqual([400, [{ field, problem }]]);
    }
    const many = Array.from({ length: 201 }, () => ({ run, kind: 'starting' }));
    const { body } = await worker.call('POST', 'reports', { json: { reports: many } });
    expect(body.violations).toEqual([{ field: 'reports', problem: 'has more than 200' }]);
  });

  it('keeps one archive for a run, and gets no token or input of a killed one', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [job()]);
    const [{ run } = { run: '' }] = await worker.take(1);
    const archive = (await archiveOf({ a: 'unbegun' })).toString('base64');
    const sandboxes = (): Promise<object[]> => grid.sql('select hash from job_sandboxes');
    const before = (await sandboxes()).length;
    await worker.report({ run, kind: 'ended', output: { archive } });
    const body = await archiveOf({ a: 'unbegun' });
    const [{ run: next } = { run: '' }] = await worker.take(1);
    expect((await worker.call('PUT', `runs/${next}/output`, { body })).status).toBe(404);
    expect(await sandboxes()).toHaveLength(before);
    await worker.report({ run: next, kind: 'starting' });
    const together = await Promise.all(
      [1, 2].map(async () => {
        const first = await archiveOf({ a: 'first' });
        return (await worker.call('PUT', `runs/${next}/output`, { body: first })).status;
      }),
    );
    // The second one is told to come again, unless the first has arrived already.
    expect([
      [204, 204],
      [204, 503],
    ]).toContainEqual(together.sort());
    for (const text of ['second', 'third']) {
      const body = await archiveOf({ a: text });
      expect((await worker.call('PUT', `runs/${next}/output`, { body })).status).toBe(204);
    }
    expect(await sandboxes()).toHaveLength(before + 1);
    await alice.call('DELETE', `/jobs/${jid}`);
    for (const [method, what] of [
      ['GET', 'input'],
      ['POST', 'token'],
    ]) {
      expect((await worker.call(method ?? '', `runs/${next}/${what}`)).status).toBe(404);
    }
    await worker.report({ run: next, kind: 'ended', output: { put: true } });
    expect(await sandboxOf(alice, jid)).toEqual({ a: 'first' });
  });

  it('is told that its output is refused when it is no archive', async () => {
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [job()]);
    const [{ run } = { run: '' }] = await worker.take(1);
    await worker.report({ run, kind: 'starting' });
    const body = Buffer.from('no archive');
    expect((await worker.call('PUT', `runs/${run}/output`, { body })).status).toBe(400);
    await worker.report({ run, kind: 'ended', output: { archive: body.toString('base64') } });
    expect(await show(alice, jid)).toMatchObject({
      ...{ status: 'Failed', minorStatus: 'Uploading Output Sandbox' },
      appStatus: 'The output is refused: archive: is not a whole tar.gz',
    });
  });
});
