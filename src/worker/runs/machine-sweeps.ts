import pLimit from 'p-limit';
import type { JobRights } from './job-rights.js';

/** Accounts that one walk looks for: its expression has a word or two for each. */
const MOST_OF_A_WALK = 100;
/** Walks that remove something at the same time. */
const REMOVALS_AT_ONCE = 3;

interface Waiting {
  uid: number;
  resolve: (isClean: boolean) => void;
  reject: (error: Error) => void;
}

/**
 * Removes what accounts have left where everybody may write. A walk through a temporary directory takes as long as there
 * are files in it, whosever they are (180,000: 0.7 s), and most jobs leave nothing: so one walk looks for all accounts
 * that wait for it, and only those of which it finds something get one that removes.
 */
export class MachineSweeps {
  private waiting: Waiting[] = [];
  private isWalking = false;
  private readonly removals = pLimit(REMOVALS_AT_ONCE);

  constructor(private readonly rights: JobRights) {}

  /** True when nothing of the account is left, whose processes have ended. */
  async sweep(uid: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ uid, resolve, reject });
      void this.walk();
    });
  }

  private async walk(): Promise<void> {
    if (this.isWalking) return;
    this.isWalking = true;
    for (;;) {
      const some = this.waiting.splice(0, MOST_OF_A_WALK);
      if (some.length === 0) break;
      await this.sweepAll(some);
    }
    this.isWalking = false;
  }

  private async sweepAll(some: readonly Waiting[]): Promise<void> {
    const uids = some.map(({ uid }) => uid);
    const found = new Set(await this.rights.whoLeftSomething(uids).catch(() => uids));
    await Promise.all(
      some.map(async ({ uid, resolve, reject }) => {
        if (!found.has(uid)) resolve(true);
        else await this.removals(() => this.rights.sweepMachine(uid)).then(resolve, reject);
      }),
    );
  }
}
