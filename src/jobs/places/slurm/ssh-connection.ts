import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '#src/kernel/index.js';
import { SITE_PATH } from '../../run/run-plan.js';
import { SlurmError } from './slurm-error.js';
import { fileFault, sshFaultOf } from './ssh-fault.js';
import { remoteLine, sshOptions, sshTarget, type SshSettings } from './ssh-settings.js';

const SSH = 'ssh';
const OF_SSH = 255;
const NOT_FOUND = 127;
/** sshd allows ten sessions on a connection. */
const AT_ONCE = 4;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 8 * 1024;
/** Longer names of sockets are refused by the kernel (108), and ssh adds a suffix while it makes one. */
const MAX_SOCKET_NAME = 80;
const EXIT_MS = 2_000;

/** What a command there wrote, and how it ended. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs commands on a login node by OpenSSH, with a deadline for each. Throws SlurmError `away` when nobody knows whether the
 * command ran: a key that is not known, a machine that does not answer, an end in the middle.
 */
export class SshConnection {
  /** When it was last found not to answer. */
  lastFaultMs = 0;
  isFailing = false;
  private readonly clock: Clock;
  private directory: Promise<string> | undefined;
  private readonly stopped = new AbortController();
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** In `temporary` is the directory of its sockets. */
  constructor(
    private readonly settings: SshSettings,
    private readonly temporary = tmpdir(),
  ) {
    this.clock = settings.clock ?? systemClock;
  }

  get user(): string {
    return this.settings.user;
  }

  /** Runs a command of Slurm with that on its standard input. */
  async run(words: readonly string[], input = ''): Promise<CommandResult> {
    const line = remoteLine(words, this.settings, SITE_PATH);
    await this.turn();
    try {
      const fault = await fileFault(this.settings);
      if (fault !== undefined) throw new SlurmError('away', fault, 0);
      const result = await this.call(
        [...(await this.options()), ...sshTarget(this.settings), line],
        input,
      );
      this.isFailing = false;
      return result;
    } catch (error) {
      this.noteFault();
      throw error;
    } finally {
      this.running -= 1;
      this.waiting.shift()?.();
    }
  }

  /** The controller did not answer there. */
  noteFault(): void {
    this.lastFaultMs = this.clock.now();
    this.isFailing = true;
  }

  /** Ends what is under way: it fails as `away`. */
  abort(): void {
    this.stopped.abort();
  }

  /** Ends the shared connection. */
  async close(): Promise<void> {
    this.stopped.abort();
    const { directory } = this;
    if (directory === undefined) return;
    const options = sshOptions(this.settings, join(await directory, '%C'));
    await new Promise<void>((resolve) => {
      const child = spawn(SSH, [...options, '-O', 'exit', ...sshTarget(this.settings)], {
        stdio: 'ignore',
        env: ENVIRONMENT,
        timeout: EXIT_MS,
        killSignal: 'SIGKILL',
      });
      child.once('error', () => resolve());
      child.once('exit', () => resolve());
    });
    await rm(await directory, { recursive: true, force: true });
  }

  private async turn(): Promise<void> {
    while (this.running >= AT_ONCE) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    this.running += 1;
  }

  private async options(): Promise<string[]> {
    const directory = await this.socketDirectory();
    const isShort = directory.length + 42 <= MAX_SOCKET_NAME;
    return sshOptions(this.settings, isShort ? join(directory, '%C') : 'none');
  }

  private async socketDirectory(): Promise<string> {
    this.directory ??= mkdtemp(join(this.temporary, 'grid-ssh-'));
    try {
      return await this.directory;
    } catch (error) {
      this.directory = undefined; // a full disk will have room again
      throw new SlurmError(
        'away',
        `no directory for the sockets of ssh: ${(error as Error).message}`,
        0,
      );
    }
  }

  private call(args: readonly string[], input: string): Promise<CommandResult> {
    const { timeoutMs, host } = this.settings;
    return new Promise((resolve, reject) => {
      const away = (why: string): void => reject(new SlurmError('away', why, 0));
      if (this.stopped.signal.aborted) return away('the service is being stopped');
      const child = spawn(SSH, args, { stdio: 'pipe', env: ENVIRONMENT });
      const kill = (): void => void child.kill('SIGKILL');
      let end: string | undefined;
      const timer = setTimeout(() => {
        end = `${host} does not answer (${timeoutMs / 1000} s)`;
        kill();
      }, timeoutMs);
      this.stopped.signal.addEventListener('abort', kill, { once: true });
      const [stdout, stderr] = [new Kept(MAX_OUTPUT_BYTES), new Kept(MAX_ERROR_BYTES)];
      child.stdout.on('data', (part: Buffer) => {
        if (stdout.add(part)) return;
        end = `${host} answers without an end`;
        kill();
      });
      child.stderr.on('data', (part: Buffer) => void stderr.add(part));
      child.stdin.on('error', () => undefined); // it has ended before it read all
      child.stdin.end(input);
      const done = (): void => {
        clearTimeout(timer);
        this.stopped.signal.removeEventListener('abort', kill);
      };
      child.once('error', ({ message }) => {
        done();
        away(`ssh cannot be started: ${message}`);
      });
      child.once('close', (code) => {
        done();
        if (end !== undefined) return away(end);
        if (code === null) return away('ssh was ended in the middle');
        if (code === OF_SSH) return away(sshFaultOf(stderr.text(), this.settings));
        if (code === NOT_FOUND) return away(`${host} has no such command: check programs`);
        resolve({ code, stdout: stdout.text(), stderr: stderr.text() });
      });
    });
  }
}

/** No agent, no askpass, no variable that changes what ssh does. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };

/** The first bytes of a stream. */
class Kept {
  private readonly parts: Buffer[] = [];
  private size = 0;

  constructor(private readonly most: number) {}

  /** False when it is full. */
  add(part: Buffer): boolean {
    if (this.size >= this.most) return false;
    this.parts.push(part);
    this.size += part.length;
    return true;
  }

  text(): string {
    return Buffer.concat(this.parts).toString('utf8');
  }
}
