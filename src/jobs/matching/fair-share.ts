import type { JobEntity } from '../state/job.entity.js';

/**
 * Seconds that every processor of a job counts for from the moment when a site has got the job, beside what it has really used:
 * who has been given much at once is not taken to have nothing until it has run.
 */
const HELD_SECONDS = 60;

/** Whose job it is, in which group. */
export type Owned = Pick<JobEntity, 'owner' | 'ownerGroup'>;

/** What an owner has had in a group. */
export interface ShareUse extends Owned {
  /** Processor-seconds; older ones count less. */
  used: number;
  /** Processors that their jobs hold. */
  held: number;
}

/** Between whom places are shared, and by what. */
export interface Shares {
  uses: readonly ShareUse[];
  /** What a group is due beside other groups. */
  weightOf(group: string): number;
}

/** What a group has had, in processor-seconds. */
interface GroupAccount {
  used: number;
  readonly weight: number;
}

/** What an owner has had in a group, in processor-seconds. */
export interface OwnerAccount {
  used: number;
  readonly group: GroupAccount;
}

/** What owners and groups have had, counted on as places are given away. Without shares all are one owner of one group. */
export class ShareLedger {
  private readonly groups = new Map<string, GroupAccount>();
  private readonly owners = new Map<GroupAccount, Map<string, OwnerAccount>>();

  constructor(private readonly shares: Shares | undefined) {
    for (const use of shares?.uses ?? []) this.add(use, use.used + use.held * HELD_SECONDS);
  }

  /** The account of an owner in a group: always the same object. */
  accountOf({ ownerGroup, owner }: Owned): OwnerAccount {
    const group = this.groupOf(this.shares ? ownerGroup : '');
    let owners = this.owners.get(group);
    if (!owners) this.owners.set(group, (owners = new Map<string, OwnerAccount>()));
    const name = this.shares ? owner : '';
    let account = owners.get(name);
    if (!account) owners.set(name, (account = { used: 0, group }));
    return account;
  }

  /** A place was given away. */
  give(job: Owned & { processors: number }): void {
    this.add(job, job.processors * HELD_SECONDS);
  }

  private groupOf(name: string): GroupAccount {
    let group = this.groups.get(name);
    if (!group) {
      this.groups.set(name, (group = { used: 0, weight: this.shares?.weightOf(name) ?? 1 }));
    }
    return group;
  }

  private add(owned: Owned, seconds: number): void {
    const account = this.accountOf(owned);
    account.used += seconds;
    account.group.used += seconds;
  }
}

/** Below 0: the first one's turn comes before the second one's; 0: nothing is between them. */
export function compareUse(a: OwnerAccount, b: OwnerAccount): number {
  if (a.group === b.group) return a.used - b.used;
  return a.group.used / a.group.weight - b.group.used / b.group.weight;
}
