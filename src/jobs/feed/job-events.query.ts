import { After, Wait, type FeedCursor } from '#src/events/index.js';
import { JobSelectionQuery } from '../list/list-jobs.query.js';

/** Query of `GET /jobs/events`: which moves, from where on, and how. */
export class JobEventsQuery extends JobSelectionQuery {
  @After()
  after?: FeedCursor;

  @Wait()
  wait?: number;
}
