import { sleep } from '#src/kernel/index.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { isAlive, secondsOfBoot, secondsSince } from '../watch/process-table.js';

/** A supervisor needs no time to write its first line; one that has taken so long cannot. */
const STARTING_MS = 10_000;
const NOTHING_LEFT = 'Nothing is left of the run on its machine';

/**
 * Finds out by its directory what became of a run of which this process knows nothing: its predecessor was killed. True when the
 * payload of a run that was claimed in that boot was started, so that its end is to be waited for. Any other run is
 * given back or lost here, but for one whose start is being written this moment: the next look tells.
 */
export async function wasStarted(
  context: LocalContext,
  run: LocalRun,
  boot: string,
): Promise<boolean> {
  const { life, parts, place } = context;
  run.startedMs = run.directory.startedMs() ?? parts.clock.now();
  run.startedSeconds = secondsOfBoot() - secondsGone(run, parts.clock.now());
  run.uid = run.directory.account() ?? (await place.accounts?.accountOf(run.directory.path));
  if (!isCertain(run, boot === context.boot)) {
    await life.failUnknown(run, NOTHING_LEFT);
    return false;
  }
  // Who creates the start record first decides: if it is us, the program will never start.
  const start = run.directory.abandon() ? 'abandoned' : run.directory.start();
  if (start === 'being written' && !(await isNeverWritten(context, run))) return false;
  if (typeof start === 'object') return true;
  await life.requeue(run);
  return false;
}

/** How long ago it was started; where the machine's uptime is that of a container, by the clock. */
function secondsGone(run: LocalRun, now: number): number {
  const leader = run.directory.leader();
  const seconds = leader ? secondsSince(leader.startTicks) : -1;
  return seconds >= 0 ? seconds : Math.max(0, now - run.startedMs) / 1000;
}

/**
 * True when a run whose supervisor is gone, or ended here, has no start record, for example since the disk was full: its
 * program comes after that.
 */
export async function isNeverStarted({ cleaner }: LocalContext, run: LocalRun): Promise<boolean> {
  if (run.directory.leader()) return false;
  if (run.isAttached) await cleaner.endProcesses(run); // else it was seen to end
  return run.directory.leader() === undefined;
}

/** True when the start record was made so long ago that nobody writes into it any more. */
async function isNeverWritten(context: LocalContext, run: LocalRun): Promise<boolean> {
  run.isAttached = true;
  const age = context.parts.clock.now() - (run.directory.startWrittenMs() ?? 0);
  return age >= STARTING_MS && isNeverStarted(context, run);
}

/**
 * True when the files of a run can tell whether it was started. The directory is there before the permission to
 * start is asked for, and stays until the job is let go of; what was written shortly before the machine went down
 * may be lost.
 */
function isCertain({ directory }: LocalRun, isSameBoot: boolean): boolean {
  if (!directory.exists()) return false;
  if (isSameBoot) return true;
  const start = directory.start(); // of a record that is empty after a loss of power the program may have been started
  return typeof start === 'object' || start === 'abandoned';
}

/** Waits for the end of a run that nobody tells of; false when it is not waited for any more. */
export async function untilEnd(run: LocalRun, isClosed: () => boolean): Promise<boolean> {
  for (let pause = 20; !isClosed(); pause = Math.min(1_000, pause * 2)) {
    const leader = run.leader();
    const isEnded = run.directory.exit() !== undefined || !leader || !isAlive(leader);
    if (isEnded) return true;
    await sleep(pause, { unref: true });
  }
  return false;
}
