import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import { sleep } from '#src/kernel/index.js';
import type { Clock } from '#src/kernel/index.js';
import type { Config, Logger } from '#src/platform/index.js';
import type { SandboxService } from '../../sandbox/sandbox.service.js';
import { unpackArchive } from '../../sandbox/sandbox-archive.js';
import { SandboxMissingError, type SandboxStore } from '../../sandbox/sandbox.store.js';
import { MINOR } from '../../state/job-state.js';
import type { DispatchRepository } from '../dispatch.repository.js';
import type { Executor, HeldJob, RunningOutput, RunOrder } from '../executor.js';
import type { RunReports } from '../run-reports.js';
import { openJobAccount, type JobAccount } from './job-account.js';
import { wrapperArguments } from './job-wrapper.js';
import { LocalRun } from './local-run.js';
import { collectOutput } from './output-collector.js';
import { RunDirectory } from './run-directory.js';
import { allProcesses, endRun, isAlive, markOf, RUN_MARKER } from './run-processes.js';
import { catalogueInputs, findProgram, planOf, RunFault, SITE_PATH } from './run-plan.js';
import { openRunRoot, type RunRoot } from './run-root.js';
import { CONDEMNED, judge } from './run-verdict.js';

/** What the executor works with. */
export interface LocalProcessParts {
  config: Config;
  logger: Logger;
  clock: Clock;
  reports: RunReports;
  repository: DispatchRepository;
  sandboxes: SandboxService;
  store: SandboxStore;
  /** PATH of a site. */
  pathOf: (site: string) => Promise<string | undefined>;
}

const MAX_COLLECTING = 64;
const PREPARING_AT_ONCE = 3;
const PEEK_BYTES = 8_192;
const FORGOTTEN_MS = 10_000;
const MAX_OUTPUT_FILES = 10_000;
const MAX_GIVEN_BACK = 20;

/**
 * Runs jobs as processes of this machine: each below a small wrapper in its own session, with its own directory and
 * limits, under an unprivileged account when the service is root. Everything that matters is on disk before it
 * happens, so the executor can be killed at any moment: `tend` finds every run again, starts none twice and
 * loses none.
 */
export class LocalProcessExecutor implements Executor {
  readonly backend = 'local-process';
  onFree: () => void = () => undefined;

  private readonly slots: number;
  private readonly runs = new Map<string, LocalRun>();
  private readonly waiting: LocalRun[] = [];
  private readonly ready: LocalRun[] = [];
  private preparing = 0;
  private running = 0;
  private collecting = 0;
  private isClosed = false;
  private root: RunRoot | undefined;
  private account: JobAccount | undefined;
  private readonly bootId = readBootId();

  constructor(private readonly parts: LocalProcessParts) {
    this.slots = parts.config.localSlots || availableParallelism();
  }

  get id(): string {
    return this.opened.root.executorId;
  }

  /** Noted with every claim: after a reboot nothing of before runs. */
  get reference(): string {
    return this.bootId;
  }

  async open(): Promise<boolean> {
    const { config, logger } = this.parts;
    if (!config.allowLocalExecutor) return false;
    try {
      this.account = await openJobAccount(config.jobUser);
      this.root = await openRunRoot(config.homePath, this.account);
      return true;
    } catch (error) {
      logger.error({ err: error }, 'the local-process executor cannot be used');
      return false;
    }
  }

  freeSlots(): number {
    if (this.isClosed || this.collecting >= MAX_COLLECTING) return 0;
    // As many again are prepared ahead, so that a free slot never waits for the database.
    const ahead = Math.max(4, this.slots);
    const queued = this.waiting.length + this.preparing + this.ready.length;
    return Math.max(0, this.slots + ahead - this.running - queued);
  }

  load(site: string): number {
    let count = 0;
    for (const run of this.runs.values()) if (run.order.site === site && !run.isOver) count += 1;
    return count;
  }

  start(orders: readonly RunOrder[]): void {
    for (const order of orders) this.waiting.push(this.newRun(order));
    this.prepareNext();
  }

  cancel(jid: string): void {
    const run = this.runs.get(jid);
    if (run) void this.stop(run);
  }

  async peek(job: HeldJob): Promise<RunningOutput | undefined> {
    const directory = this.directoryOf(job);
    if (!(await directory.exists())) return undefined;
    const { stdout, stderr } = planOf(job);
    return {
      stdout: await directory.tail(stdout, PEEK_BYTES),
      stderr: stderr === stdout ? '' : await directory.tail(stderr, PEEK_BYTES),
    };
  }

  async tend(held: readonly HeldJob[]): Promise<void> {
    const known = new Set(held.map((job) => `${job.jid}.${job.attempt}`));
    for (const job of held) {
      const run = this.runs.get(String(job.jid));
      if (run?.order.attempt === job.attempt) await this.compare(run, job);
      else if (!run) await this.recover(job);
    }
    await this.watch();
    await this.sweep(known);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const unstarted = [...this.waiting.splice(0), ...this.ready.splice(0)];
    await Promise.all(unstarted.map((run) => this.giveBack(run).catch(() => undefined)));
    const deadline = Date.now() + 3_000;
    while (this.collecting + this.preparing > 0 && Date.now() < deadline) await sleep(20);
  }

  // -- the way of one run ---------------------------------------------------------------------------------------

  private prepareNext(): void {
    while (this.preparing < PREPARING_AT_ONCE && this.waiting.length > 0 && !this.isClosed) {
      const run = this.waiting.shift() as LocalRun;
      this.preparing += 1;
      void this.prepare(run).finally(() => {
        this.preparing -= 1;
        this.prepareNext();
        this.startNext();
      });
    }
  }

  private async prepare(run: LocalRun): Promise<void> {
    try {
      await this.fillDirectory(run);
      if (this.isClosed || run.isStopped) await this.giveBack(run);
      else this.ready.push(run);
    } catch (error) {
      await this.refuse(run, error);
    }
  }

  private async fillDirectory(run: LocalRun): Promise<void> {
    const { order, directory } = run;
    const account = this.opened.account;
    await directory.remove(); // an earlier try of this very attempt that was never started
    await directory.create(account.owner);
    if (catalogueInputs(order).length > 0) {
      throw new RunFault(MINOR.inputFilesFailed, 'Files of the catalogue cannot be fetched here');
    }
    if (order.inputSandbox !== null) await this.unpackInput(run, order.inputSandbox);
    await directory.createOutputs(account.owner, [run.plan.stdout, run.plan.stderr]);
    const path = (await this.parts.pathOf(order.site)) ?? SITE_PATH;
    run.path = path;
    run.program = await findProgram(order, { work: directory.work, path, account });
  }

  private async unpackInput(run: LocalRun, hash: string): Promise<void> {
    const { store, config } = this.parts;
    try {
      const { owner } = this.opened.account;
      await unpackArchive(await store.open(hash), run.directory.work, {
        maxBytes: config.maxSandboxBytes,
        ...(owner ? { owner } : {}),
      });
    } catch (cause) {
      const app =
        cause instanceof SandboxMissingError ? 'It is not in the store' : 'It cannot be unpacked';
      throw new RunFault(MINOR.inputSandboxFailed, app, { cause });
    }
  }

  private startNext(): void {
    while (this.running < this.slots && this.ready.length > 0 && !this.isClosed) {
      const run = this.ready.shift() as LocalRun;
      this.running += 1;
      void this.launch(run)
        .catch((error: unknown) => this.refuse(run, error))
        .finally(() => {
          this.running -= 1;
          this.startNext();
          this.onFree();
        });
    }
    if (this.waiting.length + this.preparing + this.ready.length < this.slots) this.onFree();
  }

  /** Resolves when the payload has ended and its place is free. */
  private async launch(run: LocalRun): Promise<void> {
    const { order } = run;
    const mayStart = await this.parts.reports.report({
      jid: order.jid,
      steps: [{ to: 'Running', minor: MINOR.application }],
      from: ['Matched'],
      source: this.backend,
      held: this.hold(run),
      set: { startedAt: new Date(this.parts.clock.now()) },
    });
    if (!mayStart || run.isStopped) {
      await run.directory.abandon();
      await (mayStart ? this.afterStop(run) : this.forget(run));
      return;
    }
    await this.spawn(run);
    this.collect(run);
  }

  private async spawn(run: LocalRun): Promise<void> {
    const { config } = this.parts;
    const account = this.opened.account;
    const { plan, order, directory } = run;
    const variables = Object.entries(plan.environment).map(([name, value]) => `${name}=${value}`);
    const command = [
      ...account.prefix,
      ...(variables.length > 0 ? ['/usr/bin/env', '--', ...variables] : []),
      run.program,
      ...plan.arguments,
    ];
    const child = spawn(
      '/bin/sh',
      wrapperArguments({
        workDirectory: 'work',
        cpuSeconds: order.cpuTime,
        memoryKiB: config.jobMemoryMb * 1024,
        fileBlocks: Math.ceil(config.jobOutputBytes / 512),
        processes: config.jobProcesses + this.threadsOfAccount(),
        stdout: plan.stdout,
        stderr: plan.stderr,
        command,
      }),
      {
        cwd: directory.path,
        detached: true,
        stdio: 'ignore',
        env: this.environmentOf(run),
      },
    );
    run.startedMs = this.parts.clock.now();
    await run.exited(child);
  }

  /** The environment is made anew: nothing of the service's own (tokens, database) is in it. */
  private environmentOf(run: LocalRun): Record<string, string> {
    const { order, directory } = run;
    const { name } = this.opened.account;
    return {
      PATH: run.path,
      HOME: directory.work,
      TMPDIR: directory.work,
      PWD: directory.work,
      LANG: 'C.UTF-8',
      USER: name,
      LOGNAME: name,
      SHELL: '/bin/sh',
      JOBID: String(order.jid),
      GRID_JOBID: String(order.jid),
      GRID_SITE: order.site,
      GRID_SETUP: order.setup,
      GRID_OWNER: order.owner,
      GRID_OWNER_GROUP: order.ownerGroup,
      [RUN_MARKER]: this.markOf(run.order),
    };
  }

  /** Brings the output of an ended run home, moves its job on, and removes its directory. */
  private collect(run: LocalRun): void {
    run.isOver = true;
    this.collecting += 1;
    void this.finish(run)
      .catch((error: unknown) => {
        this.parts.logger.error(
          { err: error, jid: String(run.order.jid) },
          'a run is not finished',
        );
        this.runs.delete(String(run.order.jid)); // tend takes it up again
      })
      .finally(() => {
        this.collecting -= 1;
        this.onFree();
      });
  }

  private async finish(run: LocalRun): Promise<void> {
    const { order, directory } = run;
    await this.endLeftovers(run);
    const exit = await directory.exit();
    const verdict = judge(exit, await directory.verdict(), order.cpuTime);
    const output = await this.keepOutput(run);
    const endedAt = exit?.endedAt ?? new Date(this.parts.clock.now());
    const isGood = verdict.isGood && output.fault === undefined;
    const last = isGood
      ? ({ to: 'Done', minor: MINOR.complete } as const)
      : ({ to: 'Failed', minor: verdict.isGood ? MINOR.uploadingOutput : verdict.minor } as const);
    const app = verdict.isGood ? output.fault : verdict.app;
    const moved = await this.parts.reports.report({
      jid: order.jid,
      steps: [
        { to: 'Completing', minor: MINOR.resolvingOutput },
        ...(isGood ? [{ to: 'Completed', minor: MINOR.outputUploaded } as const] : []),
        { ...last, ...(app === undefined ? {} : { app }) },
      ],
      from: ['Running'],
      source: this.backend,
      held: this.hold(run),
      set: {
        endedAt,
        executor: null,
        accounted: true,
        ...(output.hash === undefined ? {} : { outputSandbox: output.hash }),
      },
      parameters: this.parametersOf(run, { exit, endedAt, output }),
    });
    if (!moved) return this.finishOther(run, output.hash);
    await this.forget(run);
  }

  /** The job was not Running any more: stalled meanwhile, or killed, or taken back. */
  private async finishOther(run: LocalRun, output: string | undefined): Promise<void> {
    const revived = await this.parts.reports.report({
      jid: run.order.jid,
      steps: [{ to: 'Running', minor: MINOR.application }],
      from: ['Stalled'],
      source: this.backend,
      held: this.hold(run),
    });
    if (revived) return this.finish(run);
    const { jid, attempt } = run.order;
    await this.parts.repository.release({ jid, attempt, executor: this.id }, output ?? null);
    await this.forget(run);
  }

  private parametersOf(
    run: LocalRun,
    end: {
      exit: { code: number; cpuSeconds: number } | undefined;
      endedAt: Date;
      output: { missing: string[]; leftOut: string[] };
    },
  ): Record<string, string | number> {
    const { exit, endedAt, output } = end;
    const wallSeconds = Math.max(0, endedAt.getTime() - run.startedMs) / 1000;
    return {
      HostName: hostname(),
      BatchSystem: this.backend,
      LocalAccount: this.opened.account.name,
      'WallClockTime(s)': wallSeconds,
      ...(exit ? { ExitCode: exit.code, 'TotalCPUTime(s)': exit.cpuSeconds } : {}),
      ...(run.maxRssBytes > 0 ? { 'Memory(MB)': Math.ceil(run.maxRssBytes / 2 ** 20) } : {}),
      ...(output.missing.length > 0 ? { MissingOutput: output.missing.join(', ') } : {}),
      ...(output.leftOut.length > 0 ? { OutputLeftOut: output.leftOut.join(', ') } : {}),
    };
  }

  private async keepOutput(
    run: LocalRun,
  ): Promise<{ hash?: string; missing: string[]; leftOut: string[]; fault?: string }> {
    const { config, sandboxes } = this.parts;
    const found = await collectOutput(run.directory.work, run.plan.outputs, {
      maxBytes: config.maxSandboxBytes,
      maxFiles: MAX_OUTPUT_FILES,
      uid: this.opened.account.owner?.uid,
    });
    try {
      const { missing, leftOut } = found;
      const hash = found.files.length > 0 ? await sandboxes.keep(found.files) : undefined;
      const fault = `The output is larger than ${config.maxSandboxBytes} bytes`;
      return {
        missing,
        leftOut,
        ...(hash === undefined ? {} : { hash }),
        ...(leftOut.length > 0 ? { fault } : {}),
      };
    } finally {
      await found.close();
    }
  }

  // -- stopping, giving back, refusing --------------------------------------------------------------------------

  private async stop(run: LocalRun): Promise<void> {
    if (run.isStopped) return;
    run.isStopped = true;
    for (const list of [this.waiting, this.ready]) {
      const index = list.indexOf(run);
      if (index < 0) continue;
      list.splice(index, 1);
      await this.afterStop(run);
      return;
    }
    await this.endProcesses(run);
    if (run.isAttached) this.collect(run);
  }

  /** The run of a job that nobody wants any more and that was never started. */
  private async afterStop(run: LocalRun): Promise<void> {
    const { jid, attempt } = run.order;
    await this.parts.repository.release({ jid, attempt, executor: this.id }, null);
    await this.forget(run);
  }

  /** Certainly not started: back to the queue, without counting as a reschedule. */
  private async giveBack(run: LocalRun): Promise<void> {
    const { order } = run;
    const isHopeless = order.attempt > MAX_GIVEN_BACK;
    await this.parts.reports.report({
      jid: order.jid,
      steps: isHopeless
        ? [{ to: 'Failed', minor: MINOR.pilotGone, app: 'It could not be started many times' }]
        : [
            { to: 'Rescheduled', minor: MINOR.rescheduled },
            { to: 'Waiting', minor: MINOR.waiting },
          ],
      from: ['Matched', 'Running'],
      source: 'Reaper',
      held: this.hold(run),
      set: { executor: null },
    });
    await this.afterStop(run);
  }

  private async refuse(run: LocalRun, error: unknown): Promise<void> {
    const isFault = error instanceof RunFault;
    if (!isFault) {
      this.parts.logger.error(
        { err: error, jid: String(run.order.jid) },
        'a job cannot be started',
      );
    }
    try {
      await this.parts.reports.report({
        jid: run.order.jid,
        steps: [
          {
            to: 'Failed',
            minor: isFault ? error.minor : MINOR.initialization,
            app: isFault ? error.app : 'The job could not be started',
          },
        ],
        from: ['Matched', 'Running'],
        source: this.backend,
        held: this.hold(run),
        set: { executor: null, endedAt: new Date(this.parts.clock.now()), accounted: true },
        parameters: { HostName: hostname(), BatchSystem: this.backend },
      });
      await this.afterStop(run);
    } catch {
      this.runs.delete(String(run.order.jid)); // the database is away; tend takes it up again
    }
  }

  private async endProcesses(run: LocalRun): Promise<void> {
    const leader = await run.leader();
    const isGone = await endRun(this.markOf(run.order), leader);
    if (!isGone) {
      this.parts.logger.warn({ jid: String(run.order.jid) }, 'processes of a job do not end');
    }
  }

  /** The wrapper has ended its group; only runs that were ended from outside may have left something. */
  private async endLeftovers(run: LocalRun): Promise<void> {
    if (run.isStopped || run.isCondemned || run.isAttached) await this.endProcesses(run);
  }

  private async forget(run: LocalRun): Promise<void> {
    await run.directory.remove();
    const key = String(run.order.jid);
    if (this.runs.get(key) === run) this.runs.delete(key);
  }

  // -- after restarts, and against what goes wrong --------------------------------------------------------------

  private async compare(run: LocalRun, job: HeldJob): Promise<void> {
    if (job.status === 'Stalled') {
      await this.parts.reports.report({
        jid: job.jid,
        steps: [{ to: 'Running', minor: MINOR.application }],
        from: ['Stalled'],
        source: this.backend,
        held: this.hold(run),
      });
      return;
    }
    const isWanted = ['Matched', 'Running', 'Completing', 'Completed'].includes(job.status);
    if (!isWanted && !run.isOver) await this.stop(run);
  }

  /** A job that the database says we hold, but that we know nothing of: our predecessor was killed. */
  private async recover(job: HeldJob): Promise<void> {
    if (job.status === 'Matched') {
      const isFresh = this.parts.clock.now() - job.lastUpdate.getTime() < FORGOTTEN_MS;
      if (isFresh && this.hasTended) return; // claimed this moment, not handed over yet
      await this.giveBack(this.newRun(job));
      return;
    }
    const run = this.newRun(job);
    run.startedMs = job.startedAt?.getTime() ?? this.parts.clock.now();
    const isWanted = ['Running', 'Stalled', 'Completing', 'Completed'].includes(job.status);
    if (!(await run.directory.exists())) {
      if (!isWanted) return this.afterStop(run);
      if (job.reference === this.bootId) return this.giveBack(run);
      return this.lose(run);
    }
    if (await run.directory.abandon()) {
      return isWanted ? this.giveBack(run) : this.afterStop(run);
    }
    const start = await run.directory.start();
    if (start === 'being written') {
      this.runs.delete(String(job.jid)); // the wrapper is at it this moment: look again soon
      return;
    }
    if (start === 'abandoned') return isWanted ? this.giveBack(run) : this.afterStop(run);
    if (job.status === 'Stalled') await this.compare(run, job);
    run.isAttached = true;
    run.isStopped = !isWanted;
    if (run.isStopped) await this.endProcesses(run);
    this.follow(run);
  }

  /** After a reboot that took the directory along nobody can say whether it ran: never again, then. */
  private async lose(run: LocalRun): Promise<void> {
    const app = 'The machine was restarted and nothing is left of the run';
    await this.parts.reports.report({
      jid: run.order.jid,
      steps: [{ to: 'Failed', minor: MINOR.pilotGone, app }],
      from: ['Running', 'Stalled', 'Completing'],
      source: 'Reaper',
      held: this.hold(run),
      set: { executor: null, endedAt: new Date(this.parts.clock.now()) },
    });
    await this.forget(run);
  }

  /** Looks at a re-attached run until it has ended. */
  private follow(run: LocalRun): void {
    this.running += 1;
    void this.untilEnd(run)
      .then((isEnded) => {
        if (isEnded && !run.isOver) this.collect(run);
      })
      .catch((error: unknown) => {
        this.parts.logger.error({ err: error }, 'a re-attached run cannot be followed');
        this.runs.delete(String(run.order.jid));
      })
      .finally(() => {
        this.running -= 1;
        this.startNext();
      });
  }

  private async untilEnd(run: LocalRun): Promise<boolean> {
    for (let pause = 20; !this.isClosed; pause = Math.min(1_000, pause * 2)) {
      if (await run.directory.exit()) return true;
      const leader = await run.leader();
      if (!leader || !isAlive(leader)) return true;
      await sleep(pause, { unref: true });
    }
    return false;
  }

  private hasTended = false;

  /** Limits that the kernel does not keep for a whole job. */
  private async watch(): Promise<void> {
    const { config, clock } = this.parts;
    const active = [...this.runs.values()].filter((run) => run.startedMs > 0 && !run.isOver);
    const old = active.filter((run) => clock.now() - run.startedMs > 1_000);
    if (old.length === 0) return;
    const processes = allProcesses();
    for (const run of old) {
      const leader = await run.leader();
      if (!leader) continue;
      const own = processes.filter((entry) => entry.session === leader.pid);
      run.maxRssBytes = Math.max(run.maxRssBytes, sum(own.map((entry) => entry.rssBytes)));
      const reason = overLimit({
        cpuSeconds: sum(own.map((entry) => entry.cpuSeconds)),
        cpuTime: run.order.cpuTime,
        wallSeconds: (clock.now() - run.startedMs) / 1000,
        wallLimit: config.jobWallTime,
        rssBytes: sum(own.map((entry) => entry.rssBytes)),
        rssLimit: config.jobMemoryMb * 2 ** 20,
        processes: own.length,
        processLimit: config.jobProcesses,
      });
      if (reason !== undefined) await this.condemn(run, reason);
    }
  }

  private async condemn(run: LocalRun, reason: string): Promise<void> {
    run.isCondemned = true;
    await run.directory.condemn(reason);
    await this.endProcesses(run);
  }

  /** Removes what belongs to no job any more: directories, and processes that have slipped away. */
  private async sweep(known: ReadonlySet<string>): Promise<void> {
    const isFirst = !this.hasTended;
    this.hasTended = true;
    const alive = new Set([...this.runs.values()].map((run) => runName(run.order)));
    if (isFirst) {
      for (const name of await readdir(this.opened.root.path)) {
        if (known.has(name) || alive.has(name) || !/^\d+\.\d+$/.test(name)) continue;
        await endRun(`${this.id}/${name}`, undefined);
        await new RunDirectory(join(this.opened.root.path, name)).remove();
      }
    }
    for (const { pid } of allProcesses()) {
      const mark = markOf(pid);
      if (!mark?.startsWith(`${this.id}/`)) continue;
      const name = mark.slice(this.id.length + 1);
      if (alive.has(name) || known.has(name)) continue;
      process.kill(pid, 'SIGKILL');
    }
  }

  // -- small parts ----------------------------------------------------------------------------------------------

  private newRun(order: RunOrder): LocalRun {
    const run = new LocalRun(order, planOf(order), this.directoryOf(order));
    this.runs.set(String(order.jid), run);
    return run;
  }

  private directoryOf(order: RunOrder): RunDirectory {
    return new RunDirectory(join(this.opened.root.path, runName(order)));
  }

  private markOf(order: RunOrder): string {
    return `${this.id}/${runName(order)}`;
  }

  private hold(run: LocalRun): { executor: string; attempt: number } {
    return { executor: this.id, attempt: run.order.attempt };
  }

  /** The kernel counts processes and threads by account, so the account's own come on top. */
  private threadsOfAccount(): number {
    return this.opened.account.owner ? this.slots * this.parts.config.jobProcesses : 4096;
  }

  private get opened(): { root: RunRoot; account: JobAccount } {
    if (!this.root || !this.account) throw new Error('the local-process executor is not open');
    return { root: this.root, account: this.account };
  }
}

function runName(order: RunOrder): string {
  return `${order.jid}.${order.attempt}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function overLimit(use: {
  cpuSeconds: number;
  cpuTime: number;
  wallSeconds: number;
  wallLimit: number;
  rssBytes: number;
  rssLimit: number;
  processes: number;
  processLimit: number;
}): string | undefined {
  if (use.cpuSeconds > use.cpuTime) return `${CONDEMNED.cpu}|Used ${use.cpuSeconds} s`;
  if (use.wallSeconds > use.wallLimit)
    return `${CONDEMNED.wall}|Ran longer than ${use.wallLimit} s`;
  if (use.rssBytes > use.rssLimit) {
    return `${CONDEMNED.memory}|Used more than ${Math.round(use.rssLimit / 2 ** 20)} MiB`;
  }
  if (use.processes > use.processLimit) {
    return `${CONDEMNED.processes}|Had more than ${use.processLimit} processes`;
  }
  return undefined;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return `${hostname()}`;
  }
}
