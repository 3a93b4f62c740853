import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';

const STOP_DEADLINE_MS = 5_000;

/** How to start a daemon in the foreground. */
export interface DaemonCommand {
  program: string;
  args: string[];
  env?: Record<string, string>;
  uid?: number;
  gid?: number;
  /** File that gets its standard output and error. */
  log: string;
}

/**
 * A system daemon as a direct child of the test: Node reaps it, so that a restart right after kill -9 does not meet
 * the zombie that an orphan would be for seconds.
 */
export class Daemon {
  private child: ChildProcess | undefined;

  constructor(private readonly command: DaemonCommand) {}

  get pid(): number | undefined {
    return this.isRunning ? this.child?.pid : undefined;
  }

  get isRunning(): boolean {
    const { child } = this;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  start(): void {
    const { program, args, env = {}, uid, gid, log } = this.command;
    const file = openSync(log, 'a');
    this.child = spawn(program, args, {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env },
      stdio: ['ignore', file, file],
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
    closeSync(file);
    this.child.on('error', () => undefined);
  }

  signal(name: NodeJS.Signals): void {
    if (this.isRunning) this.child?.kill(name);
  }

  /** Sends the signal and waits for the end; SIGKILL follows when it does not come. */
  async end(name: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { child } = this;
    if (child === undefined || !this.isRunning) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(name);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
    await ended;
    clearTimeout(timer);
  }
}

/** Polls until the probe is true. Throws with `what` after `milliseconds`. */
export async function waitUntil(
  probe: () => Promise<boolean>,
  what: string,
  milliseconds = 60_000,
): Promise<void> {
  const end = Date.now() + milliseconds;
  while (!(await probe())) {
    if (Date.now() > end) throw new Error(`waited ${milliseconds} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ends every process that was started below the directory: it works there, or its environment names it. */
export async function endProcessesBelow(directory: string): Promise<void> {
  await waitUntil(async () => {
    const pids = await processesBelow(directory);
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    return pids.length === 0;
  }, `the end of the processes below ${directory}`);
}

/** The processes that work below the directory, or whose environment names it. */
export async function processesBelow(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => belongs(pid, directory)));
  return pids.filter((pid, index) => pid !== process.pid && found[index]);
}

async function belongs(pid: number, directory: string): Promise<boolean> {
  try {
    const place = await readlink(`/proc/${pid}/cwd`);
    if (place === directory || place.startsWith(`${directory}/`)) return true;
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
    return environment.split('\0').includes(`GRID_TEST_PLACE=${directory}`);
  } catch {
    return false;
  }
}
