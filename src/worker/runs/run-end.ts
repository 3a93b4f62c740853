import { hostname } from 'node:os';
import { loopTurn, MachineFault } from '#src/kernel/index.js';
import {
  type ExitRecord,
  judge,
  limitsOf,
  processorsOf,
  type RunEnd,
  type RunUsage,
} from '#src/jobs/run/index.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';

const SETUP_FAILED = 1;
const MIB = 2 ** 20;

/**
 * How a run ended whose supervisor is gone. Whatever may live of it is ended first: a job must not have ended while
 * its program goes on. Throws MachineFault for one whose sandbox could not be made, so that its program has not run.
 */
export async function endOf(context: LocalContext, run: LocalRun): Promise<RunEnd> {
  const isEndedFromOutside = run.isStopped || run.limitReason !== undefined || run.isAttached;
  // An enclosure that has ended by itself has ended everything in its pid namespace. Without one the program may have left something.
  const isNamespace = context.place.isolation.level === 'namespaces';
  if (isEndedFromOutside || !isNamespace || run.directory.exit() === undefined) {
    await context.cleaner.endProcesses(run);
  }
  await loopTurn.room();
  const exit = run.directory.exit();
  requireEnclosed(context, run, exit);
  if (reasonOf(run) === undefined) run.limitReason = context.memoryReason(run);
  const cpuSeconds = cpuOf(run, exit);
  const verdict = judge(exit && { ...exit, cpuSeconds }, reasonOf(run), run.order.cpuTime);
  const endedAt = exit?.endedAt ?? context.now();
  const usage: RunUsage = {
    source: 'service',
    wallSeconds: run.wallSeconds ?? Math.max(0, endedAt.getTime() - run.startedMs) / 1000,
    cpuSeconds: exit || cpuSeconds > 0 ? cpuSeconds : undefined,
    maxRssBytes: run.maxRssBytes,
    processors: processorsOf(run.order),
    memoryMb: limitsOf(run.order, context.parts.config).memoryMb,
  };
  const parameters = {
    HostName: hostname(),
    Isolation: context.place.isolation.level,
    ...(exit ? { ExitCode: exit.code } : {}),
    ...(run.maxDiskBytes > 0 ? { 'DiskSpace(MB)': Math.ceil(run.maxDiskBytes / MIB) } : {}),
  };
  return { verdict, endedAt, usage, parameters };
}

function requireEnclosed(
  { place, parts }: LocalContext,
  run: LocalRun,
  exit: ExitRecord | undefined,
): void {
  if (exit?.code !== SETUP_FAILED || reasonOf(run) !== undefined) return;
  if (run.directory.hasGroupFault())
    throw new MachineFault('a job could not enter its control group');
  if (!place.isolation.hasDescriptors) return; // nothing is told of it
  const said = run.directory.enclosureFault();
  if (said === undefined) return;
  parts.logger.error({ jid: run.key, said }, 'a job cannot be enclosed');
  throw new MachineFault('a job could not be isolated');
}

/** Why the service has ended it; on a full disk only this process knows. */
function reasonOf(run: LocalRun): string | undefined {
  return run.limitReason ?? run.directory.verdict();
}

/** The supervisor is told at the end, of all whom somebody waited for; the watch sees in between whatever lives. */
function cpuOf(run: LocalRun, exit: ExitRecord | undefined): number {
  return Math.max(exit?.cpuSeconds ?? 0, run.cpuSeconds);
}
