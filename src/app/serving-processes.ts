import { fork, type ChildProcess, type StdioOptions } from 'node:child_process';
import type { Server } from 'node:http';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Config } from '#src/config/index.js';
import type { Logger, MetricValues } from '#src/runtime/index.js';

/** The word with which main.ts is started as a process that only serves. */
export const SERVING = 'serving-process';
/** Where a process finds the listening socket of the first one. */
export const LISTENER_FD = 4;
/** The embedded database takes a hundred connections; commands beside the service need some. */
const EMBEDDED_CONNECTIONS = 90;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Who has served for so long may be started again at once when it ends. */
const STEADY_MS = 60_000;
const ANSWER_MS = 2_000;

/** What processes tell each other. */
export type ProcessMessage =
  | { kind: 'ready' }
  | { kind: 'metrics?'; id: number }
  | { kind: 'metrics'; id: number; values: MetricValues }
  | { kind: 'all metrics?'; id: number }
  | { kind: 'all metrics'; id: number; text: string };

/** How many processes serve; the first one has the work that only one may do. */
export function processCount(config: Config): number {
  const { processes, databaseUrl, databasePool, role } = config;
  if (role === 'worker') return 1;
  const wanted = processes === 0 ? availableParallelism() : processes;
  if (databaseUrl !== undefined) return wanted;
  return Math.max(1, Math.min(wanted, Math.floor(EMBEDDED_CONNECTIONS / databasePool)));
}

/**
 * Further processes that serve requests on the listening socket of this one (GRID_PROCESSES), as instances with GRID_ROLE=api do. One
 * that ends by itself is started again; when this process ends, however it does, they do.
 */
export class ServingProcesses {
  private readonly children = new Map<number, ChildProcess>();
  private readonly asked = new Map<number, (values: MetricValues) => void>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private lastId = 0;
  private isStopped = false;

  constructor(
    private readonly parts: {
      listener: Server;
      logger: Logger;
      /** What differs of their environment from this process'. */
      environment: Record<string, string>;
      allMetrics: () => Promise<string>;
    },
  ) {}

  /** Starts the processes 1 … count and resolves when all serve; rejects when one ends before that. */
  async start(count: number): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, (_, index) => this.startOne(index + 1, FIRST_PAUSE_MS)),
    );
  }

  /** What the others have counted; those that do not answer soon are left out. */
  async metrics(): Promise<[number, MetricValues][]> {
    const answers = [...this.children].map(async ([number, child]) => {
      const values = await this.ask(child);
      return values === undefined ? [] : [[number, values] as [number, MetricValues]];
    });
    return (await Promise.all(answers)).flat();
  }

  /** Lets them finish their requests; resolves when all have ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const timer of this.timers) clearTimeout(timer);
    await Promise.all(
      [...this.children.values()].map(async (child) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await ended;
      }),
    );
  }

  private startOne(number: number, pauseMs: number): Promise<void> {
    const { listener, environment, logger } = this.parts;
    const startedMs = performance.now();
    const main = fileURLToPath(new URL('../main.js', import.meta.url));
    const stdio: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc', descriptorOf(listener)];
    const child = fork(main, [SERVING], { stdio });
    this.children.set(number, child);
    child.send({ number, environment });
    return new Promise((resolve, reject) => {
      child.on('message', (message: ProcessMessage) => {
        if (message.kind === 'ready') resolve();
        else void this.answer(child, message);
      });
      child.on('error', (error) => logger.error({ err: error, number }, 'a serving process'));
      child.once('exit', (code, signal) => {
        this.children.delete(number);
        reject(new Error(`serving process ${number} ended with ${signal ?? String(code)}`));
        if (this.isStopped) return;
        const isSteady = performance.now() - startedMs > STEADY_MS;
        const nextMs = isSteady ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
        logger.error({ number, code, signal }, 'a serving process ended and is started again');
        this.later(isSteady ? FIRST_PAUSE_MS : pauseMs, () => this.startOne(number, nextMs));
      });
    });
  }

  private later(pauseMs: number, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      work().catch(() => undefined); // its end is seen, and told, by who starts it again
    }, pauseMs);
    this.timers.add(timer);
  }

  private ask(child: ChildProcess): Promise<MetricValues | undefined> {
    const id = (this.lastId += 1);
    return new Promise((resolve) => {
      const end = (values?: MetricValues): void => {
        clearTimeout(timer);
        this.asked.delete(id);
        resolve(values);
      };
      const timer = setTimeout(end, ANSWER_MS);
      this.asked.set(id, end);
      send(child, { kind: 'metrics?', id });
    });
  }

  private async answer(child: ChildProcess, message: ProcessMessage): Promise<void> {
    if (message.kind === 'metrics') this.asked.get(message.id)?.(message.values);
    if (message.kind !== 'all metrics?') return;
    const text = await this.parts.allMetrics();
    send(child, { kind: 'all metrics', id: message.id, text });
  }
}

/** One of the further processes, beside the first one. */
export class FirstProcess {
  private readonly asked = new Map<number, (text: string) => void>();
  private lastId = 0;

  constructor(private readonly values: () => Promise<MetricValues>) {
    process.on('message', (message: ProcessMessage) => void this.hear(message));
  }

  /** Says that requests are served. */
  ready(): void {
    tell({ kind: 'ready' });
  }

  /** The metrics of all processes as text; rejects when the first one does not answer soon. */
  allMetrics(): Promise<string> {
    const id = (this.lastId += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.asked.delete(id);
        reject(new Error('the first process does not answer'));
      }, 2 * ANSWER_MS);
      this.asked.set(id, (text) => {
        clearTimeout(timer);
        this.asked.delete(id);
        resolve(text);
      });
      tell({ kind: 'all metrics?', id });
    });
  }

  private async hear(message: ProcessMessage): Promise<void> {
    if (message.kind === 'all metrics') this.asked.get(message.id)?.(message.text);
    if (message.kind !== 'metrics?') return;
    tell({ kind: 'metrics', id: message.id, values: await this.values() });
  }
}

/** Node tells the number of a listening socket to nobody, and inherits numbers only. */
function descriptorOf(listener: Server): number {
  const { _handle: handle } = listener as unknown as { _handle: { fd: number } };
  return handle.fd;
}

function send(child: ChildProcess, message: ProcessMessage): void {
  if (child.connected) child.send(message, () => undefined);
}

function tell(message: ProcessMessage): void {
  if (process.connected) process.send?.(message);
}
