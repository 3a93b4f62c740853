import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CliContext } from '../../src/cli/admin/context.js';
import { Reaper } from '../../src/jobs/housekeeping/reaper.js';
import { DispatchRepository } from '../../src/jobs/matching/dispatch.repository.js';
import { JobsRepository } from '../../src/jobs/state/jobs.repository.js';
import type { WorkerEntity } from '../../src/jobs/workers/worker.entity.js';
import { WorkersRepository } from '../../src/jobs/workers/workers.repository.js';
import { WorkerClaims } from '../../src/jobs/workers/exchange/worker-claims.js';
import { WorkerReports } from '../../src/jobs/workers/exchange/worker-reports.js';
import type { RunKey, RunReport } from '../../src/jobs/workers/exchange/protocol.js';
import { Database } from '../../src/database/index.js';
import type { Config } from '../../src/config/index.js';
import { RegistryService } from '../../src/registry/index.js';
import { Scheduler } from '../../src/runtime/index.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

/** Each job is a history of its own: what happens to it and to its workers is drawn by the seed. */
const JOBS = Number(process.env['GRID_MODEL_JOBS'] ?? 10_000);
const SEED = Number(process.env['GRID_MODEL_SEED'] ?? 7);
const WORKERS = 12;
const SITE = 'MODEL.example';
const GONE = 'Job stalled: pilot not running';
const NOT_NAMED = 'Nothing is left of the run on its machine';
/** Rounds in which nothing fails any more end all jobs that can end. */
const MOST_QUIET_ROUNDS = 400;

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One instance of the service, as far as workers see it. */
interface Instance {
  claims: WorkerClaims;
  reports: WorkerReports;
}

/** What all workers did, by the names of runs. */
class Record {
  readonly starts = new Map<RunKey, number>();
  readonly holders = new Map<RunKey, Set<string>>();
  readonly ends = new Map<RunKey, 'good' | 'bad'>();
  /** Runs that went down with a disk. */
  readonly gone = new Set<RunKey>();

  start(run: RunKey): void {
    this.starts.set(run, (this.starts.get(run) ?? 0) + 1);
  }

  hold(run: RunKey, worker: string): void {
    this.holders.set(run, (this.holders.get(run) ?? new Set()).add(worker));
  }
}

/** What a worker has of a run on its disk. */
interface RunOnDisk {
  /** The record that decides whether the program was started. */
  isStarted: boolean;
  end?: 'good' | 'bad';
  isStopped?: boolean;
}

/** A worker that keeps the rules of the protocol on a bad network and a bad machine. */
class ModelWorker {
  seq = 0;
  /** Survives a crash of the worker. */
  readonly disk = new Map<RunKey, RunOnDisk>();
  /** Runs that may start, by an answer; lost with the process. */
  private go = new Set<RunKey>();
  /** Requests that the network holds back. */
  private readonly late: (() => Promise<unknown>)[] = [];

  constructor(
    readonly row: WorkerEntity,
    private readonly record: Record,
    private readonly chance: () => number,
    private readonly instances: () => Instance,
  ) {}

  /** One thing that may happen next; with `isQuiet` nothing fails. */
  async step(isQuiet: boolean): Promise<void> {
    const what = isQuiet ? 1 : this.chance();
    if (what < 0.04) this.crash();
    else if (what < 0.05) this.reboot();
    else if (what < 0.12)
      await this.late
        .shift()?.()
        .catch(() => undefined);
    else if (what < 0.5) await this.claim(isQuiet);
    else await this.work(isQuiet);
    if (isQuiet) await this.claim(isQuiet);
  }

  private async claim(isQuiet: boolean): Promise<void> {
    const seq = (this.seq += 1);
    const holding = [...this.disk.keys()];
    const most = Math.max(0, 40 - holding.length);
    const stopping = holding.filter((run) => this.disk.get(run)?.isStopped);
    const free = { processors: most, ramMB: 100_000 };
    const request = { seq, most, holding, stopping, free, wait: 0.02 };
    const send = (): ReturnType<WorkerClaims['claim']> =>
      this.instances().claims.claim(this.row, request, new AbortController().signal);
    if (this.isHeldBack(isQuiet, send)) return;
    const answer = await send();
    if (!isQuiet && this.chance() < 0.1) return; // the answer is lost
    if (seq !== this.seq) return;
    for (const { run } of answer.runs) {
      this.record.hold(run, this.row.id);
      if (!this.disk.has(run)) this.disk.set(run, { isStarted: false });
    }
    for (const run of answer.forget) this.forget(run);
    for (const run of answer.stop) {
      const known = this.disk.get(run);
      if (known) known.isStopped = true;
    }
  }

  /** Reports all that is to be reported, and starts and ends programs. */
  private async work(isQuiet: boolean): Promise<void> {
    for (const run of this.go) {
      const known = this.disk.get(run);
      this.go.delete(run);
      if (!known || known.isStarted || known.isStopped) continue;
      known.isStarted = true;
      this.record.start(run);
    }
    for (const [run, known] of this.disk) {
      if (!known.isStarted || known.end || this.chance() < 0.3) continue;
      known.end = this.chance() < 0.8 ? 'good' : 'bad';
      this.record.ends.set(run, known.end);
    }
    const reports = [...this.disk].flatMap(([run, known]) => this.reportOf(run, known, isQuiet));
    if (reports.length === 0) return;
    const send = (): ReturnType<WorkerReports['write']> =>
      this.instances().reports.write(this.row, reports.slice(0, 200));
    if (this.isHeldBack(isQuiet, send)) return;
    if (!isQuiet && this.chance() < 0.1) await send(); // it arrives twice
    const answers = await send();
    if (!isQuiet && this.chance() < 0.1) return; // the answer is lost
    for (const { run, go, forget } of answers) {
      if (forget) this.forget(run);
      else if (go) this.go.add(run);
    }
  }

  private reportOf(run: RunKey, known: RunOnDisk, isQuiet: boolean): RunReport[] {
    const { isStarted, isStopped, end } = known;
    if (end === 'good') return [{ run, kind: 'ended', wallSeconds: 0 }];
    const failure = { minor: 'Application Finished With Errors' };
    if (end === 'bad') return [{ run, kind: 'ended', failure, wallSeconds: 0 }];
    if (isStarted) return isStopped ? [{ run, kind: 'ended', failure }] : [];
    if (isStopped || (!isQuiet && this.chance() < 0.05)) {
      // Nothing starts it from here on.
      known.isStopped = true;
      return [{ run, kind: 'returned' }];
    }
    return this.go.has(run) ? [] : [{ run, kind: 'starting' }];
  }

  private isHeldBack(isQuiet: boolean, send: () => Promise<unknown>): boolean {
    if (isQuiet || this.chance() > 0.1) return false;
    this.late.push(send);
    return true;
  }

  private forget(run: RunKey): void {
    this.disk.delete(run);
    this.go.delete(run);
  }

  /** kill -9 of the worker: what was only in its memory is gone. */
  private crash(): void {
    this.go = new Set();
  }

  /** The machine goes down, and its disk with all that it had. */
  private reboot(): void {
    this.crash();
    for (const run of this.disk.keys()) this.record.gone.add(run);
    this.disk.clear();
  }

  /** What the network still holds back arrives. */
  async flush(): Promise<void> {
    for (const send of this.late.splice(0)) await send().catch(() => undefined);
  }
}

describe(`${JOBS} histories of seed ${SEED} (GRID_MODEL_JOBS, GRID_MODEL_SEED)`, () => {
  let scratch: ScratchDatabase;
  let home: string;
  const contexts: CliContext[] = [];
  const instances: Instance[] = [];
  const record = new Record();
  const chance = random(SEED);
  let workers: ModelWorker[];
  let reaper: Reaper;
  let jobs: JobsRepository;
  let now = Date.now();

  beforeAll(async () => {
    scratch = await scratchDatabase();
    home = await mkdtemp(join(tmpdir(), 'grid-model-'));
    process.env['GRID_HOME'] = home;
    process.env['DATABASE_URL'] = scratch.url;
    process.env['GRID_ROLE'] = 'api';
    process.env['GRID_JOB_LEASE'] = '60';
    for (let index = 0; index < 2; index += 1) {
      const context = new CliContext();
      contexts.push(context);
      const claims = await context.get(WorkerClaims);
      claims.onApplicationBootstrap();
      instances.push({ claims, reports: await context.get(WorkerReports) });
    }
    const [context] = contexts as [CliContext];
    await scratch.dataSource.query(
      `insert into registry_site (name, position, backend, options) values ($1, 1, 'worker', '{}')`,
      [SITE],
    );
    jobs = await context.get(JobsRepository);
    reaper = new Reaper(
      { role: 'api', jobLease: 60, workerGiveUp: 300 } as Config,
      { now: () => now },
      await context.get(Scheduler),
      await context.get(Database),
      jobs,
      await context.get(DispatchRepository),
    );
    const repository = await context.get(WorkersRepository);
    workers = [];
    for (let index = 0; index < WORKERS; index += 1) {
      const id = crypto.randomUUID();
      await scratch.dataSource.query(
        `insert into worker (id, site, jkt, secret_id, name, version, protocol, facts, created_at, seen_at)
          values ($1::text::uuid, $2, $1::text, 'x', 'model', '0', 1, '{"isolation": "namespaces"}', now(), now())`,
        [id, SITE],
      );
      const row = (await repository.find(id)) as WorkerEntity;
      const own = random(SEED * 1_000 + index);
      const anyInstance = (): Instance => instances[own() < 0.5 ? 0 : 1] as Instance;
      workers.push(new ModelWorker(row, record, own, anyInstance));
    }
    await scratch.dataSource.query(
      `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group, job_type, site,
          priority, cpu_time, submission_time, last_update)
        select 'Prod', 'alice', '', 'grid_user', '', 'Waiting', '', '', '', '', 'ANY', 1, 1, now(), now()
        from generate_series(1, $1::integer)`,
      [JOBS],
    );
    await scratch.dataSource.query(
      `insert into job_descriptions (jid, manifest) select jid, '{}' from jobs`,
    );
    await scratch.dataSource.query('analyze jobs');
    expect((await (await context.get(RegistryService)).current()).sites()).toHaveLength(1);
    await play();
  });
  afterAll(async () => {
    for (const { claims } of instances) claims.onModuleDestroy();
    for (const context of contexts) await context.close();
    await scratch?.remove();
    await rm(home, { recursive: true, force: true });
  });

  /** Faults until most jobs have ended, then none until all have. */
  async function play(): Promise<void> {
    while ((await open()) > JOBS / 10) {
      await Promise.all(workers.map((worker) => worker.step(false)));
      const what = chance();
      if (what < 0.1) await silence();
      else if (what < 0.2) await people();
    }
    for (const worker of workers) await worker.flush();
    for (let round = 0; round < MOST_QUIET_ROUNDS && (await open()) > 0; round += 1) {
      await Promise.all(workers.map((worker) => worker.step(true)));
    }
  }

  const open = async (): Promise<number> => {
    const [row] = await scratch.dataSource.query(
      `select count(*)::integer as n from jobs
        where status not in ('Done', 'Failed', 'Killed') or executor is not null`,
    );
    return row.n;
  };

  /** A worker is not heard of for a lease, or so long that it is given up; the service has listened all the time. */
  async function silence(): Promise<void> {
    const { row } = workers[Math.floor(chance() * WORKERS)] as ModelWorker;
    const seconds = chance() < 0.7 ? 120 : 400;
    await scratch.dataSource.query(
      `update job_executors set seen_at = seen_at - make_interval(secs => $2) where executor = 'worker:' || $1`,
      [row.id, seconds],
    );
    for (let look = 0; look < 24; look += 1) {
      now += 20_000;
      await reaper.reap();
    }
  }

  /** People kill jobs and take failed ones up again. */
  async function people(): Promise<void> {
    const pick = async (where: string, n: number): Promise<number[]> =>
      (
        await scratch.dataSource.query(
          `select jid::integer from jobs where ${where} order by md5(jid || $1) limit $2`,
          [String(chance()), n],
        )
      ).map(({ jid }: { jid: number }) => jid);
    const killed = await pick(`status in ('Waiting', 'Matched', 'Running', 'Stalled')`, 5);
    const again = await pick(`status = 'Failed' and executor is null`, 5);
    await jobs.move(
      [
        ...killed.map((jid) => ({
          ...{ jid, source: 'model' },
          steps: [{ to: 'Killed', minor: 'x' }] as [{ to: 'Killed'; minor: string }],
        })),
        ...again.map((jid) => ({
          ...{ jid, source: 'model' },
          steps: [
            { to: 'Rescheduled' as const, minor: 'x' },
            { to: 'Waiting' as const, minor: 'x' },
          ] as const,
        })),
      ],
      new Date(),
    );
  }

  it('start no run twice', () => {
    expect([...record.starts].filter(([, count]) => count > 1)).toEqual([]);
    expect(record.starts.size).toBeGreaterThan(JOBS / 2);
  });

  it('give no run to two workers', () => {
    expect([...record.holders].filter(([, workers]) => workers.size > 1)).toEqual([]);
  });

  it('end every job', async () => {
    expect(await open()).toBe(0);
    for (const { disk } of workers) expect([...disk]).toEqual([]);
  });

  it('end them truthfully', async () => {
    const rows: { run: RunKey; status: string; minor: string; app: string }[] =
      await scratch.dataSource.query(
        `select jid || '.' || attempt as run, status, minor_status as minor, app_status as app from jobs`,
      );
    const wrong = rows.filter(({ run, status, minor, app }) => {
      const end = record.ends.get(run);
      if (status === 'Done') return end !== 'good';
      if (minor === GONE && app === NOT_NAMED) return !record.gone.has(run);
      return minor === 'Application Finished With Errors' && end !== 'bad';
    });
    expect(wrong).toEqual([]);
    expect(new Set(rows.map(({ status }) => status))).toEqual(
      new Set(['Done', 'Failed', 'Killed']),
    );
  });
});
