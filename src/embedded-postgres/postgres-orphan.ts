import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '#src/kernel/index.js';
import { EmbeddedPostgresError } from './postgres-error.js';
import { postgresProcesses, readPostmasterFile } from './postmaster-file.js';

const POLL_MS = 20;
/** How long each way of asking may take before the next, harder one is used. */
const PATIENCE: { signal: NodeJS.Signals; milliseconds: number }[] = [
  { signal: 'SIGINT', milliseconds: 20_000 },
  { signal: 'SIGQUIT', milliseconds: 10_000 },
  { signal: 'SIGKILL', milliseconds: 10_000 },
];

/**
 * Ends what an earlier, killed server has left running on the data directory and removes the lock file that
 * would stop a new postmaster (its pid may be a zombie's, or another program's by now). Only the holder of
 * the launcher's lock may call it. Nothing acknowledged is lost: the next start replays the log. Answers
 * whether something was running.
 */
export async function endOrphans(data: string, log: (line: string) => void): Promise<boolean> {
  const wasRunning = postgresProcesses(data).length > 0;
  if (wasRunning) await endProcesses(data, log);
  await rm(join(data, 'postmaster.pid'), { force: true });
  return wasRunning;
}

async function endProcesses(data: string, log: (line: string) => void): Promise<void> {
  for (const { signal, milliseconds } of PATIENCE) {
    const running = postgresProcesses(data);
    if (running.length === 0) return;
    const postmaster = readPostmasterFile(data)?.pid;
    log(`stopping the PostgreSQL of a killed server (${signal} to ${running.join(', ')})`);
    const hasPostmaster = postmaster !== undefined && running.includes(postmaster);
    // The postmaster ends its backends in order; without one they end by themselves or are asked one by one.
    for (const pid of hasPostmaster && signal !== 'SIGKILL' ? [postmaster] : running) {
      kill(pid, signal);
    }
    const deadline = Date.now() + milliseconds;
    while (postgresProcesses(data).length > 0 && Date.now() < deadline) await sleep(POLL_MS);
  }
  const left = postgresProcesses(data);
  if (left.length > 0) {
    throw new EmbeddedPostgresError(
      `PostgreSQL processes of an earlier server do not end (pid ${left.join(', ')}): end them by hand`,
    );
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
