import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { MachineFault, randomId } from '#src/kernel/index.js';
import { hasProcesses, isAlive, processEntry } from '../watch/process-table.js';
import { targetOf } from './system-view.js';

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
const TRIES_A_TURN = 20;
/** Held while abandoned accounts are freed; names its holder. */
const SWEEP = 'sweep';
/** Whoever has held it for longer is dead, also where its process cannot be seen. */
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
 * Accounts of this machine for running jobs: one each, never two at once, whichever instance asks. A link per account in
 * use, made exclusively and naming the directory of its run, is the lock; it outlives the service as the run does. An
 * account whose run has gone without giving it back (the home of the instance was removed) is free when no process has it.
 * A link is there with what it says, or not at all: a file of somebody who was killed before he wrote into it says nothing.
 *
 * Calls about one lock are synchronous; whatever looks at many locks or at the processes of the machine is not, and does
 * one after the other.
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

  /** Takes a free account for a run, whose directory is there already. Throws MachineFault when none is free. */
  async take(runPath: string): Promise<number> {
    const { first, last } = this.range;
    const count = last - first + 1;
    for (let tried = 0; tried < Math.min(count, TRIES); tried += 1) {
      const uid = this.next;
      this.next = uid >= last ? first : uid + 1;
      if (this.lock(uid, runPath)) return uid;
      await this.freeWhenAbandoned(uid); // for others: this run goes on to another
      if (tried % TRIES_A_TURN === TRIES_A_TURN - 1) await setImmediate();
    }
    throw new MachineFault(`no account of ${first}-${last} is free`);
  }

  /** The directory of a run was moved; nobody must take its account for abandoned. */
  move(uid: number, from: string, to: string): void {
    if (this.holder(uid) !== from) return;
    const draft = this.draftOf(uid);
    rmSync(draft, { force: true });
    symlinkSync(to, draft);
    renameSync(draft, this.pathOf(uid));
  }

  /** The account is clean: others may have it. Only the run that holds it gives it back. */
  release(uid: number, runPath: string): void {
    if (this.holder(uid) === runPath) this.free(uid);
  }

  /** The account that was taken for a run, also when nothing of its directory is left; undefined when there is none. */
  async accountOf(runPath: string): Promise<number | undefined> {
    for await (const { uid, holder } of this.taken()) if (holder === runPath) return uid;
    return undefined;
  }

  /** Frees the accounts of runs below a directory that are gone: whoever held them was killed before it could tell. */
  async freeAbandoned(runs: string): Promise<void> {
    for await (const { uid, holder } of this.taken()) {
      if (dirname(holder) === runs) await this.freeWhenAbandoned(uid);
    }
  }

  private async *taken(): AsyncGenerator<{ uid: number; holder: string }> {
    for (const name of await readdir(this.directory)) {
      if (!/^\d+$/.test(name)) continue;
      const holder = await readlink(join(this.directory, name)).catch(() => undefined);
      if (holder !== undefined) yield { uid: Number(name), holder };
    }
  }

  private lock(uid: number, runPath: string): boolean {
    try {
      symlinkSync(runPath, this.pathOf(uid));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    }
  }

  /**
   * Frees an account whose run is gone. One at a time on the machine: of two that see the same abandoned lock the
   * second one would remove that of the account's next run.
   */
  private async freeWhenAbandoned(uid: number): Promise<void> {
    const gone = this.holderGone(uid);
    if (gone === undefined || !this.lockSweep()) return;
    try {
      const isUsed = await hasProcesses(uid);
      // Meanwhile its run may have given it back, and another may have taken it.
      if (!isUsed && this.holderGone(uid) === gone) this.free(uid);
    } finally {
      rmSync(join(this.directory, SWEEP), { force: true });
    }
  }

  /** The directory of the run that holds the account, when it is there no more. */
  private holderGone(uid: number): string | undefined {
    const holder = this.holder(uid);
    return holder === undefined || existsSync(holder) ? undefined : holder;
  }

  private lockSweep(isAgain = false): boolean {
    const path = join(this.directory, SWEEP);
    try {
      symlinkSync(ownMark(), path);
      return true;
    } catch {
      const mark = targetOf(path);
      const madeMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      const isOld = Date.now() - madeMs > SWEEP_LASTS_MS;
      if (isAgain || mark === undefined || !(isOld || isDead(mark))) return false;
      this.removeLock(path, mark);
      return this.lockSweep(true);
    }
  }

  /** Removes the lock whose holder was killed, and not the one that another has made meanwhile. */
  private removeLock(path: string, mark: string): void {
    const aside = `${path}.${randomId()}`;
    try {
      renameSync(path, aside);
      if (targetOf(aside) !== mark) linkSync(aside, path);
    } catch {
      // another one was faster
    } finally {
      rmSync(aside, { force: true });
    }
  }

  private holder(uid: number): string | undefined {
    return targetOf(this.pathOf(uid));
  }

  private free(uid: number): void {
    rmSync(this.draftOf(uid), { force: true });
    rmSync(this.pathOf(uid), { force: true });
  }

  private draftOf(uid: number): string {
    return `${this.pathOf(uid)}.new`;
  }

  private pathOf(uid: number): string {
    return join(this.directory, String(uid));
  }
}

/** Names this process on the machine: its pid namespace, pid and when it was started. */
function ownMark(): string {
  return [pidNamespace(), process.pid, processEntry(process.pid)?.startTicks ?? '0'].join(' ');
}

/** True when the process of the mark is known to be gone; of one in another pid namespace nothing is known. */
function isDead(mark: string): boolean {
  const [namespace = '', pid = '', startTicks = ''] = mark.split(' ');
  return (
    namespace !== '' && namespace === pidNamespace() && !isAlive({ pid: Number(pid), startTicks })
  );
}

function pidNamespace(): string {
  return targetOf('/proc/self/ns/pid') ?? '';
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
