import { Inject, Injectable } from '@nestjs/common';
import { Problem, type Clock, CLOCK } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { JobPolicy } from '../access/job.policy.js';
import { stepsOf, type JobTimelineQuery, type TimelineSteps } from './job-timeline.query.js';
import { JobTimelineRepository, type TimelineChange } from './job-timeline.repository.js';
import type { JobTimelineResponse, JobTimelineSeries } from './job-timeline.response.js';

/** States times values of the attribute that is grouped by. */
const MOST_SERIES = 200;
const MOST_CHANGES = 50_000;

/** How many jobs were in which state, in the course of time. */
@Injectable()
export class JobTimelineService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly policy: JobPolicy,
    private readonly timeline: JobTimelineRepository,
  ) {}

  /** GET /jobs/timeline. Throws Problem 400 for too many steps, series or changes. */
  async show(principal: Principal, query: JobTimelineQuery): Promise<JobTimelineResponse> {
    const steps = stepsOf(query, this.clock.now());
    const visibility = this.policy.visibility(principal, query.allOwners);
    const group = query.group?.attribute;
    const limit = MOST_CHANGES + 1;
    const changes = await this.timeline.changes(query, visibility, { steps, group, limit });
    if (changes.length > MOST_CHANGES) {
      throw Problem.invalidField(
        'step',
        'is too short for so many changes: take a longer one, or filter',
      );
    }
    const { from, step, count } = steps;
    const to = new Date(from.getTime() + (count - 1) * step * 1000);
    const series = seriesOf(changes, steps);
    return { from: from.toISOString(), to: to.toISOString(), step, series };
  }
}

/** Sums the changes up to counts. Throws Problem 400 for too many values of the group. */
function seriesOf(
  changes: readonly TimelineChange[],
  { count }: TimelineSteps,
): JobTimelineSeries[] {
  const series = new Map<string, JobTimelineSeries>();
  for (const { step, status, group, change } of changes) {
    const key = `${status}|${group ?? ''}`;
    const known = series.get(key);
    const one = known ?? {
      status,
      ...(group !== null && { group }),
      counts: Array<number>(count).fill(0),
    };
    if (!known) series.set(key, one);
    one.counts[step] = change;
    if (series.size > MOST_SERIES) {
      throw Problem.invalidField(
        'group',
        `has too many values: there would be more than ${MOST_SERIES} series`,
      );
    }
  }
  for (const { counts } of series.values()) {
    for (let step = 1; step < count; step += 1)
      counts[step] = (counts[step] ?? 0) + (counts[step - 1] ?? 0);
  }
  return [...series.values()].filter(({ counts }) => counts.some((n) => n !== 0));
}
