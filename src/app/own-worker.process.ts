import { hostname } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { deserialize } from 'node:v8';
import { sleep } from '#src/kernel/index.js';
import { acquireProcessLock, LockHeldError, type ProcessLock } from '../runtime/process-lock.js';
import { createLogger } from '../runtime/logger.js';
import { ownWorkerDirectory, ownWorkerSocket } from '../runtime/own-worker-socket.js';
import { runWorker } from '../worker/exchange/run-worker.js';
import { WorkerStartError } from '../worker/exchange/worker-link.js';
import { thisMachine } from '../worker/runs/machine-load.js';
import { OwnLink, ServiceEndedError } from '../worker/own/own-link.js';
import { EXIT_OFF, type OwnWorkerOrder } from '../worker/own/own-worker-launcher.js';
import { WorkerLog } from '../worker/exchange/worker-log.js';

const TAKING_OVER_MS = 15_000;
const LOOK_MS = 25;

/**
 * The service's own worker: a process that the service starts and that goes on without it, as long as it has runs. One that an earlier
 * process of the service has left is told to end first; its runs are found by their directories.
 */
async function main(): Promise<number> {
  const order = deserialize(await buffer(process.stdin)) as OwnWorkerOrder;
  const { config, id, version } = order;
  const directory = ownWorkerDirectory(config.homePath);
  const log = new WorkerLog(join(directory, 'log'));
  const logger = createLogger(order.logLevel, log);
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(name, () => stop.abort(new Error('the worker was told to end')));
  }
  const whole = thisMachine(); // which may take a while
  const lock = await takeOver(join(directory, 'lock'), stop.signal);
  if (!lock) return 0;
  try {
    const { processors, ...more } = await whole;
    const machine = { ...more, processors: Math.max(processors, config.localSlots) };
    await runWorker(
      {
        ...{ directory, config, machine, tags: [], logger },
        ...{ allowsNetwork: true, onReady: () => undefined },
        connect: (facts, signal) => {
          const place = { socketPath: ownWorkerSocket(config.homePath), id };
          return OwnLink.open(place, { name: hostname(), version, facts }, signal);
        },
      },
      { stop: stop.signal, drain: new AbortController().signal },
    );
    return 0;
  } catch (error) {
    if (error instanceof ServiceEndedError) return 0;
    if (error instanceof WorkerStartError) return EXIT_OFF;
    logger.error({ err: error }, 'the worker has failed');
    return 1;
  } finally {
    await lock.release();
  }
}

/** Has the worker that holds the lock end, and takes its place; undefined when it is told to end itself meanwhile. */
async function takeOver(path: string, stop: AbortSignal): Promise<ProcessLock | undefined> {
  const sinceMs = performance.now();
  let told: number | undefined;
  while (!stop.aborted) {
    try {
      return await acquireProcessLock(path);
    } catch (error) {
      const waitedMs = performance.now() - sinceMs;
      if (!(error instanceof LockHeldError) || waitedMs > 2 * TAKING_OVER_MS) throw error;
      const isLate = waitedMs > TAKING_OVER_MS;
      if (error.isHere && (isLate || told !== error.pid)) {
        signal(error.pid, isLate ? 'SIGKILL' : 'SIGTERM');
        told = error.pid;
      }
      await sleep(LOOK_MS);
    }
  }
  return undefined;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended
  }
}

main().then(
  (code) => process.exit(code), // programs of jobs may go on
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
