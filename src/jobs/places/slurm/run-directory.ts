import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { randomId } from '#src/kernel/index.js';
import type { BatchAccount } from './batch-accounts.js';
import type { BatchShape } from './batch-shape.js';
import { RunMarks } from './run-marks.js';
import {
  parseExitRecord,
  parseStartRecord,
  type ExitRecord,
  type StartRecord,
} from './run-record.js';

const run = promisify(execFile);
/** Where the link `claim` of a run that must not start points to; that of a started one says `started`. */
const START_PREVENTED = 'fenced';
const KEY = /^[0-9a-z-]{1,64}$/;
const MAX_RECORD_BYTES = 4_096;
const REMOVE_AT_ONCE = 100;
const REMOVE_TIMEOUT_MS = 60_000;

/** What the shared directory keeps of an array. */
export interface StoredBatch {
  id: string;
  comment: string;
  shape: BatchShape;
  keys: readonly string[];
  /**
   * Under which it runs, and in whose name Slurm is spoken to about it, whatever the settings say later; absent in what
   * an older release has stored.
   */
  account?: BatchAccount | undefined;
  arrayId?: number | undefined;
}

interface Owner {
  uid: number;
  gid: number;
}

/**
 * The directory that the service and the batch nodes share:
 *
 *     runs/<key>/            the service's; others pass through it, and read nothing but their own
 *       wrapper              the script of the run, with what its environment holds; its account's
 *       cancel               says that the payload is to end
 *       work/                the payload's working directory, with the input sandbox; its account's
 *       record/              what the wrapper writes; its account's
 *     batches/<id>           the runs of an array, one line a task
 *     batches/<id>.json      what the service knows of the array; nobody else reads it
 *     mark                   tells this directory from others
 *     marks/begun/<uid>/ marks/ended/<uid>/   an account's own: an empty file for each of its runs that began or ended, so that
 *                            one look for each account tells of all runs, and no account tells of another's
 *
 * The payload may do what it likes in what is its account's, so nothing there is followed or believed.
 */
export class RunDirectory {
  /** Tells this directory from those of other services; part of the comment of every batch job. */
  mark = '';

  /** Which runs begin and end. */
  readonly marks: RunMarks;

  constructor(
    readonly root: string,
    /** The service is root: what belongs to runs is given to their accounts. */
    private readonly givesFiles: boolean,
    /** How the nodes call the same directory. */
    readonly nodeRoot = root,
  ) {
    this.marks = new RunMarks(root, givesFiles);
  }

  /** Makes the parts that all runs share. Throws when somebody else could exchange them. */
  async prepare(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o755 });
    const { mode, uid } = await stat(this.root);
    if ((mode & 0o002) !== 0) {
      throw new Error(
        `the directory shared with Slurm, ${this.root}, must not be writable by everybody`,
      );
    }
    if (this.givesFiles && uid !== process.getuid?.()) {
      throw new Error(`the directory shared with Slurm, ${this.root}, must belong to the service`);
    }
    for (const name of ['runs', 'batches']) {
      const path = join(this.root, name);
      await mkdir(path, { recursive: true, mode: 0o711 });
      // To be passed by who knows a name in it, not to be listed.
      await chmod(path, 0o711);
    }
    await this.marks.prepare();
    this.mark = await this.readMark();
  }

  /**
   * Makes the directory of a run, whole or not at all; `fill` puts the input sandbox into the working directory. A
   * run that is there already is left as it is: it may have started.
   */
  async stage(
    { key, account }: { key: string; account: BatchAccount },
    wrapper: string,
    fill: (directory: string) => Promise<void>,
  ): Promise<void> {
    const target = this.pathOf(key);
    if (await exists(target)) return;
    await this.marks.admit(account);
    const draft = `${target}.new`;
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft);
    await chmod(draft, 0o711);
    await mkdir(join(draft, 'work'), { mode: 0o700 });
    await mkdir(join(draft, 'record'), { mode: 0o700 });
    await writeFile(join(draft, 'wrapper'), wrapper, { mode: 0o400 });
    await fill(join(draft, 'work'));
    for (const name of ['wrapper', 'work', 'record']) {
      await this.chownTo(join(draft, name), account);
    }
    await rename(draft, target);
  }

  /** To whom the files of a run were given; undefined when it has no directory. Only the service can change it. */
  async ownerOf(key: string): Promise<{ uid: number; gid: number } | undefined> {
    try {
      const { uid, gid } = await lstat(join(this.pathOf(key), 'record'));
      return { uid, gid };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Writes the list of an array, and what else must be known of it to submit it again. */
  async writeBatch(batch: StoredBatch): Promise<void> {
    await this.writeWhole(this.batchPath(batch.id), `${batch.keys.join('\n')}\n`);
    await this.noteBatch(batch);
  }

  /** Notes what has become of a batch; its list stays. */
  async noteBatch(batch: StoredBatch): Promise<void> {
    await this.writeWhole(`${this.batchPath(batch.id)}.json`, JSON.stringify(batch), 0o600);
  }

  /** The batches that were written whole. */
  async batches(): Promise<StoredBatch[]> {
    const names = await readdir(join(this.root, 'batches'));
    const found = names
      .filter((name) => name.endsWith('.json'))
      .map(async (name) => {
        const text = await readFile(join(this.root, 'batches', name), 'utf8');
        return JSON.parse(text) as StoredBatch;
      });
    return Promise.all(found);
  }

  async removeBatch(id: string): Promise<void> {
    await rm(`${this.batchPath(id)}.json`, { force: true });
    await rm(this.batchPath(id), { force: true });
  }

  /** How the nodes call the working directory of a run. */
  nodeWorkPath(key: string): string {
    return join(this.nodeRoot, 'runs', key, 'work');
  }

  /** How the nodes call the list of a batch. */
  nodeBatchPath(id: string): string {
    return join(this.nodeRoot, 'batches', basename(this.batchPath(id)));
  }

  /** The list of a batch, which its script reads. */
  batchPath(id: string): string {
    if (!KEY.test(id)) throw new Error('not the name of a batch');
    return join(this.root, 'batches', id);
  }

  /**
   * Takes the one permission to start. True: the payload has not started and never will, whoever starts its wrapper;
   * false: it has started, or somebody has taken the permission before. A run without a directory never starts.
   */
  async preventStart(key: string): Promise<boolean> {
    const claim = join(this.pathOf(key), 'record', 'claim');
    try {
      await symlink(START_PREVENTED, claim);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return this.isGone(key);
      if (code !== 'EEXIST') throw error;
      return (await readlink(claim).catch(() => '')) === START_PREVENTED;
    }
  }

  /** No directory, no start; but a shared directory that is away as a whole says nothing. */
  private async isGone(key: string): Promise<true> {
    if (await exists(join(this.root, 'runs'))) return true;
    throw new Error(`the shared directory is away, so nothing is known of ${key}`);
  }

  /** Tells the wrapper to end the payload. */
  async cancel(key: string): Promise<void> {
    try {
      await writeFile(join(this.pathOf(key), 'cancel'), '');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** How the run ended; undefined while it has not, or when it left no readable record. */
  async exitRecord(key: string): Promise<ExitRecord | undefined> {
    const text = await this.readRecord(key, 'exit');
    return text === undefined ? undefined : parseExitRecord(text);
  }

  /** How the run began; undefined when it has not. */
  async startRecord(key: string): Promise<StartRecord | undefined> {
    const text = await this.readRecord(key, 'start');
    return text === undefined ? undefined : parseStartRecord(text);
  }

  /** Time of the last sign of life by the file server's clock: only changes of it say something. */
  async heartbeat(key: string): Promise<number | undefined> {
    const record = join(this.pathOf(key), 'record');
    for (const name of ['alive', 'start', 'claim']) {
      const info = await lstat(join(record, name)).catch(() => undefined);
      if (info !== undefined) return info.mtimeMs;
    }
    return undefined;
  }

  /** True when the run has left the record of its end, or says that it has ended. */
  async hasEnded(key: string): Promise<boolean> {
    const owner = await this.ownerOf(key);
    if (owner === undefined) return false;
    const isMarked = (await this.marks.ended([{ key, uid: owner.uid }])).has(key);
    return isMarked || (await this.exitRecord(key)) !== undefined;
  }

  /** True when the run has a directory. */
  async exists(key: string): Promise<boolean> {
    return exists(this.pathOf(key));
  }

  /** The runs that have a directory. */
  async known(): Promise<string[]> {
    return (await readdir(join(this.root, 'runs'))).filter((name) => KEY.test(name));
  }

  /** Where a run lives; beside its `work` nothing in it is the payload's. */
  pathOf(key: string): string {
    if (!KEY.test(key)) throw new Error('not the key of a run');
    return join(this.root, 'runs', key);
  }

  /**
   * Removes runs. What the payloads wrote is removed in the name of their account: as root one could be led through
   * a link to somebody else's files by a process that is still there.
   */
  async remove(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += REMOVE_AT_ONCE) {
      const some = keys.slice(from, from + REMOVE_AT_ONCE);
      const left = new Map<string, { owner: Owner; paths: string[] }>();
      for (const key of some) {
        const owner = await this.ownerOf(key);
        if (owner === undefined) continue;
        const own = left.get(`${owner.uid}:${owner.gid}`) ?? { owner, paths: [] };
        own.paths.push(...this.theirsOf(key, owner.uid));
        left.set(`${owner.uid}:${owner.gid}`, own);
      }
      for (const { owner, paths } of left.values()) await this.removeAs(owner, paths);
      for (const key of some) await rm(this.pathOf(key), { recursive: true, force: true });
    }
  }

  /** What of a run belongs to its account. */
  private theirsOf(key: string, uid: number): string[] {
    const run = this.pathOf(key);
    return [join(run, 'work'), join(run, 'record'), ...this.marks.pathsOf({ key, uid })];
  }

  private async removeAs(owner: Owner, paths: string[]): Promise<void> {
    const account = this.givesFiles ? owner : {};
    const options = { ...account, timeout: REMOVE_TIMEOUT_MS };
    // The two directories themselves cannot be removed by the account, and what the payload made unreadable is left: rm
    // says so and goes on.
    await run('rm', ['-rf', '--', ...paths], options).catch(() => undefined);
  }

  private async readMark(): Promise<string> {
    const path = join(this.root, 'mark');
    const options = { flag: 'wx', mode: 0o644 };
    await writeFile(path, randomId().slice(0, 8), options).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
    return (await readFile(path, 'utf8')).trim();
  }

  private async writeWhole(path: string, text: string, mode = 0o644): Promise<void> {
    await writeFile(`${path}.new`, text, { mode });
    await rename(`${path}.new`, path);
  }

  private async readRecord(key: string, name: string): Promise<string | undefined> {
    try {
      const path = join(this.pathOf(key), 'record', name);
      const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
      const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        if (!(await handle.stat()).isFile()) return undefined;
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_RECORD_BYTES));
        return buffer.toString('utf8', 0, bytesRead);
      } finally {
        await handle.close();
      }
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (['ENOENT', 'ELOOP', 'ENXIO', 'ESTALE', 'EACCES'].includes(code)) return undefined;
      throw error;
    }
  }

  private async chownTo(path: string, { uid, gid }: BatchAccount): Promise<void> {
    if (this.givesFiles) await chown(path, uid, gid);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
