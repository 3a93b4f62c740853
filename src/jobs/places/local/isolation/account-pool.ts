import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { allProcesses } from '../watch/process-table.js';

/** First and last account of those that jobs may have (`GRID_LOCAL_ACCOUNTS`). */
export interface AccountRange {
  first: number;
  last: number;
}

/** Highest id that is an id: the last one means "none" to the system. */
const MAX_ID = 2 ** 32 - 2;
const LOWEST_ID = 1000;
/** Accounts that could not be left clean are not tried again before all others. */
const TRIES = 10_000;
/** Held while abandoned accounts are freed. */
const SWEEP = 'sweep';
const SWEEP_LASTS_MS = 60_000;

/** Reads `GRID_LOCAL_ACCOUNTS`: `200000-265535`. Throws Error for anything else. */
export function parseAccounts(text: string): AccountRange {
  const match = /^(\d{1,10})[-–](\d{1,10})$/.exec(text.trim());
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || first < LOWEST_ID || last > MAX_ID || last < first) {
    throw new Error(
      `GRID_LOCAL_ACCOUNTS=${text} is no range of accounts, such as 200000-265535 (from ${LOWEST_ID})`,
    );
  }
  return { first, last };
}

/**
 * Accounts of this machine for running jobs: one each, never two at once, whichever instance asks. A file per account in
 * use, made exclusively and naming the directory of its run, is the lock; it outlives the service as the run does. An
 * account whose run has gone without giving it back (the home of the instance was removed) is free when no process has it.
 */
export class AccountPool {
  private next: number;

  /** `directory` is root's alone. Starts somewhere in the range, so that instances seldom meet. */
  constructor(
    private readonly directory: string,
    private readonly range: AccountRange,
    start = Math.random(),
  ) {
    this.next = range.first + Math.floor(start * (range.last - range.first + 1));
  }

  /** Takes a free account for a run, whose directory is there already. Throws Error when none is free. */
  take(runPath: string): number {
    const { first, last } = this.range;
    const count = last - first + 1;
    for (let tried = 0; tried < Math.min(count, TRIES); tried += 1) {
      const uid = this.next;
      this.next = uid >= last ? first : uid + 1;
      if (this.lock(uid, runPath)) return uid;
    }
    throw new Error(`no account of ${first}-${last} is free`);
  }

  /** The directory of a run was moved; nobody must take its account for abandoned. */
  move(uid: number, from: string, to: string): void {
    if (this.holder(uid) !== from) return;
    const draft = `${this.pathOf(uid)}.new`;
    writeFileSync(draft, to, { mode: 0o600 });
    renameSync(draft, this.pathOf(uid));
  }

  /** The account is clean: others may have it. Only the run that holds it gives it back. */
  giveBack(uid: number, runPath: string): void {
    if (this.holder(uid) === runPath) rmSync(this.pathOf(uid), { force: true });
  }

  /** The account that was taken for a run, also when nothing of its directory is left; undefined when there is none. */
  accountOf(runPath: string): number | undefined {
    return this.taken().find((uid) => this.holder(uid) === runPath);
  }

  /** Frees the accounts of runs below a directory that are gone: whoever held them was killed before it could tell. */
  freeAbandoned(runs: string): void {
    for (const uid of this.taken()) {
      if (dirname(this.holder(uid) ?? '') === runs) this.freeWhenAbandoned(uid);
    }
  }

  private taken(): number[] {
    const names = readdirSync(this.directory).filter((name) => /^\d+$/.test(name));
    return names.map(Number);
  }

  private lock(uid: number, runPath: string): boolean {
    const path = this.pathOf(uid);
    try {
      writeFileSync(path, runPath, { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    this.freeWhenAbandoned(uid);
    return false; // this one goes on to another
  }

  /**
   * Frees an account whose run is gone. One at a time on the machine: of two that see the same abandoned lock the
   * second one would remove that of the account's next run.
   */
  private freeWhenAbandoned(uid: number): void {
    const isAbandoned = (): boolean => {
      const holder = this.holder(uid);
      // An empty file is being written this moment.
      return holder !== undefined && holder !== '' && !existsSync(holder);
    };
    if (!isAbandoned() || !this.lockSweep()) return;
    try {
      if (isAbandoned() && !hasProcesses(uid)) rmSync(this.pathOf(uid), { force: true });
    } finally {
      rmSync(join(this.directory, SWEEP), { force: true });
    }
  }

  private lockSweep(): boolean {
    const path = join(this.directory, SWEEP);
    try {
      writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
      return true;
    } catch {
      const madeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - madeMs > SWEEP_LASTS_MS) rmSync(path, { force: true }); // its maker was killed
      return false;
    }
  }

  private holder(uid: number): string | undefined {
    try {
      return readFileSync(this.pathOf(uid), 'utf8');
    } catch {
      return undefined;
    }
  }

  private pathOf(uid: number): string {
    return join(this.directory, String(uid));
  }
}

function hasProcesses(uid: number): boolean {
  return allProcesses().some((entry) => entry.uid === uid);
}

const PARENTS = ['/run', '/var/run', '/var/tmp', '/tmp'];

/** The directory of locks, which all instances of the machine share. Throws Error when none can be made. */
export function accountDirectory(parents: readonly string[] = PARENTS): string {
  for (const parent of parents) {
    const path = join(parent, 'gridgate-accounts');
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') continue;
    }
    const info = lstatSync(path);
    // Anybody may make names in a temporary directory: only one of our own is used.
    if (info.isDirectory() && info.uid === process.getuid?.() && (info.mode & 0o077) === 0) {
      return path;
    }
  }
  throw new Error('there is no place for the locks of accounts: /run cannot be written');
}
