import { Injectable } from '@nestjs/common';
import { AuditEventsRepository } from '#src/audit/index.js';
import { searchOf, type AuditSearchQuery } from './audit-search.query.js';
import { AuditEventResponse, type AuditSearchResponse } from './audit-search.response.js';

/** Searches the audit trail that the database keeps. */
@Injectable()
export class AuditSearchService {
  constructor(private readonly trail: AuditEventsRepository) {}

  async search(query: AuditSearchQuery): Promise<AuditSearchResponse> {
    const found = await this.trail.find(searchOf(query));
    const events = found.slice(0, query.maxEvents);
    const last = events.at(-1);
    return {
      events: events.map((line) => AuditEventResponse.from(line)),
      ...(last && found.length > events.length && { next: last.id }),
    };
  }
}
