import { chmod, chown, lstat, mkdir, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchAccount } from './batch-accounts.js';

/** A run and the account to which its files were given. */
export interface OwnedRun {
  key: string;
  uid: number;
}

const MARKS = ['begun', 'ended'] as const;
type Mark = (typeof MARKS)[number];

const NAMES_AT_ONCE = 512;
/** Names that may be in an account's directory beside those of its runs: of runs that are being removed. */
const SPARE_NAMES = 1_000;

/**
 * `marks/begun/<uid>/` and `marks/ended/<uid>/` of the shared directory: an account's own, with an empty file for each of its runs
 * that began or ended, so that one look for each account tells of all runs, and no account tells of another's.
 */
export class RunMarks {
  /** Accounts that have their directories. */
  private readonly admitted = new Set<number>();

  constructor(
    private readonly root: string,
    private readonly givesFiles: boolean,
  ) {}

  /** Makes the two directories. */
  async prepare(): Promise<void> {
    for (const name of ['', ...MARKS]) {
      const path = join(this.root, 'marks', name);
      await mkdir(path, { recursive: true, mode: 0o711 });
      await chmod(path, 0o711);
    }
  }

  /** Makes the directories of an account, in which nobody else can write. */
  async admit({ uid, gid }: BatchAccount): Promise<void> {
    if (this.admitted.has(uid)) return;
    for (const mark of MARKS) {
      const path = join(this.root, 'marks', mark, String(uid));
      await mkdir(path, { recursive: true, mode: 0o700 });
      if (this.givesFiles) await chown(path, uid, gid);
    }
    this.admitted.add(uid);
  }

  /** Those of the runs of which their own accounts say that they have begun. */
  async begun(runs: Iterable<OwnedRun>): Promise<ReadonlySet<string>> {
    return this.marked('begun', runs);
  }

  /** Those of the runs of which their own accounts say that they have ended. */
  async ended(runs: Iterable<OwnedRun>): Promise<ReadonlySet<string>> {
    return this.marked('ended', runs);
  }

  /** The marks of a run, there or not. */
  pathsOf({ key, uid }: OwnedRun): string[] {
    return MARKS.map((mark) => join(this.root, 'marks', mark, String(uid), key));
  }

  private async marked(mark: Mark, runs: Iterable<OwnedRun>): Promise<ReadonlySet<string>> {
    const byAccount = new Map<number, Set<string>>();
    for (const { key, uid } of runs) {
      const keys = byAccount.get(uid);
      if (keys === undefined) byAccount.set(uid, new Set([key]));
      else keys.add(key);
    }
    const found = [...byAccount].map(async ([uid, keys]) =>
      this.markedOf(join(this.root, 'marks', mark, String(uid)), keys),
    );
    return new Set((await Promise.all(found)).flat());
  }

  /**
   * An account may fill its directory as it likes: where there are far more names than runs they are not read, its
   * runs are looked for one by one.
   */
  private async markedOf(path: string, keys: ReadonlySet<string>): Promise<string[]> {
    const found: string[] = [];
    let left = SPARE_NAMES + 2 * keys.size;
    try {
      for await (const { name } of await opendir(path, { bufferSize: NAMES_AT_ONCE })) {
        if (keys.has(name)) found.push(name);
        left -= 1;
        if (left < 0) return await this.oneByOne(path, keys);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return found;
  }

  private async oneByOne(path: string, keys: ReadonlySet<string>): Promise<string[]> {
    const looks = [...keys].map(async (key) =>
      lstat(join(path, key)).then(
        () => [key],
        () => [],
      ),
    );
    return (await Promise.all(looks)).flat();
  }
}
