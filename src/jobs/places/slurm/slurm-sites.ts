import { isDeepStrictEqual } from 'node:util';
import type { Site } from '#src/registry/index.js';
import type { Logger } from '#src/runtime/index.js';
import { ownExecutorOf, type ExecutorSource } from '../../run/executor.js';
import type { SlurmLeadership } from './slurm-leadership.js';
import { configOf } from './site-settings.js';
import type { SlurmParts } from './slurm-parts.js';
import { SlurmExecutor } from './slurm.executor.js';

/**
 * The executors of the sites that have clusters of their own. Each has its own connections, directory, watcher and
 * timers, so that one cluster that hangs delays nobody else's jobs. A site that has gone keeps its executor until its runs are over.
 */
export class SlurmSites implements ExecutorSource {
  private readonly known = new Map<string, { site: Site; executor: SlurmExecutor }>();

  constructor(
    private readonly parts: SlurmParts,
    private readonly leadership: SlurmLeadership,
    private readonly sites: () => Promise<readonly Site[]>,
  ) {}

  async current(): Promise<readonly SlurmExecutor[]> {
    const wanted = new Map<string, Site>();
    for (const site of await this.sites()) {
      if (site.connection !== undefined) wanted.set(site.name, site);
    }
    for (const [name, { executor }] of this.known) {
      if (!wanted.has(name) && !executor.isBusy) this.known.delete(name);
    }
    for (const [name, site] of wanted) {
      const before = this.known.get(name);
      if (isDeepStrictEqual(before?.site.connection, site.connection)) continue;
      this.known.set(name, { site, executor: this.executorOf(site) });
    }
    return [...this.known.values()].map(({ executor }) => executor);
  }

  private executorOf(site: Site): SlurmExecutor {
    const { name, connection } = site;
    const scope = {
      id: ownExecutorOf(site) ?? name,
      serves: (other: Site) => other.name === name && other.connection !== undefined,
      settings: this.parts.config,
    };
    const config = connection ? configOf(connection, this.parts.config) : this.parts.config;
    const logger: Logger = this.parts.logger.child({ site: name });
    return new SlurmExecutor({ ...this.parts, config, connection, logger }, this.leadership, scope);
  }
}
