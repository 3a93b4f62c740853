import type { Visibility } from '../access/job.policy.js';
import type { JobFilter, JobSelectionQuery } from '../list/list-jobs.query.js';
import type { Job } from '../state/job.entity.js';
import type { JobEvent } from './job-feed.js';
import type { TimeSpan } from '#src/kernel/index.js';

/** What a move is to somebody who watches a list: of a job on it, or of one that is not on it any more. */
export type JobTold = 'job' | 'left';

/**
 * Tells what a move is to a list of this selection: `job` when the job is on the list after it, `left` when it was before,
 * undefined when the list has nothing to do with it. What changes without a move (heart beat, flags, times of the run) is
 * taken as it was when the event was read.
 */
export function jobSelector(
  selection: Pick<JobSelectionQuery, 'filters' | 'fromDate' | 'toDate'>,
  visibility: Visibility,
): (event: JobEvent) => JobTold | undefined {
  const conditions = [
    ...selection.filters.map(conditionOf),
    ...(selection.fromDate ? [since(selection.fromDate)] : []),
    ...(selection.toDate ? [until(selection.toDate)] : []),
  ];
  const isOn = (job: Job): boolean => conditions.every((condition) => condition(job));
  return (event) => {
    if (!isVisible(event.job, visibility)) return undefined;
    if (isOn(event.job)) return 'job';
    return conditions.length > 0 && event.before && isOn(event.before) ? 'left' : undefined;
  };
}

function isVisible(job: Job, { setup, owner, group, vo }: Visibility): boolean {
  if (job.setup !== setup) return false;
  if (owner === undefined || job.owner === owner) return true;
  if (vo !== undefined && job.vo === vo) return true;
  return group !== undefined && job.ownerGroup === group.name && job.vo === group.vo;
}

function conditionOf({ attribute, values }: JobFilter): (job: Job) => boolean {
  const { valueOf } = attribute;
  if (attribute.type === 'time') {
    const spans = values as TimeSpan[];
    return (job) => {
      const time = valueOf(job) as Date | null;
      return time !== null && spans.some(({ from, to }) => time >= from && time < to);
    };
  }
  const wanted = new Set(values);
  // Ids may be beyond 2^53: they are compared as texts.
  if (attribute.type === 'jid' || attribute.type === 'arrayId') {
    return (job) => wanted.has(String(valueOf(job)));
  }
  return (job) => wanted.has(valueOf(job));
}

function since(from: Date): (job: Job) => boolean {
  return (job) => job.lastUpdate >= from;
}

function until(to: Date): (job: Job) => boolean {
  return (job) => job.lastUpdate < to;
}
