import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';

const APPENDED = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/** A program that is to be started. */
export interface StartOrder {
  program: string;
  words: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Files that are there and become standard output and error, to which is appended; undefined for none. */
  output?: { stdout: string; stderr: string } | undefined;
  /** Ended after so long; undefined for never. */
  timeoutMs?: number | undefined;
}

/**
 * Starts a program in a session of its own, which outlives this process, and resolves with its code when it has ended, with null after a
 * signal. Rejects with the system's error when it cannot be started.
 */
export async function startProgram(order: StartOrder): Promise<number | null> {
  const { program, words, cwd, env, output, timeoutMs } = order;
  const files: number[] = [];
  let child: ChildProcess;
  try {
    const paths = output ? new Set([output.stdout, output.stderr]) : [];
    for (const path of paths) files.push(openSync(path, APPENDED));
    child = spawn(program, words, {
      ...{ cwd, env, detached: true },
      stdio: ['ignore', files[0] ?? 'ignore', files.at(-1) ?? 'ignore'],
      ...(timeoutMs !== undefined && { timeout: timeoutMs, killSignal: 'SIGKILL' }),
    });
  } finally {
    for (const file of files) closeSync(file);
  }
  child.unref();
  return new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
}
