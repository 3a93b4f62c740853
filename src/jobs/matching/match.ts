import type { Site } from '#src/registry/index.js';
import type { FreeMachine } from '../run/executor.js';
import type { JobEntity } from '../state/job.entity.js';
import { Rooms, type SiteUse } from './rooms.js';
import { holdersOf, keyOf, type Wishes } from './shape.js';

/** A waiting job as far as its place in the queue goes. */
export interface QueuedJob extends Wishes, Pick<JobEntity, 'jid' | 'priority' | 'lastUpdate'> {
  /** A hash of its wishes, which PostgreSQL computes. */
  shape: number | bigint;
  /** It was found to fit nowhere. */
  isUnplaceable: boolean;
}

/** A job and the site that it is given to. */
export interface Placement {
  job: QueuedJob;
  site: string;
}

/** Queues that are looked into, and how many jobs of each. */
export interface Pages {
  shapes: QueuedJob['shape'][];
  perShape: number;
}

/** What is matched with what. */
export interface MatchInput {
  /** The first job of each shape. */
  heads: readonly QueuedJob[];
  sites: readonly Site[];
  machine: FreeMachine;
  limit: number;
  now: number;
  /** A job that has waited for longer is not passed by any more. */
  reserveMs: number;
  /** Jobs under way at a site. */
  load(site: string): number;
}

/**
 * Decides which waiting jobs get which places: in the order of priority and age; a job for which there is no room is
 * passed by, until it has waited for so long that the room is kept for it.
 */
export class Match {
  /** There may be more to place at once. */
  isCut = false;
  private rooms: Rooms;
  private readonly extra = new Map<string, number>();
  private readonly holders = new Map<string, Site[]>();
  private readonly heads: QueuedJob[];

  constructor(private readonly input: MatchInput) {
    this.rooms = new Rooms(input.sites, new Map(), input.machine);
    this.heads = input.heads.filter((head) => this.holdersOf(head).length > 0).sort(byOrder);
  }

  /** True when no job could ever run on these sites. */
  get isVain(): boolean {
    return this.heads.length === 0;
  }

  /** Tells what the sites are used for now, by all instances. */
  note(used: ReadonlyMap<string, SiteUse>): void {
    const { sites, machine } = this.input;
    this.rooms = new Rooms(sites, used, machine);
  }

  /** The queues to look into and how many jobs of each; those of no more than `limit` shapes can be next. */
  pages(): Pages {
    const { limit } = this.input;
    const fitting = this.heads.filter((head) => this.placeOf(head) !== undefined).slice(0, limit);
    const shapes = [...new Set(fitting.map(({ shape }) => shape))];
    const perShape = Math.min(limit, Math.ceil((2 * limit) / Math.max(1, shapes.length)));
    return { shapes, perShape };
  }

  /** Gives places to jobs of the pages, which may be cut. */
  choose(jobs: readonly QueuedJob[], { shapes, perShape }: Pages): Placement[] {
    const looked = new Set(shapes);
    const others = this.heads.filter(({ shape }) => !looked.has(shape));
    const end = endOf(jobs, perShape);
    const placements: Placement[] = [];
    for (const job of [...jobs, ...others].sort(byOrder)) {
      this.isCut = placements.length >= this.input.limit || (end && byOrder(job, end) > 0) === true;
      if (this.isCut) break;
      const site = this.placeOf(job);
      if (site === undefined) this.keepRoom(job);
      else if (looked.has(job.shape)) placements.push({ job, site: this.take(job, site) });
      else this.isCut = true; // it can be next, and nobody has looked into its queue
      if (this.isCut) break;
    }
    return placements;
  }

  private take(job: QueuedJob, site: Site): string {
    this.rooms.take(job, site);
    this.extra.set(site.name, (this.extra.get(site.name) ?? 0) + 1);
    return site.name;
  }

  private keepRoom(job: QueuedJob): void {
    const { now, reserveMs } = this.input;
    if (now - job.lastUpdate.getTime() < reserveMs) return;
    for (const site of this.byLoad(job)) if (this.rooms.reserve(job, site)) return;
  }

  private placeOf(job: QueuedJob): Site | undefined {
    return this.byLoad(job).find((site) => this.rooms.fits(job, site));
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

/** Where the order is not known any more: the end of the first page that is full. */
function endOf(jobs: readonly QueuedJob[], perShape: number): QueuedJob | undefined {
  const pages = new Map<QueuedJob['shape'], QueuedJob[]>();
  for (const job of jobs) {
    const page = pages.get(job.shape);
    if (page) page.push(job);
    else pages.set(job.shape, [job]);
  }
  const full = [...pages.values()].filter((page) => page.length >= perShape);
  return full.map((page) => page.sort(byOrder).at(-1) as QueuedJob).sort(byOrder)[0];
}

function byOrder(a: QueuedJob, b: QueuedJob): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  return a.jid < b.jid ? -1 : a.jid > b.jid ? 1 : 0;
}
