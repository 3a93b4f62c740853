import { sleep } from '#src/kernel/index.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { renewTokens } from './run-tokens.js';
import { RunWatchdog } from './run-watchdog.js';

const ROUND_MS = 1_000;

/** Begins what is done again and again while these runs are looked after; answers what ends it. */
export function roundsOf(
  context: LocalContext,
  runs: ReadonlyMap<string, LocalRun>,
): () => Promise<void> {
  const { logger } = context.parts;
  const watchdog = new RunWatchdog(context);
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
    repeat('disk', () => context.gate.look()),
  ]);
  return async () => {
    stopped.abort();
    await rounds;
  };
}
