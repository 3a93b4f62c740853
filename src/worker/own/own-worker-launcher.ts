import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serialize } from 'node:v8';
import { sleep } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import type { OwnMachine, OwnWorkerStart } from '#src/jobs/index.js';
import { SITE_PATH } from '#src/jobs/run/index.js';
import type { Logger } from '#src/runtime/index.js';
import { orderText } from '../exchange/run-order.js';
import { inNamespaces } from '../isolation/bubblewrap.js';
import type { Isolation, IsolationLevel } from '../isolation/isolation.js';
import { NO_ISOLATION } from '../isolation/plain.js';
import { locateProgram } from '../runs/find-program.js';
import { describeLocalIsolation, hasAccounts, viewOf } from '../runs/open-place.js';
import { ORDER_FILE } from '../runs/run-directory.js';
import { openRunRoot, type RunRoot } from '../runs/run-root.js';
import { WORKER_SETTINGS, type WorkerConfig } from '../runs/worker-config.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** Who has run for so long may be started again at once. */
const STEADY_MS = 60_000;
/** An idle worker that is told to end has so long for it. */
const ENDING_MS = 5_000;

/** What the service tells its own worker at its start, over its standard input. */
export interface OwnWorkerOrder {
  id: string;
  version: string;
  logLevel: string;
  config: WorkerConfig;
}

/** The exit code of a worker on a machine where no job can run. */
export const EXIT_OFF = 78;

/** Starts the service's own worker on this machine, and looks after it. */
export class OwnWorkerLauncher implements OwnMachine {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private child: ChildProcess | undefined;
  private offReason: string | undefined;
  private runRoot: Promise<RunRoot> | undefined;

  constructor(
    private readonly config: Config,
    private readonly program: { script: string; version: string },
    private readonly logger: Logger,
  ) {}

  async workerId(): Promise<string> {
    return (await this.root()).executorId.replace('local:', '');
  }

  async hasProgram(
    name: string,
    { path = SITE_PATH, isolation: level = 'none' }: Parameters<OwnMachine['hasProgram']>[1],
  ): Promise<boolean> {
    const isolation = isolationOf(level, this.config, await this.root());
    return (await locateProgram(name, { path, isolation })) !== undefined;
  }

  async start({ taken, onOff }: OwnWorkerStart): Promise<void> {
    const { path } = await this.root();
    for (const { claimed, boot } of taken) {
      const directory = join(path, claimed.run);
      const file = join(directory, ORDER_FILE);
      if (!existsSync(directory) || existsSync(file)) continue;
      writeFileSync(file, orderText({ claimed }, boot), { mode: 0o600 });
    }
    const settings = WORKER_SETTINGS.map((name) => [name, this.config[name]]);
    const order: OwnWorkerOrder = {
      ...{ id: await this.workerId(), version: this.program.version, logLevel: this.logger.level },
      config: Object.fromEntries(settings) as WorkerConfig,
    };
    this.run(order, onOff, FIRST_PAUSE_MS);
  }

  async stop(hasRuns: boolean): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    const { child } = this;
    if (hasRuns || child?.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await Promise.race([ended, sleep(ENDING_MS, { unref: true })]);
  }

  private root(): Promise<RunRoot> {
    return (this.runRoot ??= openRunRoot(this.config.homePath, hasAccounts(this.config)));
  }

  private run(order: OwnWorkerOrder, onOff: OwnWorkerStart['onOff'], pauseMs: number): void {
    const startedMs = performance.now();
    const again = (): void => {
      if (this.isStopped) return;
      const isSteady = performance.now() - startedMs > STEADY_MS;
      const nextMs = isSteady ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
      const start = (): void => this.run(order, onOff, nextMs);
      clearTimeout(this.timer);
      this.timer = setTimeout(start, isSteady ? FIRST_PAUSE_MS : pauseMs).unref();
    };
    const notStarted = (error: unknown): void => {
      this.logger.error({ err: error }, 'the worker is not started');
      again();
    };
    try {
      this.child = this.spawn(order);
    } catch (error) {
      return notStarted(error);
    }
    this.child.once('error', notStarted);
    this.child.once('exit', (code, signal) => {
      if (this.isStopped) return;
      if (code === EXIT_OFF) void this.off(onOff);
      else this.logger.warn({ code, signal }, 'the worker has ended and is started again');
      again();
    });
  }

  private spawn(order: OwnWorkerOrder): ChildProcess {
    // Its home is for people who look at processes.
    const child = spawn(process.execPath, [this.program.script, order.config.homePath], {
      ...{ detached: true, stdio: ['pipe', 'ignore', 'pipe'] },
      env: { PATH: SITE_PATH, TMPDIR: tmpdir() }, // and nothing of the service's
    });
    child.unref();
    child.stdin?.on('error', () => undefined).end(serialize(order));
    if (child.stderr) {
      child.stderr.on('error', () => undefined);
      (child.stderr as unknown as { unref(): void }).unref();
      createInterface({ input: child.stderr }).on('line', (line) => this.relay(line));
    }
    return child;
  }

  /** A line of the worker's log in that of the service. */
  private relay(line: string): void {
    const { level, time: _, msg, err: error, ...members } = membersOf(line);
    const write = level === 'error' || level === 'warn' || level === 'debug' ? level : 'info';
    this.logger[write](
      { part: 'worker', ...members, ...(error !== undefined && { error }) },
      String(msg),
    );
  }

  /** Told once for each reason; it is tried again, as a person may change the machine. */
  private async off(onOff: OwnWorkerStart['onOff']): Promise<void> {
    const { reason } = await describeLocalIsolation(this.config);
    if (reason === this.offReason || this.isStopped) return;
    this.offReason = reason;
    onOff(reason);
  }
}

function membersOf(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // of Node itself
  }
  return { level: 'error', msg: line };
}

/** What of a level says which programs jobs can see. */
function isolationOf(
  level: IsolationLevel,
  config: Config,
  root: RunRoot,
): Pick<Isolation, 'level' | 'shows'> {
  if (level === 'accounts') return { level, shows: () => true };
  return level === 'namespaces' ? inNamespaces(viewOf(config, root)) : NO_ISOLATION;
}
