import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import {
  CatalogueFeed,
  CatalogueSelectionQuery,
  CatalogueTeller,
  type LoggedChange,
} from '#src/file-catalogue/index.js';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { EventLog } from '#src/events/index.js';
import type { JsonRecord } from '../store/webhook.entity.js';
import { readFilter } from './filter-values.js';
import { WebhookSource, type SourceEvent } from './webhook-source.js';

/** Changes of the catalogue. */
@Injectable()
export class CatalogueSource extends WebhookSource<LoggedChange> {
  readonly name = 'filecatalogue';
  readonly scope = 'catalogue:read';

  constructor(
    feed: CatalogueFeed,
    log: EventLog,
    private readonly teller: CatalogueTeller,
    @Inject(CLOCK) clock: Clock,
  ) {
    super(feed, log, CatalogueSelectionQuery, clock);
  }

  /** Closed meanwhile is closed. */
  async maySee(principal: Principal, filter: JsonRecord, rights: JsonRecord): Promise<boolean> {
    const change = rights as LoggedChange;
    const { prefix } = readFilter(CatalogueSelectionQuery, filter);
    const tell = await this.teller.tellOf(principal, prefix, [change]);
    return tell(change) !== undefined;
  }

  protected async select(
    changes: readonly LoggedChange[],
    principal: Principal,
    filter: JsonRecord,
    readAt: Date, // the log has no time
  ): Promise<SourceEvent[]> {
    const { prefix } = readFilter(CatalogueSelectionQuery, filter);
    const tell = await this.teller.tellOf(principal, prefix, changes);
    return changes.flatMap((change) => eventOf(change, tell(change)?.data, readAt));
  }
}

/** One event, or none where nothing is told. What it tells may be less than what happened: a move out of sight is a removal. */
function eventOf(change: LoggedChange, told: string | undefined, time: Date): SourceEvent[] {
  if (told === undefined) return [];
  const data = JSON.parse(told) as { path: string; change: string };
  return [
    {
      position: change.position,
      type: `${change.kind}.${data.change}`,
      subject: data.path,
      time,
      data,
      rights: change,
    },
  ];
}
