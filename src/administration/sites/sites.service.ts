import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import type { AuditOrigin } from '#src/platform/index.js';
import { DrainFault } from '#src/registry/index.js';
import { SiteReports } from './site-reports.js';
import type { SiteResponse } from './site.response.js';

/** Sites and their drains as routes answer them. */
@Injectable()
export class SitesService {
  constructor(private readonly reports: SiteReports) {}

  /** GET /admin/sites. */
  all(): Promise<SiteResponse[]> {
    return this.reports.all();
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
