import type { Site } from '#src/registry/index.js';
import type { FreeMachine } from '../run/executor.js';
import { RunningLimits } from '../limits/running-limits.js';
import type { LimitSource, OwnerCount } from '../limits/owner-limits.js';
import { ShareLedger, type Shares } from './fair-share.js';
import { Lane, Turns } from './lanes.js';
import { byOrder, laneOf, type LaneKey, type QueuedJob } from './queued-job.js';
import { SiteCapacity, type SiteUse } from './site-capacity.js';
import { holdersOf, keyOf, type Wishes } from './shape.js';

/** A job and the site that it is given to. */
export interface Placement {
  job: QueuedJob;
  site: string;
}

/** A lane that is looked into, and how many jobs of it. */
export interface LanePage extends LaneKey {
  size: number;
}

/** What is matched with what. */
export interface MatchInput {
  /** The first job of each lane. */
  heads: readonly QueuedJob[];
  sites: readonly Site[];
  machine: FreeMachine;
  limit: number;
  now: number;
  /** A job that has waited for longer is not passed by any more. */
  reserveMs: number;
  /** Between whom places are shared; undefined: priority and age alone decide. */
  shares?: Shares | undefined;
  /** What says how many jobs of an owner may run; undefined: as many as fit. */
  limits?: LimitSource | undefined;
  /** Jobs of this owner alone; null: of the owner alone who gets the first place. Undefined: of all. */
  owner?: string | null | undefined;
  /** Jobs under way at a site. */
  load(site: string): number;
}

/**
 * Decides which waiting jobs get which places: between groups, then between owners by what they have had, then in the order of
 * priority and age; a job for which there is no room is passed by, until it has waited for so long that the room is kept for it.
 */
export class Match {
  /** There may be more to place at once. */
  isCut = false;
  /** Jobs that have waited for so long that room is kept for them. */
  readonly reserved: QueuedJob[] = [];
  private capacity: SiteCapacity;
  private used: ReadonlyMap<string, SiteUse> = new Map();
  private held: readonly OwnerCount[] = [];
  private readonly running: RunningLimits;
  private readonly extra = new Map<string, number>();
  private readonly holders = new Map<string, Site[]>();
  private readonly heads: QueuedJob[];
  private owner: string | null | undefined;

  constructor(private readonly input: MatchInput) {
    this.capacity = this.wholeCapacity();
    this.running = new RunningLimits(input.limits);
    this.owner = input.owner;
    this.heads = input.heads.filter(
      (head) => !this.isOfAnother(head) && this.holdersOf(head).length > 0,
    );
  }

  /** True when no job could ever run on these sites. */
  get isVain(): boolean {
    return this.heads.length === 0;
  }

  /** Tells what the sites are used for now, by all instances. */
  note(used: ReadonlyMap<string, SiteUse>): void {
    this.used = used;
    this.capacity = this.wholeCapacity();
  }

  /** Whose jobs come under limits of running ones, of those that may get places. */
  limitedOwners(): QueuedJob[] {
    return this.heads.filter((head) => this.running.isLimited(head));
  }

  /** Tells how many jobs of limited owners sites hold now, by all instances. */
  noteHeld(held: readonly OwnerCount[]): void {
    this.held = held;
    this.running.note(held);
  }

  /**
   * The lanes to look into, at most `limit`, and how many jobs of each: as many as it would get if no lane ended, and some more,
   * since they do.
   */
  pages(): LanePage[] {
    const { limit } = this.input;
    const fitting = this.heads.filter(
      (head) => !this.running.reached(head) && this.placeOf(head) !== undefined,
    );
    const wanted = this.foresee(fitting);
    const rest = fitting.filter((head) => !wanted.has(head)).sort(byOrder);
    const looked = [...wanted.keys(), ...rest].slice(0, limit);
    const spare = Math.ceil(limit / Math.max(1, looked.length));
    return looked.map((head) => ({
      shape: head.shape,
      ownerGroup: head.ownerGroup,
      owner: head.owner,
      size: Math.min(limit, (wanted.get(head) ?? 0) + spare),
    }));
  }

  /** Gives places to jobs of the pages, which may be cut. */
  choose(jobs: readonly QueuedJob[], pages: readonly LanePage[]): Placement[] {
    const ledger = new ShareLedger(this.input.shares);
    const turns = new Turns(this.lanesOf(jobs, pages), ledger);
    const placements: Placement[] = [];
    for (let lane = turns.next(); lane; lane = turns.next()) {
      const { job } = lane;
      if (this.running.reached(job) || this.isOfAnother(job)) {
        turns.close();
        continue;
      }
      const site = this.placeOf(job);
      // It can be next, and nobody has looked that far into its lane.
      this.isCut =
        placements.length >= this.input.limit ||
        (lane.isUnread && (lane.isRead || site !== undefined));
      if (this.isCut) break;
      if (site === undefined) {
        this.reserveCapacity(job);
        turns.pass();
      } else {
        if (this.owner === null) this.owner = job.owner;
        placements.push({ job, site: this.take(job, site) });
        turns.take();
      }
    }
    return placements;
  }

  /** How many jobs of each lane would be placed if no lane had an end. */
  private foresee(heads: readonly QueuedJob[]): Map<QueuedJob, number> {
    const wanted = new Map<QueuedJob, number>();
    const lanes = heads.map((head) => new Lane(head, [], 'endless'));
    const turns = new Turns(lanes, new ShareLedger(this.input.shares));
    for (let lane = turns.next(), placed = 0; lane && placed < this.input.limit;) {
      const { head } = lane;
      const site = this.running.reached(head) ? undefined : this.placeOf(head);
      if (site === undefined) turns.pass();
      else {
        this.take(head, site);
        wanted.set(head, (wanted.get(head) ?? 0) + 1);
        turns.take();
        placed += 1;
      }
      lane = turns.next();
    }
    this.capacity = this.wholeCapacity();
    this.running.note(this.held);
    this.extra.clear();
    return wanted;
  }

  private lanesOf(jobs: readonly QueuedJob[], pages: readonly LanePage[]): Lane[] {
    const read = new Map<string, QueuedJob[]>();
    for (const job of jobs) {
      const lane = read.get(laneOf(job));
      if (lane) lane.push(job);
      else read.set(laneOf(job), [job]);
    }
    const sizes = new Map(pages.map((page) => [laneOf(page), page.size]));
    return this.heads.flatMap((head) => {
      const size = sizes.get(laneOf(head));
      if (size === undefined) return new Lane(head, [], 'unknown');
      const known = read.get(laneOf(head));
      return known
        ? new Lane(head, known.sort(byOrder), known.length < size ? 'none' : 'unknown')
        : [];
    });
  }

  private isOfAnother({ owner }: QueuedJob): boolean {
    return typeof this.owner === 'string' && owner !== this.owner;
  }

  private wholeCapacity(): SiteCapacity {
    const { sites, machine, now } = this.input;
    return new SiteCapacity(sites, this.used, machine, now);
  }

  private take(job: QueuedJob, site: Site): string {
    this.capacity.take(job, site);
    this.running.take(job);
    this.extra.set(site.name, (this.extra.get(site.name) ?? 0) + 1);
    return site.name;
  }

  private reserveCapacity(job: QueuedJob): void {
    const { now, reserveMs } = this.input;
    if (now - job.lastUpdate.getTime() < reserveMs) return;
    for (const site of this.byLoad(job)) {
      // What a limit keeps from starting would keep the room from all others.
      if (this.capacity.tagReached(job, site) !== undefined) continue;
      if (!this.capacity.reserve(job, site)) continue;
      this.reserved.push(job);
      return;
    }
  }

  private placeOf(job: QueuedJob): Site | undefined {
    return this.byLoad(job).find((site) => this.capacity.fits(job, site));
  }

  private byLoad(job: Wishes): Site[] {
    const load = ({ name }: Site): number => this.input.load(name) + (this.extra.get(name) ?? 0);
    return [...this.holdersOf(job)].sort((a, b) => load(a) - load(b));
  }

  /** By the job's own columns: two shapes may have one hash. */
  private holdersOf(job: Wishes): Site[] {
    const key = keyOf(job);
    let holders = this.holders.get(key);
    if (!holders) this.holders.set(key, (holders = holdersOf(job, this.input.sites)));
    return holders;
  }
}
