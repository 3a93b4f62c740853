import { compareUse, type OwnerAccount, type ShareLedger } from './fair-share.js';
import { byOrder, type QueuedJob } from './queued-job.js';

/** What is known of a lane behind the jobs that were read: nothing is there, something may be, or it is taken to go on. */
export type LaneEnd = 'none' | 'unknown' | 'endless';

/** A lane from its front on, as far as it was read. */
export class Lane {
  private place = 0;
  private isClosed = false;

  /** `jobs` in their order; `head` stands for what nobody has read. */
  constructor(
    readonly head: QueuedJob,
    private readonly jobs: readonly QueuedJob[],
    private readonly end: LaneEnd,
  ) {}

  /** The next job; behind the last one that was read the last one stands for it. */
  get job(): QueuedJob {
    return this.jobs[Math.min(this.place, this.jobs.length - 1)] ?? this.head;
  }

  /** Jobs of it were read. */
  get isRead(): boolean {
    return this.jobs.length > 0;
  }

  /** Nobody has read the next job. */
  get isUnread(): boolean {
    return this.end === 'unknown' && this.place >= this.jobs.length;
  }

  get isOver(): boolean {
    return this.isClosed || (this.end === 'none' && this.place >= this.jobs.length);
  }

  /** Goes on to the next job. */
  advance(): void {
    if (this.end !== 'endless') this.place += 1;
  }

  /** Leaves all that is in it without a place. */
  close(): void {
    this.isClosed = true;
  }

  /** Leaves the next job without a place; those behind that nobody has read are like it. */
  pass(): void {
    this.advance();
    if (this.end === 'endless' || this.isUnread) this.isClosed = true;
  }
}

class OwnerQueue {
  readonly lanes: Lane[] = [];
  private front: Lane | undefined;
  private isKnown = false;

  constructor(readonly account: OwnerAccount) {}

  /** The lane of the first job. */
  first(): Lane | undefined {
    if (this.isKnown) return this.front;
    this.isKnown = true;
    this.front = undefined;
    for (const lane of this.lanes) {
      if (lane.isOver) continue;
      if (!this.front || byOrder(lane.job, this.front.job) < 0) this.front = lane;
    }
    return this.front;
  }

  forget(): void {
    this.isKnown = false;
  }
}

interface Turn {
  account: OwnerAccount;
  lane: Lane;
}

/** Whose turn it is: first between groups, then between the owners of the group, then among the owner's jobs. */
export class Turns {
  private readonly queues = new Map<OwnerAccount, OwnerQueue>();
  private readonly groups = new Map<OwnerAccount['group'], OwnerQueue[]>();

  constructor(
    lanes: readonly Lane[],
    private readonly ledger: ShareLedger,
  ) {
    for (const lane of lanes) this.queueOf(lane).lanes.push(lane);
    for (const queue of this.queues.values()) {
      const { group } = queue.account;
      const owners = this.groups.get(group);
      if (owners) owners.push(queue);
      else this.groups.set(group, [queue]);
    }
  }

  /** The lane of the next job; undefined when no lane has one. */
  next(): Lane | undefined {
    let best: Turn | undefined;
    for (const owners of this.groups.values()) {
      const first = firstOf(owners);
      if (first && (!best || isBefore(first, best))) best = first;
    }
    return best?.lane;
  }

  /** The next job of the lane has its place: the turn of its owner is over. */
  take(lane: Lane): void {
    this.ledger.give(lane.job);
    lane.advance();
    this.queueOf(lane).forget();
  }

  /** The next job of the lane is passed by. */
  pass(lane: Lane): void {
    lane.pass();
    this.queueOf(lane).forget();
  }

  /** Nothing of the lane may have a place. */
  close(lane: Lane): void {
    lane.close();
    this.queueOf(lane).forget();
  }

  private queueOf({ head }: Lane): OwnerQueue {
    const account = this.ledger.accountOf(head);
    let queue = this.queues.get(account);
    if (!queue) this.queues.set(account, (queue = new OwnerQueue(account)));
    return queue;
  }
}

function firstOf(owners: readonly OwnerQueue[]): Turn | undefined {
  let best: Turn | undefined;
  for (const owner of owners) {
    const lane = owner.first();
    if (!lane) continue;
    const turn = { account: owner.account, lane };
    if (!best || isBefore(turn, best)) best = turn;
  }
  return best;
}

function isBefore(a: Turn, b: Turn): boolean {
  return (compareUse(a.account, b.account) || byOrder(a.lane.job, b.lane.job)) < 0;
}
