import { chmodSync, existsSync, lstatSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { type Clock, loopTurn, randomId } from '#src/kernel/index.js';
import type { OutputPlaces, RunPlace } from '#src/jobs/run/index.js';
import type { Logger } from '#src/runtime/index.js';
import { removeGroup } from '../isolation/memory-group.js';
import type { LocalRun } from './local-run.js';
import { MachineSweeps } from './machine-sweeps.js';
import type { LocalPlace } from './open-place.js';
import { ASIDE, RunDirectory, runsBelow } from './run-directory.js';
import type { RunTraces } from '../watch/run-members.js';
import type { Watcher } from '../watch/watcher.js';

const END_MS = 5_000;
/** Processes that slipped away from runs that are over are looked for so often. */
const ORPHAN_CHECK_MS = 30_000;
/** Processes that empty directories at the same time. */
const SWEEPS_AT_ONCE = 3;
/**
 * Directories up to this size, bytes, are removed at once. One that was filled with names stays as large when it is
 * empty, and its removal reads all of it: 62 ms of processor time after 100,000 names (ext4).
 */
const SMALL_DIRECTORY_BYTES = 65_536;

/**
 * What the life of runs has to know of this machine. Ends processes of runs and removes what they have left; a run's account is free
 * when both are certain.
 */
export class RunCleaner implements RunPlace<LocalRun> {
  /** Directories that are being removed at this moment. */
  private readonly removing = new Set<string>();
  /** Directories of runs of which a process lives on. */
  private readonly undead = new Set<string>();
  private readonly emptying = pLimit(SWEEPS_AT_ONCE);
  private readonly machine: MachineSweeps;
  private orphansCheckedAt = 0;
  /** Directories of runs at the last look: those that nobody knows at the next one are removed. */
  private seen: readonly string[];
  /** Those that were begun to be removed since the last look for orphans: what is still there then is tried again. */
  private readonly tried = new Set<string>();

  constructor(
    private readonly place: LocalPlace,
    private readonly parts: { logger: Logger; clock: Clock },
    private readonly watcher: Watcher,
  ) {
    this.machine = new MachineSweeps(place.rights);
    // At the first time that is whatever a predecessor left: nothing of this process is there yet.
    this.seen = runsBelow(this.place.root.path);
  }

  /** Ends every process of a run, its supervisor last. */
  async endProcesses(run: LocalRun): Promise<void> {
    const { path } = run.directory;
    const isGone = await this.end(path, run.traces());
    if (isGone) this.undead.delete(path);
    else {
      this.undead.add(path);
      this.parts.logger.warn({ jid: run.key }, 'processes of a job do not end');
    }
  }

  /** True when the last look at its processes has found none that lives on. */
  isEnded(run: LocalRun): boolean {
    return !this.undead.has(run.directory.path);
  }

  outputOf(run: LocalRun): OutputPlaces {
    const { directory, plan, uid } = run;
    const files = directory.outputs(plan);
    if (uid === undefined) for (const path of files.values()) makeReadable(path);
    const seenAs = this.place.isolation.placesOf(directory.path).work;
    return { directory: directory.work, seenAs, files, uid };
  }

  /** Removes what a run has left; not there is fine. Resolves when its name is free for another try. */
  async remove(run: LocalRun): Promise<void> {
    await loopTurn.room(); // hundreds may end at once, and each removes its directories synchronously
    const { path } = run.directory;
    const uid = run.uid ?? run.directory.account();
    if (!existsSync(path)) {
      if (uid !== undefined) this.place.accounts?.release(uid, path);
      return;
    }
    const isEnded = this.isEnded(run);
    if (isEnded && takeSmall(path) && this.isMachineClean()) {
      this.removeOwn(path, uid);
      return;
    }
    const aside = `${path}${ASIDE}-${randomId()}`;
    if (uid !== undefined) this.place.accounts?.move(uid, path, aside);
    renameSync(path, aside);
    this.undead.delete(path);
    // What lives on keeps account and GPUs; the look for remains tries it again.
    if (isEnded) this.removeAside(aside, uid);
  }

  /**
   * Removes what is left of runs that neither the service nor this process knows any more: all that is not among the known. Only what
   * was there before it was asked which are known: of a younger one the answer says nothing.
   */
  async removeUnknown(known: ReadonlySet<string>): Promise<void> {
    const now = this.parts.clock.now();
    const isOrphanCheck = now - this.orphansCheckedAt >= ORPHAN_CHECK_MS;
    if (isOrphanCheck) this.tried.clear();
    const unknown = this.seen.filter((name) => !known.has(name) && !this.tried.has(name));
    for (const name of unknown) this.tried.add(name);
    if (unknown.length > 0 || isOrphanCheck) await this.removeRemains(unknown);
    this.seen = runsBelow(this.place.root.path);
    if (!isOrphanCheck) return;
    this.orphansCheckedAt = now;
    // Processes that slipped away from runs that are over.
    const question = { directory: this.place.root.path, alive: [...known, ...this.seen] };
    const ended = await this.watcher.ask({ kind: 'orphans', ...question });
    if (ended > 0) this.parts.logger.warn({ ended }, 'orphaned processes of runs were killed');
  }

  /**
   * Takes up what is left of runs that nobody knows any more, of a predecessor or after a fault: their processes, files
   * and accounts.
   */
  private async removeRemains(names: readonly string[]): Promise<void> {
    const { root, accounts, groups } = this.place;
    const atOnce = pLimit(SWEEPS_AT_ONCE);
    const paths = names.map((name) => join(root.path, name));
    await Promise.all(paths.map((path) => atOnce(() => this.removeRemainsOf(path))));
    groups?.sweep(
      new Set(runsBelow(this.place.root.path).map((name) => name.split(ASIDE)[0] ?? '')),
    );
    await accounts?.freeAbandoned(root.path);
  }

  private async removeRemainsOf(path: string): Promise<void> {
    if (this.removing.has(path) || !existsSync(path)) return;
    const directory = new RunDirectory(path);
    const uid = directory.account();
    const isGone = await this.end(path, { leader: directory.leader(), uid });
    if (isGone) this.removeAside(path, uid);
  }

  private removeAside(path: string, uid: number | undefined): void {
    if (this.removing.has(path)) return;
    this.removing.add(path);
    void this.sweep(path, uid)
      .catch((error: unknown) =>
        this.parts.logger.error({ err: error, path }, 'a run cannot be removed'),
      )
      .finally(() => this.removing.delete(path));
  }

  private async sweep(path: string, uid: number | undefined): Promise<void> {
    const { rights } = this.place;
    const { work, tmp } = new RunDirectory(path);
    const isEmpty = await this.emptying(() => rights.empty(uid, [work, tmp].filter(existsSync)));
    const isClean = this.isMachineClean() || uid === undefined || (await this.machine.sweep(uid));
    if (isEmpty && isClean) {
      // They are removed beside everybody's turn, however large they have been.
      await Promise.allSettled([rmdir(work), rmdir(tmp)]);
      this.removeOwn(path, uid);
      return;
    }
    // The directory stays, and with it the account: nobody else gets it while something of it is left.
    this.parts.logger.warn({ path, uid }, 'a job has left something that does not go away');
  }

  /** Removes the service's own files of a run, and gives its account back. */
  private removeOwn(path: string, uid: number | undefined): void {
    const group = new RunDirectory(path).group();
    if (group !== undefined) removeGroup(group);
    rmSync(path, { recursive: true, force: true });
    const { accounts } = this.place;
    if (uid !== undefined) accounts?.release(uid, path);
  }

  /** With a view of its own a job can leave nothing outside of its directory. */
  private isMachineClean(): boolean {
    return this.place.isolation.level !== 'accounts';
  }

  private async end(path: string, traces: RunTraces): Promise<boolean> {
    const { rights } = this.place;
    if (traces.uid !== undefined) await rights.killAll(traces.uid);
    return this.watcher.ask({ kind: 'end', run: path, traces, timeoutMs: END_MS });
  }
}

/** Removes the two directories that were the job's at once; false when there is something in them or they are large. */
function takeSmall(path: string): boolean {
  const { work, tmp } = new RunDirectory(path);
  const own = [work, tmp].map((directory) => ({
    directory,
    size: lstatSync(directory, { throwIfNoEntry: false })?.size,
  }));
  if (own.some(({ size = 0 }) => size > SMALL_DIRECTORY_BYTES)) return false;
  try {
    for (const { directory, size } of own) if (size !== undefined) rmdirSync(directory);
    return true;
  } catch {
    return false;
  }
}

/** A program of our own account can have closed its output to itself, and so to us. The name cannot be exchanged. */
function makeReadable(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // It was never opened.
  }
}
