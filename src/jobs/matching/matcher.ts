import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database, withAdvisoryLock } from '#src/database/index.js';
import { RegistryService, type Site } from '#src/registry/index.js';
import type { Claimant, RunOrder } from '../run/executor.js';
import { JobMetrics } from '../state/job-metrics.js';
import { Match } from './match.js';
import { LaneTurns } from './lane-turns.js';
import { LanesRepository } from './lanes.repository.js';
import type { QueuedJob } from './queued-job.js';
import { QueueRepository } from './queue.repository.js';
import { ShareBook } from './share-book.js';
import { lacksOf } from './shape.js';

const CLAIM_BATCH = 200;
/** More lanes than this are looked at in turns. */
const MAX_LANES = 1_000;
/** The same, when nothing but what fits nowhere is looked for; and how many jobs get a note at once. */
const MAX_NOTED = 500;
/** How long after a change of sites. */
const HURRY_MS = 60_000;
const MAX_LACKS = 3;

/** Brings waiting jobs and sites together: claims for executors, and says of which jobs no site can hold them. */
@Injectable()
export class Matcher {
  private readonly turns = new Map<string, LaneTurns>();
  private readonly placeable: LaneTurns;
  private readonly unplaceable: LaneTurns;
  private judgedBy = '';
  private hurryUntil = 0;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    private readonly lanes: LanesRepository,
    private readonly queue: QueueRepository,
    private readonly shares: ShareBook,
    private readonly registry: RegistryService,
    private readonly metrics: JobMetrics,
  ) {
    this.placeable = new LaneTurns(lanes, MAX_NOTED);
    this.unplaceable = new LaneTurns(lanes, MAX_NOTED, { unplaceable: true });
  }

  /** Claims jobs for the free places of an executor; `hasMore` when there may be more that fit. */
  async claim(executor: Claimant): Promise<{ orders: RunOrder[]; hasMore: boolean }> {
    const nothing = { orders: [], hasMore: false };
    const startedMs = Date.now();
    const limit = Math.min(CLAIM_BATCH, executor.freeSlots());
    if (limit === 0) return nothing;
    const registry = await this.registry.current();
    const sites = registry
      .sites()
      .filter((site) => executor.serves(site) && !registry.drainOf(site.name));
    if (sites.length === 0) return nothing;
    const turns = this.turnsOf(executor.queue ?? executor.id);
    const match = new Match({
      heads: await turns.next(),
      sites,
      machine: executor.freeMachine(sites),
      limit,
      owner: executor.owner,
      now: this.clock.now(),
      reserveMs: this.config.reserveAfter * 1000,
      shares: await this.shares.current(registry),
      limits: registry,
      load: (site) => executor.load(site),
    });
    if (match.isVain) return { ...nothing, hasMore: turns.hasMore };
    const { id, reference } = executor;
    const mayTake = executor.mayTake?.bind(executor);
    const claim = { executor: id, sites, match, reference, ...(mayTake && { mayTake }) };
    const { orders, jobs } = await this.queue.claim(claim);
    this.shares.gave(jobs);
    if (orders.length > 0) this.metrics.dispatched(executor, orders, startedMs);
    turns.keep([...jobs, ...match.reserved]);
    return { orders, hasMore: match.isCut || turns.hasMore };
  }

  /**
   * Writes into waiting jobs that no site can hold them, and why, and takes it back when one can; true when there is
   * more to write. One instance does it; an undeclared local site is taken to be like its machine.
   */
  async noteUnplaceable(): Promise<boolean> {
    const registry = await this.registry.current();
    const sites = registry.sites();
    const found = (await this.placeable.next()).flatMap((head) => {
      const why = whyUnplaceable(head, sites);
      return why === undefined ? [] : [{ ...head, why }];
    });
    const free = (await this.unplaceable.next()).filter(
      (head) => whyUnplaceable(head, sites) === undefined,
    );
    if (found.length + free.length === 0) return this.isInHurry(sites) && this.unplaceable.hasMore;
    const noted = await withAdvisoryLock(
      this.database,
      'unplaceable',
      async (transaction) =>
        (await this.queue.noteUnplaceable(transaction, found)) +
        (await this.queue.notePlaceable(transaction, free)),
    );
    return (noted ?? 0) > 0;
  }

  /** Sites have changed lately: the jobs that they can hold now are looked for without rest. */
  private isInHurry(sites: readonly Site[]): boolean {
    const now = this.clock.now();
    const text = JSON.stringify(sites);
    if (text !== this.judgedBy) this.hurryUntil = now + HURRY_MS;
    this.judgedBy = text;
    return now < this.hurryUntil;
  }

  private turnsOf(executor: string): LaneTurns {
    let turns = this.turns.get(executor);
    if (!turns) this.turns.set(executor, (turns = new LaneTurns(this.lanes, MAX_LANES)));
    return turns;
  }
}

/** Undefined when a site can hold the job. */
function whyUnplaceable(job: QueuedJob, sites: readonly Site[]): string | undefined {
  const lacks = lacksOf(job, sites);
  if (lacks.some(([, lack]) => lack === undefined)) return undefined;
  if (lacks.length === 0)
    return 'There is none of the sites that it may run on for its setup and virtual organisation';
  const shown = lacks.slice(0, MAX_LACKS).map(([site, lack]) => `${site.name}: ${lack}`);
  const more = lacks.length - shown.length;
  return shown.join('; ') + (more > 0 ? ` and ${more} more` : '');
}
