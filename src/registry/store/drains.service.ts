import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { Audit, type AuditOrigin } from '#src/audit/index.js';
import { Metrics } from '#src/runtime/index.js';
import type { Drain, Site } from '../model/registry.types.js';
import { RegistryRepository } from './registry.repository.js';
import { RegistryService } from './registry.service.js';

/** Longest reason, in characters. */
const MAX_REASON = 500;
const CONTROL = /\p{Cc}/u;

/** A site with what is said of its drain. */
export interface SiteState {
  site: Site;
  drain: Drain | undefined;
}

/** A drain that cannot be: of no site, or for no good reason. */
export class DrainFault extends Error {
  constructor(
    readonly reason: 'no-site' | 'bad-reason',
    message: string,
  ) {
    super(message);
  }
}

/** Keeps sites from getting new jobs; what runs there goes on. */
@Injectable()
export class DrainsService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly repository: RegistryRepository,
    private readonly registry: RegistryService,
    private readonly audit: Audit,
    metrics: Metrics,
  ) {
    metrics.gauge(
      'gridgate_site_drained',
      '1 for a site that is drained, 0 for one that gets jobs',
      ['site'],
      async (gauge) => {
        gauge.reset();
        const known = await registry.current().catch(() => undefined);
        for (const { name } of known?.sites() ?? []) {
          gauge.set({ site: name }, known?.drainOf(name) ? 1 : 0);
        }
      },
    );
  }

  /** All sites in the order of the registry. */
  async states(): Promise<SiteState[]> {
    const registry = await this.registry.renewed();
    return registry.sites().map((site) => ({ site, drain: registry.drainOf(site.name) }));
  }

  /** Throws DrainFault for an unknown site. */
  async state(name: string): Promise<SiteState> {
    const found = (await this.states()).find(({ site }) => site.name === name);
    if (!found) throw new DrainFault('no-site', `there is no site ${name}`);
    return found;
  }

  /** Drains a site, or says anew who has drained it and why. Throws DrainFault. */
  async drain(
    name: string,
    { by, reason, origin }: { by: string; reason: string; origin?: AuditOrigin },
  ): Promise<SiteState> {
    await this.state(name);
    if (reason.length > MAX_REASON || CONTROL.test(reason)) {
      throw new DrainFault(
        'bad-reason',
        `the reason has more than ${MAX_REASON} characters, or control characters`,
      );
    }
    await this.repository.drain(name, { by, reason, since: new Date(this.clock.now()) });
    return this.changed(name, reason === '' ? 'drained' : `drained: ${reason}`, origin);
  }

  /** Gives a site jobs again; nothing changes when it is not drained. Throws DrainFault. */
  async resume(name: string, origin?: AuditOrigin): Promise<SiteState> {
    const { drain } = await this.state(name);
    if (!drain) return this.state(name);
    await this.repository.resume(name);
    return this.changed(name, 'resumed', origin);
  }

  private async changed(name: string, what: string, origin?: AuditOrigin): Promise<SiteState> {
    this.registry.forget();
    this.audit.done('registry.changed', { changes: [`~ sites.${name}: ${what}`] }, origin);
    return this.state(name);
  }
}
