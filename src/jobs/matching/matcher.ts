import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#src/kernel/index.js';
import { CLOCK, CONFIG, Database, whenAlone, type Config } from '#src/platform/index.js';
import { RegistryService, type Site } from '#src/registry/index.js';
import type { Executor, RunOrder } from '../run/executor.js';
import { Match, type QueuedJob } from './match.js';
import { QueueRepository } from './queue.repository.js';
import { lacksOf } from './shape.js';

const CLAIM_BATCH = 200;
/** More shapes than this are looked at in turns. */
const MAX_SHAPES = 500;
const MAX_LACKS = 3;

/** Brings waiting jobs and sites together: claims for executors, and says of which jobs no site can hold them. */
@Injectable()
export class Matcher {
  private readonly turns = new Map<string, bigint | undefined>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    private readonly queue: QueueRepository,
    private readonly registry: RegistryService,
  ) {}

  /** Claims jobs for the free places of an executor; `hasMore` when there may be more that fit. */
  async claim(executor: Executor): Promise<{ orders: RunOrder[]; hasMore: boolean }> {
    const nothing = { orders: [], hasMore: false };
    const limit = Math.min(CLAIM_BATCH, executor.freeSlots());
    if (limit === 0) return nothing;
    const registry = await this.registry.current();
    const sites = registry.sites().filter((site) => site.backend === executor.backend);
    if (sites.length === 0) return nothing;
    const match = new Match({
      heads: await this.nextHeads(executor.id),
      sites,
      machine: executor.freeMachine(sites),
      limit,
      now: this.clock.now(),
      reserveMs: this.config.reserveAfter * 1000,
      load: (site) => executor.load(site),
    });
    if (match.isVain) return nothing;
    const { id, reference } = executor;
    const orders = await this.queue.claim({ executor: id, sites, match, reference });
    return { orders, hasMore: match.isCut };
  }

  /**
   * Writes into waiting jobs that no site can hold them, and why, and takes it back when one can; true when there is
   * more to write. One instance does it; an undeclared local site is taken to be like its machine.
   */
  async noteUnplaceable(): Promise<boolean> {
    const registry = await this.registry.current();
    const heads = await this.nextHeads('unplaceable');
    const wrong = heads.flatMap((head) => {
      const why = whyUnplaceable(head, registry.sites());
      return (why !== undefined) === head.isUnplaceable ? [] : [{ shape: head.shape, why }];
    });
    if (wrong.length === 0) return false;
    const noted = await whenAlone(this.database, 'homeless', async (transaction) => {
      let count = 0;
      for (const { shape, why } of wrong) {
        count += await this.queue.noteWaiting(transaction, shape, why);
        if (count >= MAX_SHAPES) break;
      }
      return count;
    });
    return (noted ?? 0) > 0;
  }

  private async nextHeads(who: string): Promise<QueuedJob[]> {
    const heads = await this.queue.heads(this.turns.get(who), MAX_SHAPES);
    const last = heads.at(-1);
    this.turns.set(who, heads.length < MAX_SHAPES || !last ? undefined : BigInt(last.shape) + 1n);
    return heads;
  }
}

/** Undefined when a site can hold the job. */
function whyUnplaceable(job: QueuedJob, sites: readonly Site[]): string | undefined {
  const lacks = lacksOf(job, sites);
  if (lacks.some(([, lack]) => lack === undefined)) return undefined;
  if (lacks.length === 0) return 'There is none of the sites that it may run on';
  const shown = lacks.slice(0, MAX_LACKS).map(([site, lack]) => `${site.name}: ${lack}`);
  const more = lacks.length - shown.length;
  return shown.join('; ') + (more > 0 ? ` and ${more} more` : '');
}
