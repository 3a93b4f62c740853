import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access } from '#src/auth/index.js';
import { Audited } from '#src/audit/index.js';
import { queryValuesOf, type HttpRequest } from '#src/http/index.js';
import { AuditSearchQuery } from './audit-search.query.js';
import { AuditSearchResponse } from './audit-search.response.js';
import { AuditSearchService } from './audit-search.service.js';

const FILTERS = ['event', 'user', 'group', 'outcome', 'since', 'until', 'where'] as const;

/** The filters as they were sent. */
function filtersOf(request: HttpRequest): Record<string, string[]> {
  const values = queryValuesOf(request);
  const given = FILTERS.filter((key) => values.has(key));
  return Object.fromEntries(given.map((key) => [key, values.all(key)]));
}

/** The audit trail of all instances. */
@ApiTags('administration')
@Controller('admin/audit')
export class AuditSearchController {
  constructor(private readonly trail: AuditSearchService) {}

  /**
   * Search the audit trail of all instances, newest first.
   *
   * @remarks Of groups with ServiceAdministrator; lines are there for `GRID_AUDIT_RETENTION` days, a second after they were written at
   * the latest. Every search is in the trail itself.
   */
  @Get()
  @Access('bearer', 'admin')
  @Audited<AuditSearchResponse>('audit.read', (request, answer) => ({
    filters: filtersOf(request),
    ...(answer && { events: answer.events.length }),
  }))
  async searchAudit(@Query() query: AuditSearchQuery): Promise<AuditSearchResponse> {
    return this.trail.search(query);
  }
}
