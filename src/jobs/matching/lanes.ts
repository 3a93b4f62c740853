import TinyQueue from 'tinyqueue';
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

interface OwnerQueue {
  readonly account: OwnerAccount;
  readonly lanes: TinyQueue<Lane>;
}

interface GroupQueue {
  readonly owners: TinyQueue<OwnerQueue>;
}

/**
 * Whose turn it is: first between groups, then between the owners of the group, then among the owner's jobs. Each level is a heap
 * in which only the first one ever changes, so that a turn costs no more where thousands of lanes wait.
 */
export class Turns {
  private readonly groups: TinyQueue<GroupQueue>;

  constructor(
    lanes: readonly Lane[],
    private readonly ledger: ShareLedger,
  ) {
    const groups = new Map<OwnerAccount['group'], Map<OwnerAccount, Lane[]>>();
    for (const lane of lanes) {
      if (lane.isOver) continue;
      const account = ledger.accountOf(lane.head);
      const owners = entryOf(groups, account.group, () => new Map<OwnerAccount, Lane[]>());
      entryOf(owners, account, (): Lane[] => []).push(lane);
    }
    const queues = [...groups.values()].map((owners) => ({
      owners: new TinyQueue([...owners].map(queueOf), compareOwners),
    }));
    this.groups = new TinyQueue<GroupQueue>(queues, compareGroups);
  }

  /** The lane of the next job; undefined when no lane has one. */
  next(): Lane | undefined {
    return this.groups.peek()?.owners.peek()?.lanes.peek();
  }

  /** The next job has its place: the turn of its owner is over. */
  take(): void {
    this.change((lane) => {
      this.ledger.give(lane.job);
      lane.advance();
    });
  }

  /** The next job is passed by. */
  pass(): void {
    this.change((lane) => lane.pass());
  }

  /** Nothing of the lane of the next job may have a place. */
  close(): void {
    this.change((lane) => lane.close());
  }

  private change(how: (lane: Lane) => void): void {
    changeFirst(this.groups, ({ owners }) => {
      changeFirst(owners, ({ lanes }) => {
        changeFirst(lanes, (lane) => {
          how(lane);
          return !lane.isOver;
        });
        return lanes.length > 0;
      });
      return owners.length > 0;
    });
  }
}

/** Changes the first of a queue, which stays in it where `how` answers true. */
function changeFirst<T>(queue: TinyQueue<T>, how: (first: T) => boolean): void {
  const first = queue.pop();
  if (first !== undefined && how(first)) queue.push(first);
}

function queueOf([account, lanes]: [OwnerAccount, Lane[]]): OwnerQueue {
  return { account, lanes: new TinyQueue(lanes, (a, b) => byOrder(a.job, b.job)) };
}

function compareGroups(a: GroupQueue, b: GroupQueue): number {
  const [first, second] = [a.owners.peek(), b.owners.peek()];
  return first && second ? compareOwners(first, second) : 0;
}

function compareOwners(a: OwnerQueue, b: OwnerQueue): number {
  const [first, second] = [a.lanes.peek(), b.lanes.peek()];
  return compareUse(a.account, b.account) || (first && second ? byOrder(first.job, second.job) : 0);
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
