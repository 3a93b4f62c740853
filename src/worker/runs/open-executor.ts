import { sleep } from '#src/kernel/index.js';
import { RunLife } from '#src/jobs/run/index.js';
import { LocalContext, type LocalProcessParts } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { closeInherited, logIsolation, openPlace } from './open-place.js';
import { RunCleaner } from './run-cleaner.js';
import { RunRecovery } from './run-recovery.js';
import { RunRemains } from './run-remains.js';
import { renewTokens } from './run-tokens.js';
import { RunWatchdog } from './run-watchdog.js';
import { StartGate } from './start-gate.js';
import type { Watcher } from '../watch/watcher.js';

const ROUND_MS = 1_000;

/** What an executor of local jobs works with once its machine has been looked at. */
export interface OpenExecutor {
  context: LocalContext;
  life: RunLife<LocalRun>;
  cleaner: RunCleaner;
  watchdog: RunWatchdog;
  recovery: RunRecovery;
  remains: RunRemains;
  gate: StartGate;
}

/** Opens the place where jobs run. Throws Error when none can. */
export async function openExecutor(
  parts: LocalProcessParts,
  watcher: Watcher,
  boot: string,
): Promise<OpenExecutor> {
  const { report, ...place } = await openPlace(parts.config);
  closeInherited();
  place.starter.open();
  logIsolation(parts.logger, report);
  const context = new LocalContext(parts, place);
  const cleaner = new RunCleaner(context, watcher);
  const life = new RunLife(parts, cleaner, parts.service);
  const watchdog = new RunWatchdog(context, cleaner, watcher);
  const recovery = new RunRecovery(context, life, cleaner, boot);
  const remains = new RunRemains(context, cleaner, watcher);
  return { context, life, cleaner, watchdog, recovery, remains, gate: gateOf(context) };
}

/** Begins what is done again and again while these runs are looked after; answers what ends it. */
export function roundsOf(
  { context, gate, watchdog }: OpenExecutor,
  runs: ReadonlyMap<string, LocalRun>,
): () => Promise<void> {
  const { logger } = context.parts;
  const stopped = new AbortController();
  const repeat = async (name: string, round: () => Promise<void> | void): Promise<void> => {
    while (!stopped.signal.aborted) {
      await Promise.resolve()
        .then(round)
        .catch((error: unknown) => logger.error({ err: error, round: name }, 'a round failed'));
      await sleep(ROUND_MS, { signal: stopped.signal, unref: true }).catch(() => undefined);
    }
  };
  const rounds = Promise.all([
    repeat('watch', () => watchdog.watch([...runs.values()])),
    repeat('tokens', () => renewTokens(context, runs.values())),
    repeat('disk', () => gate.look()),
  ]);
  return async () => {
    stopped.abort();
    await rounds;
  };
}

function gateOf({ parts, place }: LocalContext): StartGate {
  const { config, logger, clock } = parts;
  return new StartGate({
    ...{ path: place.root.path, minFreeBytes: config.localMinFreeBytes, clock },
    onChange: (fault) => {
      if (fault === null) logger.info('local jobs are started again');
      else logger.warn({ fault }, 'no local jobs are started');
    },
  });
}
