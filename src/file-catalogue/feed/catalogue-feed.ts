import { Injectable } from '@nestjs/common';
import { EventLog, Feed } from '#src/events/index.js';
import { loggedChange, type LoggedChange } from '../events/logged-change.js';

/** The changes of the catalogue, one after the other, for this instance. */
@Injectable()
export class CatalogueFeed extends Feed<LoggedChange> {
  constructor(log: EventLog) {
    super(log, 'filecatalogue', (events) => Promise.resolve(events.map(loggedChange)));
  }
}
