import { Injectable } from '@nestjs/common';
import { PlaceReport } from '#src/jobs/index.js';
import type { AuditOrigin } from '#src/audit/index.js';
import {
  DrainsService,
  type Site,
  type SiteConnection,
  type SiteState,
} from '#src/registry/index.js';

/** A site as administrators see it. */
export interface SiteReport extends Partial<Pick<Site, (typeof SHOWN)[number] | 'options'>> {
  name: string;
  backend: string;
  state: 'open' | 'drained';
  /** When it was drained. */
  since?: string;
  /** Who drained it. */
  by?: string;
  reason?: string;
  /** How a cluster of its own is reached. */
  cluster?: string;
  /** Why nothing can start there now. */
  fault?: string;
}

/** What is shown of a site as the registry says it. */
const SHOWN = [
  'setups',
  'vos',
  'slots',
  'processors',
  'ramMB',
  'gpus',
  'tags',
  'maxWallTime',
  'limits',
] as const;

/** Which sites get new jobs, and which cannot be used now. Throws DrainFault for an unknown one. */
@Injectable()
export class SiteReports {
  constructor(
    private readonly drains: DrainsService,
    private readonly places: PlaceReport,
  ) {}

  /** All sites in the order of the registry. */
  async all(): Promise<SiteReport[]> {
    return this.reportsOf(await this.drains.states());
  }

  async one(name: string): Promise<SiteReport> {
    return this.reportOf(await this.drains.state(name));
  }

  /** Gives a site no new jobs; what runs there goes on. */
  async drain(
    name: string,
    drain: { by: string; reason: string; origin?: AuditOrigin },
  ): Promise<SiteReport> {
    return this.reportOf(await this.drains.drain(name, drain));
  }

  /** Gives a drained site jobs again. */
  async resume(name: string, origin?: AuditOrigin): Promise<SiteReport> {
    return this.reportOf(await this.drains.resume(name, origin));
  }

  private async reportOf(state: SiteState): Promise<SiteReport> {
    const faults = await this.places.faults([state.site]);
    return shown(state, faults.get(state.site.name));
  }

  private async reportsOf(states: readonly SiteState[]): Promise<SiteReport[]> {
    const faults = await this.places.faults(states.map(({ site }) => site));
    return states.map((state) => shown(state, faults.get(state.site.name)));
  }
}

function shown({ site, drain }: SiteState, fault: string | undefined): SiteReport {
  const { name, backend, connection } = site;
  return {
    ...{ name, backend },
    ...(drain ? { state: 'drained', ...drain } : { state: 'open' }),
    ...(connection && { cluster: clusterOf(connection) }),
    ...(fault !== undefined && { fault }),
    ...Object.fromEntries(
      SHOWN.flatMap((member) => (site[member] === undefined ? [] : [[member, site[member]]])),
    ),
    ...(Object.keys(site.options).length > 0 && { options: site.options }),
  };
}

function clusterOf({ url, ssh, port, user }: SiteConnection): string {
  if (ssh === undefined) return url ?? '';
  return `ssh ${user ?? ''}@${ssh}${port === undefined ? '' : ` port ${port}`}`;
}
