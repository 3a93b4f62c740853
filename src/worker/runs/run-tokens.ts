import { loopTurn } from '#src/kernel/index.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';

/** A token is replaced when this part of its life is over. */
const RENEWED_AT = 0.5;
/** After a fault. */
const RETRY_MS = 10_000;
const RENEWED_A_ROUND = 50;

/** Gives a prepared run its first token, if its job is to have one. Throws what RunService.token throws. */
export async function giveToken({ parts }: LocalContext, run: LocalRun): Promise<void> {
  const given = await parts.service.token(run.order);
  if (!given) {
    run.tokenDueMs = Infinity;
    return;
  }
  await loopTurn.room();
  if (run.isOver || run.isStopped) return; // its directory may be gone
  run.directory.writeToken(given.token, run.uid);
  run.tokenDueMs = parts.clock.now() + given.expiresInSeconds * 1000 * RENEWED_AT;
}

/** Replaces the tokens that are due, those of runs first that have waited longest. */
export async function renewTokens(context: LocalContext, runs: Iterable<LocalRun>): Promise<void> {
  const { clock, logger } = context.parts;
  const now = clock.now();
  const due = [...runs].filter((run) => run.tokenDueMs <= now && !run.isOver && !run.isStopped);
  due.sort((a, b) => a.tokenDueMs - b.tokenDueMs);
  for (const run of due.slice(0, RENEWED_A_ROUND)) {
    try {
      await giveToken(context, run);
    } catch (error) {
      run.tokenDueMs = now + RETRY_MS;
      logger.warn({ err: error, jid: run.key }, 'the token of a job is not renewed');
    }
  }
}
