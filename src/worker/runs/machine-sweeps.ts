import pLimit from 'p-limit';
import type { JobRights } from './job-rights.js';

/** Accounts that one walk looks for: its expression has a word or two for each. */
const MOST_OF_A_WALK = 100;
/** Walks that remove something at the same time. */
const REMOVALS_AT_ONCE = 3;

interface Walk {
  uids: number[];
  /** Those of them of which there is something. Never rejects. */
  found: Promise<ReadonlySet<number>>;
}

/**
 * Removes what accounts have left where everybody may write. A walk through a temporary directory takes as long as there
 * are files in it, whosever they are (180,000: 0.7 s), and most jobs leave nothing: so one walk looks for all accounts
 * that wait for it, and only those of which it finds something get one that removes.
 */
export class MachineSweeps {
  private readonly removals = pLimit(REMOVALS_AT_ONCE);
  private last: Promise<unknown> = Promise.resolve();
  /** The walk that begins after the last one. */
  private next: Walk | undefined;

  constructor(private readonly rights: JobRights) {}

  /** True when nothing of the account is left, whose processes have ended. */
  async sweep(uid: number): Promise<boolean> {
    const isFull = this.next?.uids.length === MOST_OF_A_WALK;
    const walk = this.next && !isFull ? this.next : this.walk();
    walk.uids.push(uid);
    const found = await walk.found;
    return !found.has(uid) || this.removals(() => this.rights.sweepMachine(uid));
  }

  private walk(): Walk {
    const uids: number[] = [];
    const found = this.last.then(async () => {
      if (this.next?.uids === uids) this.next = undefined;
      return new Set(await this.rights.whoLeftSomething(uids).catch(() => uids));
    });
    this.last = found;
    return (this.next = { uids, found });
  }
}
