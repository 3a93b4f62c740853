import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { machineFaultOf } from '#src/kernel/index.js';
import { type ExitRecord, type RunOrder, tailOf } from '#src/jobs/run/index.js';
import { RUN_FILES } from '../isolation/isolation.js';
import { ABANDONED_RECORD, cpuSecondsOf } from '../isolation/supervisor.js';

/** Who runs, as the supervisor wrote it. */
export interface StartRecord {
  pid: number;
  startTicks: string;
}

/** What the `started` file says. */
export type Start = StartRecord | 'abandoned' | 'being written' | 'none';

/** Name of the file with the token, in its directory. */
export const TOKEN_FILE = 'bearer';
/** End of the name of a directory that is being removed. */
export const ASIDE = '.gone';
/** Name of the file with what is kept of the order. */
export const ORDER_FILE = 'order';
const GPUS_FILE = 'gpus';
const GROUP_FILE = 'group';
/** Also of one that is being removed. */
const RUN_NAME = /^\d+\.\d+(\.gone[\w-]*)?$/;
const SAID_BYTES = 500;

/**
 * The directory of one run. Two directories in it, `work` and `tmp`, become the job's with `handOver`; everything else is
 * the service's: the files in which supervisor and service tell each other what has happened (see SUPERVISOR_SCRIPT), and
 * the two files of the output, of which the job has descriptors. The directory itself is never the job's, so no name in
 * it can be exchanged. Calls are synchronous: they are short, local, and a third of the CPU of promises, which at a
 * hundred short jobs a second is what limits the rate.
 */
export class RunDirectory {
  readonly work: string;
  readonly tmp: string;

  constructor(readonly path: string) {
    this.work = join(path, RUN_FILES.work);
    this.tmp = join(path, RUN_FILES.tmp);
  }

  /** Makes the directory anew; `isPassable` when another account has to get to its own part. Throws EEXIST. */
  create(isPassable: boolean): void {
    mkdirSync(this.path, { mode: 0o711 });
    chmodSync(this.path, isPassable ? 0o711 : 0o700); // mkdir obeys the umask
    mkdirSync(this.work, { mode: 0o700 });
    mkdirSync(this.tmp, { mode: 0o700 });
  }

  /**
   * The account of the run, to which its launch script was given; undefined for the service's own, and before anything was
   * handed over.
   */
  account(): number | undefined {
    const info = statSync(join(this.path, RUN_FILES.launch), { throwIfNoEntry: false });
    return info === undefined || info.uid === process.getuid?.() ? undefined : info.uid;
  }

  /** Writes the launch script, and gives the job what is its own, that first. No process of that account lives yet. */
  handOver(uid: number | undefined, launch: string): void {
    const path = join(this.path, RUN_FILES.launch);
    writeFileSync(path, launch, { flag: 'wx', mode: 0o400 });
    if (uid === undefined) return;
    chownSync(path, uid, uid);
    chownSync(this.tmp, uid, uid);
    chownSync(this.work, uid, uid);
  }

  /** Keeps an order, before anything else is there. */
  writeOrder(text: string): void {
    this.write(ORDER_FILE, text);
  }

  /** Notes which GPUs the run has, by their device files, before it is started. */
  noteGpus(devices: readonly string[]): void {
    this.write(GPUS_FILE, devices.join('\n'));
  }

  /** Those that were noted. */
  gpus(): string[] {
    return this.read(GPUS_FILE)?.split('\n') ?? [];
  }

  /** Nothing of the run lives: others may have its GPUs. */
  dropGpus(): void {
    rmSync(join(this.path, GPUS_FILE), { force: true });
  }

  /** Notes the path of its control group, before it is started. */
  noteGroup(path: string): void {
    this.write(GROUP_FILE, path);
  }

  /** The one that was noted. */
  group(): string | undefined {
    return this.read(GROUP_FILE);
  }

  /** Makes the file of one output; answers its path. The job may open its descriptor of it again, as `/dev/stdout`. */
  makeOutput(name: 'out' | 'err', uid: number | undefined): string {
    this.write(name, '');
    const path = join(this.path, name);
    if (uid !== undefined) chownSync(path, uid, uid);
    return path;
  }

  /**
   * Puts a token where the job reads it: a file that it finds whole, and that no other account can read. The directory is
   * the service's, so that nothing in it can be exchanged. Throws ENOENT when the run is over and removed.
   */
  writeToken(token: string, uid: number | undefined): void {
    const directory = join(this.path, RUN_FILES.token);
    const draft = join(directory, `${TOKEN_FILE}.new`);
    if (!existsSync(directory)) mkdirSync(directory, { mode: 0o711 });
    if (uid !== undefined) chmodSync(directory, 0o711); // mkdir obeys the umask
    rmSync(draft, { force: true }); // of somebody who was killed
    writeFileSync(draft, token, { flag: 'wx', mode: 0o400 });
    if (uid !== undefined) chownSync(draft, uid, uid);
    renameSync(draft, join(directory, TOKEN_FILE));
  }

  /** True for a run that was given a token. */
  hasToken(): boolean {
    return existsSync(join(this.path, RUN_FILES.token));
  }

  exists(): boolean {
    return existsSync(this.path);
  }

  /** Decides that the run never starts. False when the supervisor was first. Throws when there is no directory. */
  abandon(): boolean {
    try {
      this.write('started', ABANDONED_RECORD);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Who runs, or has run, here. */
  start(): Start {
    const text = this.read('started');
    if (text === undefined) return 'none';
    if (text === ABANDONED_RECORD) return 'abandoned';
    const match = /^(\d+) (\d+) end\n/.exec(text);
    if (!match) return 'being written';
    return { pid: Number(match[1]), startTicks: match[2] as string };
  }

  /** The leader of its session, once the supervisor has said who it is. */
  leader(): StartRecord | undefined {
    const start = this.start();
    return typeof start === 'object' ? start : undefined;
  }

  /** How the payload ended; undefined while it has not, or when the supervisor did not live to see it. */
  exit(): ExitRecord | undefined {
    return this.endIn('started', this.read('started')) ?? this.endIn('exit', this.olderEnd());
  }

  /** What was said when bubblewrap could not make the sandbox of the run; undefined when it could. */
  enclosureFault(): string | undefined {
    if (this.read('started')?.includes('"exit-code"') !== false) return undefined;
    return tailOf(join(this.path, RUN_FILES.stderr), SAID_BYTES).trim();
  }

  /** The payload could not enter its control group, and has not run. */
  hasGroupFault(): boolean {
    return this.read('started')?.includes('\nno group\n') === true;
  }

  /** When the start record was made, milliseconds; undefined when there is none, or its file system does not say. */
  startedMs(): number | undefined {
    const made = statSync(join(this.path, 'started'), { throwIfNoEntry: false })?.birthtimeMs;
    return made === 0 ? undefined : made;
  }

  /** When the start record was written last, milliseconds; undefined when there is none. */
  startWrittenMs(): number | undefined {
    return statSync(join(this.path, 'started'), { throwIfNoEntry: false })?.mtimeMs;
  }

  /**
   * Notes why the service ends the payload, before it does; the first reason stays. On a full disk nothing is noted: the job
   * that has filled it is to be ended all the same.
   */
  noteLimit(reason: string): void {
    try {
      this.write('verdict', reason);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isFine = code === 'EEXIST' || code === 'ENOENT' || machineFaultOf(error) !== undefined;
      if (!isFine) throw error;
    }
  }

  /** The reason noted by `noteLimit`. */
  verdict(): string | undefined {
    return this.read('verdict') || undefined;
  }

  /** The files of the output by the names that the job gave them; both may be one. */
  outputs(plan: { stdout: string; stderr: string }): Map<string, string> {
    const stdout = join(this.path, RUN_FILES.stdout);
    const stderr = plan.stderr === plan.stdout ? stdout : join(this.path, RUN_FILES.stderr);
    return new Map([
      [plan.stdout, stdout],
      [plan.stderr, stderr],
    ]);
  }

  private endIn(name: string, text = ''): ExitRecord | undefined {
    const [, children = '', code] = /\n(.*)\n(\d+) end\n$/.exec(text) ?? [];
    if (code === undefined) return undefined;
    const { mtime } = statSync(join(this.path, name));
    return { code: Number(code), cpuSeconds: cpuSecondsOf(children), endedAt: mtime };
  }

  /** What the supervisor of a version before wrote, in two files; such a run may have gone on over an upgrade. */
  private olderEnd(): string | undefined {
    const exit = this.read('exit');
    return exit === undefined ? undefined : `${this.read('usage') ?? '\n\n'}${exit}`;
  }

  private write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text, { flag: 'wx', mode: 0o600 });
  }

  private read(name: string): string | undefined {
    return textOf(join(this.path, name));
  }
}

/** Undefined when there is no such file. Throws the file system's error when it cannot be read. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Name of a run in the exchanges, and of its directory. */
export function runName({ jid, attempt }: Pick<RunOrder, 'jid' | 'attempt'>): string {
  return `${jid}.${attempt}`;
}

/** The names of the directories of runs there, also of those that are being removed. Throws the file system's error. */
export function runsBelow(root: string): string[] {
  return readdirSync(root).filter((name) => RUN_NAME.test(name));
}

/** The GPUs that they have. Throws the file system's error. */
export function notedGpus(root: string): string[] {
  return runsBelow(root).flatMap((name) => new RunDirectory(join(root, name)).gpus());
}
