import type { Owned } from './fair-share.js';
import type { LaneHead, LanesRepository } from './lanes.repository.js';
import { laneOf, type LaneKey, type QueuedJob } from './queued-job.js';

/** Lanes that are remembered. */
const MOST_KEPT = 200;
/** So many looks may follow each other at once; then the queue is left alone for a while. */
const MOST_IN_A_ROW = 16;

/**
 * Looks at the queue again and again: at everything, while it has no more lanes than a look takes. Of owners who have more than their
 * part the next ones are taken the next time, and so are the owners when they alone are more than a look takes. Lanes in which
 * something came of a look are looked at each time from then on.
 */
export class LaneTurns {
  private after: Owned | undefined;
  private behind = new Map<string, LaneKey>();
  private kept = new Map<string, LaneKey>();
  private inARow = 0;

  constructor(
    private readonly lanes: LanesRepository,
    private readonly limit: number,
    private readonly of: { unplaceable?: boolean } = {},
  ) {}

  /** The first jobs of the lanes whose turn it is. */
  async next(): Promise<QueuedJob[]> {
    const { limit, after, of } = this;
    const also = [...this.kept.values()];
    const behind = [...this.behind.values()];
    const found = await this.lanes.heads({ limit, after, behind, also, ...of });
    const heads = found.filter(({ turn }) => turn > 0);
    if (heads.length === 0 && after) {
      this.after = undefined;
      return this.next();
    }
    this.goOn(heads);
    const remembered = found.filter(({ turn }) => turn === 0);
    this.kept = new Map(remembered.map((head) => [laneOf(head), keyOf(head)]));
    return [...new Map(found.map((head) => [laneOf(head), head])).values()];
  }

  /** True when there are lanes that were not looked at, and it is not the time to rest. */
  get hasMore(): boolean {
    return this.inARow > 0 && this.inARow < MOST_IN_A_ROW;
  }

  /** Something came of the look, in these lanes. */
  keep(lanes: readonly LaneKey[]): void {
    // Where everything is looked at each time nothing has to be remembered.
    if (this.inARow === 0) return;
    for (const lane of lanes) {
      const key = laneOf(lane);
      this.kept.delete(key);
      this.kept.set(key, { shape: lane.shape, ownerGroup: lane.ownerGroup, owner: lane.owner });
    }
    for (const key of [...this.kept.keys()].slice(0, -MOST_KEPT)) this.kept.delete(key);
  }

  private goOn(heads: readonly LaneHead[]): void {
    const isCut = heads.length >= this.limit;
    const last = heads.at(-1);
    const isOwnersOnly = isCut && last?.turn === 1;
    // Those who were not looked at keep their places.
    if (this.after === undefined && !isOwnersOnly) this.behind.clear();
    this.after = isOwnersOnly ? last : undefined;
    for (const head of heads) this.behind.delete(ownerOf(head));
    this.inARow = isCut ? (this.inARow % MOST_IN_A_ROW) + 1 : 0;
    if (!isCut || !last) return;
    // Of an owner whose last lane is of an earlier turn all the next ones were asked for, and there was none.
    for (const head of heads) {
      if (head.turn >= last.turn - 1) this.behind.set(ownerOf(head), keyOf(head));
    }
  }
}

function ownerOf({ ownerGroup, owner }: Owned): string {
  return JSON.stringify([ownerGroup, owner]);
}

function keyOf({ shape, ownerGroup, owner }: LaneHead): LaneKey {
  return { shape, ownerGroup, owner };
}
