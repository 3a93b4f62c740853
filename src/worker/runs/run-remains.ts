import type { LocalContext } from './local-context.js';

/** Processes that slipped away from runs that are over are looked for so often. */
const ORPHAN_CHECK_MS = 30_000;

/** Removes what is left of runs that neither the database nor this process knows any more. */
export class RunRemains {
  private orphansCheckedAt = 0;
  /** Directories of runs at the last look: those that nobody knows at the next one are removed. */
  private seen: readonly string[];
  /** Those that were begun to be removed since the last look for orphans: what is still there then is tried again. */
  private readonly tried = new Set<string>();

  constructor(private readonly context: LocalContext) {
    // At the first time that is whatever a predecessor left: nothing of this process is there yet.
    this.seen = context.cleaner.namesOfRuns();
  }

  /**
   * Removes all that is not among the known. Only what was there before the database was asked for them: of a younger
   * one its answer says nothing.
   */
  async remove(known: ReadonlySet<string>): Promise<void> {
    const { parts, place, cleaner, watcher } = this.context;
    const now = parts.clock.now();
    const isOrphanCheck = now - this.orphansCheckedAt >= ORPHAN_CHECK_MS;
    if (isOrphanCheck) this.tried.clear();
    const unknown = this.seen.filter((name) => !known.has(name) && !this.tried.has(name));
    for (const name of unknown) this.tried.add(name);
    if (unknown.length > 0 || isOrphanCheck) await cleaner.removeRemains(unknown);
    this.seen = cleaner.namesOfRuns();
    if (!isOrphanCheck) return;
    this.orphansCheckedAt = now;
    // Processes that slipped away from runs that are over.
    const question = { directory: place.root.path, alive: [...known, ...this.seen] };
    const ended = await watcher.ask({ kind: 'orphans', ...question });
    if (ended > 0) parts.logger.warn({ ended }, 'orphaned processes of runs were killed');
  }
}
