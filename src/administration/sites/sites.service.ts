import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import type { AuditOrigin } from '#src/audit/index.js';
import { DrainFault, withChangedEntry, withEntry, withoutSite } from '#src/registry/index.js';
import type { RegistryChangeResponse } from '../registry/registry-change.response.js';
import { RegistryChanges } from '../registry/registry-changes.js';
import { SiteReports } from './site-reports.js';
import type { AddSiteRequest, ChangeSiteRequest } from './site.request.js';
import type { SiteResponse } from './site.response.js';

/** Sites and their drains as routes answer them. */
@Injectable()
export class SitesService {
  constructor(
    private readonly reports: SiteReports,
    private readonly changes: RegistryChanges,
  ) {}

  /** GET /admin/sites. */
  all(): Promise<SiteResponse[]> {
    return this.reports.all();
  }

  /** GET /admin/sites/<name>. Throws Problem 404. */
  get(name: string): Promise<SiteResponse> {
    return this.reports.one(name).catch(refuse);
  }

  /** Throws Problem 400, 409. */
  async add({ name, ...body }: AddSiteRequest, origin: AuditOrigin): Promise<SiteResponse> {
    await this.changes.make((contents) => withEntry(contents, 'sites', name, body), origin);
    return this.get(name);
  }

  /** Throws Problem 400, 404, 409. */
  change(
    name: string,
    body: ChangeSiteRequest,
    origin: AuditOrigin,
  ): Promise<RegistryChangeResponse> {
    return this.changes.make((it) => withChangedEntry(it, 'sites', name, body), origin);
  }

  /** Throws Problem 404. */
  async remove(name: string, origin: AuditOrigin): Promise<void> {
    await this.changes.make((contents) => withoutSite(contents, name), origin);
  }

  /** Throws Problem 400, 404. */
  drain(
    name: string,
    drain: { by: string; reason: string; origin: AuditOrigin },
  ): Promise<SiteResponse> {
    return this.reports.drain(name, drain).catch(refuse);
  }

  /** Throws Problem 404. */
  resume(name: string, origin: AuditOrigin): Promise<SiteResponse> {
    return this.reports.resume(name, origin).catch(refuse);
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof DrainFault)) throw error;
  const { reason, message } = error;
  if (reason === 'bad-reason') throw Problem.invalidField('reason', message);
  throw new Problem('site.not-found', message.replace(/^there/, 'There'));
}
