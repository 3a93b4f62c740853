import type { ScheduledTask } from '#src/runtime/index.js';
import { RunLife } from '#src/jobs/run/index.js';
import type { IsolationReport } from '../isolation/isolation.js';
import { LocalContext, type LocalProcessParts } from './local-context.js';
import { LocalRunPlace } from './local-place.js';
import type { LocalRun } from './local-run.js';
import { closeInherited, logIsolation, openPlace } from './open-place.js';
import { RunCleaner } from './run-cleaner.js';
import { RunRecovery } from './run-recovery.js';
import { RunRemains } from './run-remains.js';
import { renewTokens } from './run-tokens.js';
import { RunWatchdog } from './run-watchdog.js';
import { StartGate } from './start-gate.js';
import type { Watcher } from '../watch/watcher.js';

const WATCH_MS = 1_000;

/** What an executor of local jobs works with once its machine has been looked at. */
export interface OpenExecutor {
  context: LocalContext;
  place: LocalRunPlace;
  life: RunLife<LocalRun>;
  cleaner: RunCleaner;
  watchdog: RunWatchdog;
  recovery: RunRecovery;
  remains: RunRemains;
  gate: StartGate;
}

/** Opens the place where jobs run and tells how they are enclosed there; undefined when no job may run here. */
export async function openExecutor(
  parts: LocalProcessParts,
  watcher: Watcher,
  reference: string,
): Promise<OpenExecutor | undefined> {
  const { config, logger } = parts;
  if (!config.allowLocalExecutor) return undefined;
  const tell = (report: IsolationReport): void => {
    parts.onIsolation(report);
    logIsolation(logger, report);
  };
  try {
    const { report, ...place } = await openPlace(config);
    closeInherited();
    place.starter.open();
    const opened = assemble(new LocalContext(parts, place), watcher, reference);
    tell(report);
    return opened;
  } catch (error) {
    const reason = (error as Error).message;
    tell({ level: 'off', reason, isWanted: true });
    logger.error({ err: error }, `local sites are off: ${reason}`);
    return undefined;
  }
}

/** What is done again and again while these runs are looked after. */
export function tasksOf(
  { context, gate, watchdog }: OpenExecutor,
  runs: ReadonlyMap<string, LocalRun>,
): ScheduledTask[] {
  const rounds = { firstMs: 0, everyMs: WATCH_MS };
  const look = (): Promise<void> => {
    gate.look();
    return Promise.resolve();
  };
  return [
    { name: 'jobs.watch', ...rounds, run: () => watchdog.watch([...runs.values()]) },
    { name: 'jobs.renew tokens', ...rounds, run: () => renewTokens(context, runs.values()) },
    { name: 'jobs.look at the disk', ...rounds, run: look },
  ];
}

function assemble(context: LocalContext, watcher: Watcher, reference: string): OpenExecutor {
  const { parts } = context;
  const cleaner = new RunCleaner(context, watcher);
  const place = new LocalRunPlace(context, cleaner);
  const life = new RunLife(parts, place, context.service);
  const watchdog = new RunWatchdog(context, cleaner, watcher);
  const recovery = new RunRecovery(context, life, cleaner, reference);
  const remains = new RunRemains(cleaner, watchdog, parts.clock);
  return { context, place, life, cleaner, watchdog, recovery, remains, gate: gateOf(context) };
}

function gateOf({ parts, place }: LocalContext): StartGate {
  const { config, logger, clock, onFault } = parts;
  return new StartGate({
    ...{ path: place.root.path, minFreeBytes: config.localMinFreeBytes, clock },
    onChange: (fault) => {
      onFault(fault);
      if (fault === null) logger.info('local jobs are started again');
      else logger.warn({ fault }, 'no local jobs are started');
    },
  });
}
