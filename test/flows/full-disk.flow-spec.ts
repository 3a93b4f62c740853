import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormData } from 'undici';
import { openRunRoot } from '#src/worker/runs/run-root.js';
import { leftovers, type Traces } from '../support/faults/leftovers.js';
import { SmallDisk } from '../support/full-disk/small-disk.js';
import { awaitFinal, show, submit } from '../support/jobs.js';
import {
  eventually,
  startGrid,
  support,
  type Answer,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const MIB = 1024 * 1024;
const DISK_BYTES = 24 * MIB;
/** Of the caller, at work at once: a request that is never answered is soon missed. */
const CONCURRENCY = 4;
const SLOTS = 4;
/** Nothing fits, then one thing after the other. */
const FREE_PAGES = [0, 1, 2, 4, 8, 20, 100];
/** Nobody else on the machine has these, so whatever is theirs is a job's of this test. */
const FIRST = 30_000_000 + process.pid * 100;
const ACCOUNTS = { first: FIRST, last: FIRST + 99 };
const PLACES = ['home', 'store', 'runs'] as const;
/** Ends well wherever it cannot write. */
const QUIET = { Executable: '/bin/sh', Arguments: ['-c', 'sleep 0.05'] };

const isPossible = SmallDisk.isPossible();
if (!isPossible)
  process.stdout.write('full-disk: left out, it takes root and the right to mount\n');

/** What of an installation is on a small disk. */
class Installation {
  private constructor(
    readonly grid: Grid,
    readonly disk: SmallDisk,
    readonly traces: Traces,
    private readonly folder: string,
  ) {}

  static async start(place: (typeof PLACES)[number], minFreeBytes = 0): Promise<Installation> {
    const folder = mkdtempSync(join(tmpdir(), 'grid-full-'));
    chmodSync(folder, 0o711);
    const home = join(folder, 'home');
    const store = place === 'store' ? join(folder, 'store') : join(home, 'sandboxes');
    if (place !== 'home') mkdirSync(home, { mode: 0o711 });
    const at = { home, store, runs: join(home, 'jobs') }[place];
    const disk = SmallDisk.mount(at, DISK_BYTES);
    cpSync(support().pki, join(home, 'pki'), { recursive: true });
    const grid = await startGrid({
      ownProcess: true,
      env: {
        GRID_HOME: home,
        GRID_SANDBOX_STORE: store,
        GRID_LOCAL_MIN_FREE: String(minFreeBytes),
        GRID_LOCAL_ACCOUNTS: `${ACCOUNTS.first}-${ACCOUNTS.last}`,
        GRID_LOCAL_SLOTS: String(SLOTS),
        GRID_JOB_LEASE: '5',
        GRID_CALLER_CONCURRENCY: String(CONCURRENCY),
        GRID_LOG_LEVEL: 'warn',
      },
    });
    const { path, executorId } = await openRunRoot(home, true);
    const traces = {
      accounts: ACCOUNTS,
      runs: [path],
      executors: [executorId],
      spools: [join(store, 'spool')],
      names: `left-${FIRST}-`,
    };
    return new Installation(grid, disk, traces, folder);
  }

  /** Names of drafts in the sandbox store, which nobody will ever ask for. */
  drafts(): string[] {
    const store = join(this.traces.spools[0] ?? '', '..');
    return (readdirSync(store, { recursive: true }) as string[]).filter((name) =>
      name.includes('.tar.gz.'),
    );
  }

  async remove(): Promise<void> {
    this.disk.empty();
    await this.grid.remove();
    this.disk.unmount();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function formOf(bytes: number): FormData {
  const form = new FormData();
  form.append('manifest', JSON.stringify(QUIET));
  form.append('files', new Blob([randomBytes(bytes)]), 'first.dat');
  form.append('files', new Blob([randomBytes(bytes)]), 'second.dat');
  return form;
}

/** Every kind of request for which something may be written; the ids of the jobs that were taken. */
async function everything(alice: GridClient, fred: GridClient, round: string): Promise<Answer[]> {
  const lines = Array.from({ length: 3 }, () =>
    JSON.stringify({ ...QUIET, Pad: 'x'.repeat(50_000) }),
  );
  const ndjson = { 'content-type': 'application/x-ndjson' };
  const many = `${lines.join('\n')}\n`;
  const entry = JSON.stringify({ op: 'mkdir', path: `/vo/full-${round}` });
  return Promise.all([
    ...Array.from({ length: 3 }, () => alice.post('/jobs', { multipart: formOf(2_000) })),
    ...Array.from({ length: CONCURRENCY }, () =>
      alice.post('/jobs', { multipart: formOf(300_000) }),
    ),
    alice.post('/jobs', { json: QUIET }),
    alice.post('/jobs', { body: many, headers: ndjson }),
    alice.post('/jobs', { query: { dryRun: true }, multipart: formOf(100_000) }),
    fred.post('/filecatalogue/bulk', { body: entry, headers: ndjson }),
    fred.get('/filecatalogue/directory/Lw/search'),
    alice.get('/jobs', { query: { maxJobs: 10 } }),
  ]);
}

/** Status of an answer, and what else must be right of a refusal. */
function judged({ status, headers, body }: Answer): unknown {
  if (status === 200) return 'answered';
  const isRefused = status === 503 && body.code === 'service.unavailable';
  return isRefused && headers['retry-after'] === '10' ? 'refused' : { status, body };
}

(isPossible ? describe.each(PLACES) : describe.skip.each(PLACES))('a full disk: %s', (place) => {
  let at: Installation;
  let alice: GridClient;
  let fred: GridClient;
  const jids: number[] = [];
  beforeAll(async () => {
    at = await Installation.start(place);
    alice = await at.grid.as('alice');
    fred = await at.grid.as('fred');
  });
  afterEach(() => at.disk.empty());
  afterAll(() => at?.remove());

  /** The same clients after a start. */
  const again = async (): Promise<void> => {
    const grid = await at.grid.again();
    Object.assign(at, { grid });
    alice = await grid.as('alice');
    fred = await grid.as('fred');
  };
  const states = (): Promise<object[]> =>
    at.grid.sql(
      `select jid, status, minor_status, app_status, executor from jobs
        where jid = any ($1) and (status <> 'Done' or executor is not null)`,
      [jids],
    );

  /** Nobody is locked out: twice as many as may be at work at once are answered. */
  async function isOpenToAll(): Promise<void> {
    const answers = await Promise.all(
      Array.from({ length: 2 * CONCURRENCY }, () =>
        alice.post('/jobs', { multipart: formOf(1_000) }),
      ),
    );
    expect(answers.map(judged)).toEqual(answers.map(() => 'answered'));
    for (const { body } of answers) jids.push(...body.jids);
  }

  it.each(FREE_PAGES)(
    'answers every request with %d pages free, and all when there is room',
    async (pages) => {
      at.disk.fill(pages);
      const answers = await everything(alice, fred, String(pages));
      for (const answer of answers) expect(['answered', 'refused']).toContainEqual(judged(answer));
      for (const { body } of answers) jids.push(...(body.jids ?? []));
      at.disk.empty();
      await isOpenToAll();
    },
  );

  it('says so while it is full: probes, metrics', async () => {
    const { status, body } = await eventually(async () => {
      at.disk.fill(); // jobs that end give room back
      const answer = await at.grid.anonymous.get('/health/ready');
      return (place === 'runs') === (answer.body.status === 'ready') ? answer : undefined;
    }, 'what the probe says');
    const full = 'files cannot be written: its disk is full';
    const checks = {
      database: 'ok',
      migrations: 'ok',
      signingKey: 'ok',
      home: 'ok',
      sandboxes: 'ok',
    };
    const told = {
      home: { ...checks, home: full, sandboxes: full },
      store: { ...checks, sandboxes: full },
      runs: checks,
    };
    expect({ status, checks: body.checks }).toEqual({ status: 200, checks: told[place] });
    const metrics = (await at.grid.anonymous.get<string>('/metrics')).body;
    expect(metrics).toContain(
      `gridgate_disk_writable{place="sandboxes"} ${place === 'runs' ? 1 : 0}`,
    );
    expect(metrics).toContain(`gridgate_disk_writable{place="home"} ${place === 'home' ? 0 : 1}`);
  });

  it('runs all jobs to their good end, however they met the full disk, and leaves nothing', async () => {
    await awaitFinal(alice, jids, 180_000).catch(() => undefined);
    const isOver = async (): Promise<boolean> => (await states()).length === 0;
    await eventually(isOver, 'all jobs to be let go of', 60_000).catch(() => undefined);
    expect(await states()).toEqual([]);
    const isClean = async (): Promise<boolean> => (await leftovers(at.traces)).length === 0;
    await eventually(isClean, 'nothing to be left', 60_000).catch(() => undefined);
    expect(await leftovers(at.traces)).toEqual([]);
    expect(at.drafts()).toEqual([]);
  });

  const startsOn = place === 'store' ? it.skip : it;
  startsOn(
    'keeps jobs waiting that cannot be started, says why, and starts them when there is room',
    async () => {
      at.disk.fill();
      const [jid = 0] = await submit(alice, [QUIET]);
      const reason =
        'It cannot be used now: jobs cannot be started on the machine: its disk is full';
      const why = await eventually(async () => {
        at.disk.fill();
        const { body } = await alice.get(`/jobs/${jid}/explain`);
        return body.waitsFor.includes('its disk is full') ? body : undefined;
      }, 'the reason');
      expect(why.status).toBe('Waiting');
      expect(why.waitsFor).toContain(reason);
      const adam = at.grid.bearer(await at.grid.token('adam', 'grid_adm', 'Prod', 'admin'));
      const { body } = await adam.get('/admin/sites');
      expect(body.sites.map(({ fault }: { fault?: string }) => fault)).toContain(reason);
      const metrics = await at.grid.anonymous.get<string>('/metrics');
      expect(metrics.body).toContain('gridgate_local_jobs_paused 1');
      at.disk.empty();
      expect(await awaitFinal(alice, [jid], 120_000)).toMatchObject([{ status: 'Done' }]);
    },
  );

  it('finds every job again after it was killed while its disk was full', async () => {
    const holder = { ...QUIET, Arguments: ['-c', 'sleep 600'] };
    const holders = await submit(alice, Array(SLOTS).fill(holder));
    const all = async (): Promise<boolean> => {
      const jobs = await Promise.all(holders.map((jid) => show(alice, jid)));
      return jobs.every(({ status }) => status === 'Running');
    };
    await eventually(all, 'jobs to have all slots');
    // What those who wait bring with them is more than the ones that hold the slots leave free.
    const waiting = await Promise.all(
      Array.from({ length: 8 }, () => alice.post('/jobs', { multipart: formOf(300_000) })),
    );
    const own = [...holders, ...waiting.flatMap(({ body }) => body.jids as number[])];
    at.disk.fill();
    await Promise.all(holders.map((jid) => alice.delete(`/jobs/${jid}`)));
    const isMet = async (): Promise<boolean> => {
      at.disk.fill();
      const { body } = await at.grid.anonymous.get<string>('/metrics');
      return body.includes('gridgate_local_jobs_paused 1');
    };
    await eventually(isMet, 'the full disk to be met');
    await Promise.all(own.slice(-3).map((jid) => alice.delete(`/jobs/${jid}`)));
    await at.grid.kill();
    at.disk.empty();
    await again();
    const ends = await awaitFinal(alice, own, 180_000);
    const ended = (status: string): boolean => status === 'Done' || status === 'Killed';
    expect(ends.filter(({ status }) => !ended(status))).toEqual([]);
    const isClean = async (): Promise<boolean> => (await leftovers(at.traces)).length === 0;
    await eventually(isClean, 'nothing to be left', 60_000).catch(() => undefined);
    expect(await leftovers(at.traces)).toEqual([]);
  });
});

(isPossible ? describe : describe.skip)('a disk with less room than jobs are to have', () => {
  let at: Installation;
  beforeAll(async () => {
    at = await Installation.start('runs', 16 * MIB);
  });
  afterAll(() => at?.remove());

  it('starts no job, says so, and goes on when there is room', async () => {
    const alice = await at.grid.as('alice');
    at.disk.fill(1_000);
    const isPaused = async (): Promise<boolean> =>
      (await at.grid.anonymous.get<string>('/metrics')).body.includes(
        'gridgate_local_jobs_paused 1',
      );
    await eventually(isPaused, 'no job to be started');
    const [jid = 0] = await submit(alice, [QUIET]);
    const why = await eventually(async () => {
      const { body } = await alice.get(`/jobs/${jid}/explain`);
      return body.waitsFor.includes('GRID_LOCAL_MIN_FREE') ? body : undefined;
    }, 'the reason');
    expect(why).toMatchObject({ jid, status: 'Waiting' });
    expect(why.waitsFor).toContain(
      'It cannot be used now: the disk for jobs has less than 16 MiB free (GRID_LOCAL_MIN_FREE)',
    );
    const { body } = await alice.get(`/jobs/${jid}/history`);
    expect(body.history.map(({ status }: { status: string }) => status)).not.toContain('Matched');
    at.disk.empty();
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
  });
});
