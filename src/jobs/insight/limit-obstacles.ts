import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import type { RegistrySnapshot, Site } from '#src/registry/index.js';
import { countedOf, LimitsRepository } from '../limits/limits.repository.js';
import { RunningLimits } from '../limits/running-limits.js';
import { QueueRepository } from '../matching/queue.repository.js';
import { SiteCapacity } from '../matching/site-capacity.js';
import type { Wishes } from '../matching/shape.js';
import type { LimitedOwner } from '../limits/owner-limits.js';

/** Limits that keep a waiting job from being given to a site now. */
export interface Obstacles {
  /** At every site. */
  everywhere?: string;
  /** Site → limit of its own. */
  sites: ReadonlyMap<string, string>;
}

const ANYTHING = { processors: Infinity, ahead: 0, ramMB: Infinity };

/** Says which limits of running jobs are reached. */
@Injectable()
export class LimitObstacles {
  constructor(
    private readonly database: Database,
    private readonly limits: LimitsRepository,
    private readonly queue: QueueRepository,
  ) {}

  async of(
    job: LimitedOwner & Pick<Wishes, 'tags'>,
    registry: RegistrySnapshot,
    sites: readonly Site[],
  ): Promise<Obstacles> {
    const running = new RunningLimits(registry);
    if (running.isLimited(job)) {
      running.note(await this.limits.held(this.database, countedOf([job])));
    }
    const reached = running.reached(job);
    return {
      ...(reached && {
        everywhere: `The limit of ${reached.name} is reached: ${jobsAtOnce(reached.running)}`,
      }),
      sites: await this.ofSites(job, sites),
    };
  }

  private async ofSites(
    job: Pick<Wishes, 'tags'>,
    sites: readonly Site[],
  ): Promise<ReadonlyMap<string, string>> {
    const limited = sites.filter(({ limits }) => limits?.running !== undefined || limits?.tags);
    if (limited.length === 0) return new Map();
    const used = await this.queue.used(this.database, limited);
    const capacity = new SiteCapacity(limited, used, ANYTHING, 0);
    const texts = new Map<string, string>();
    for (const site of limited) {
      const { running, tags } = site.limits ?? {};
      const tag = capacity.tagReached(job, site);
      if (running !== undefined && (used.get(site.name)?.jobs ?? 0) >= running) {
        texts.set(site.name, `The limit of the site is reached: ${jobsAtOnce(running)}`);
      } else if (tag !== undefined) {
        const text = `The limit of the site for tag ${tag} is reached: ${jobsAtOnce(tags?.[tag])}`;
        texts.set(site.name, text);
      }
    }
    return texts;
  }
}

function jobsAtOnce(count = 0): string {
  return count === 1 ? '1 job at once' : `${count} jobs at once`;
}
