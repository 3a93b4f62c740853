import type { Owned } from './fair-share.js';
import type { LaneHead, LanesRepository } from './lanes.repository.js';
import type { LaneKey, QueuedJob } from './queued-job.js';

/**
 * Looks at the queue again and again: at everything, while it has no more lanes than a look takes. Of owners who have more than their
 * part the next ones are taken the next time, and so are the owners when they alone are more than a look takes.
 */
export class LaneTurns {
  private after: Owned | undefined;
  private behind = new Map<string, LaneKey>();

  constructor(
    private readonly lanes: LanesRepository,
    private readonly limit: number,
  ) {}

  /** The first jobs of the lanes whose turn it is. */
  async next(): Promise<QueuedJob[]> {
    const { limit, after } = this;
    const heads = await this.lanes.heads({ limit, after, behind: [...this.behind.values()] });
    if (heads.length === 0 && after) {
      this.after = undefined;
      return this.next();
    }
    const isCut = heads.length >= limit;
    const last = heads.at(-1);
    const isOwnersOnly = isCut && last?.turn === 1;
    this.after = isOwnersOnly ? last : undefined;
    // Those who were not looked at keep their places.
    if (after === undefined && !isOwnersOnly) this.behind.clear();
    for (const head of heads) this.behind.delete(ownerOf(head));
    if (isCut && last) {
      // Of an owner whose last lane is of an earlier turn all the next ones were asked for, and there was none.
      for (const head of heads) {
        if (head.turn >= last.turn - 1) this.behind.set(ownerOf(head), keyOf(head));
      }
    }
    return heads;
  }
}

function ownerOf({ ownerGroup, owner }: Owned): string {
  return JSON.stringify([ownerGroup, owner]);
}

function keyOf({ shape, ownerGroup, owner }: LaneHead): LaneKey {
  return { shape, ownerGroup, owner };
}
