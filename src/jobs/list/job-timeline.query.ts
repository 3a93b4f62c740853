import { ApiProperty } from '@nestjs/swagger';
import { Problem, INSTANT, readTime } from '#src/kernel/index.js';
import { IsInt, IsOptional, Max, Min, ReadBy } from '#src/http/index.js';
import {
  JobSelectionQuery,
  oneGroup,
  COUNTABLE_NAME,
  type SummaryGroup,
} from './list-jobs.query.js';

/** Steps of one timeline; more are refused. */
export const MOST_STEPS = 1_000;
const USUAL_STEPS = 100;
/** Ten years, seconds. */
const LONGEST_STEP = 315_360_000;
const WHEN = { ...INSTANT, required: false } as const;
const DAY_MS = 24 * 3600 * 1000;

/** Query of `GET /jobs/timeline`. */
export class JobTimelineQuery extends JobSelectionQuery {
  @ApiProperty({ ...WHEN, example: '2026-01-02', description: 'First step; a day before `to`' })
  @ReadBy(readInstant)
  from?: Date;

  @ApiProperty({ ...WHEN, example: '2026-01-03', description: 'Last step at the latest; now' })
  @ReadBy(readInstant)
  to?: Date;

  /** Seconds between two steps; a hundredth of the whole unless told */
  @IsOptional()
  @Max(LONGEST_STEP)
  @Min(1)
  @IsInt()
  step?: number;

  @ApiProperty({
    ...COUNTABLE_NAME,
    required: false,
    description: 'An attribute by whose present values the counts are divided further',
  })
  @ReadBy(oneGroup)
  group?: SummaryGroup;
}

/** The steps that a timeline has. */
export interface TimelineSteps {
  from: Date;
  /** Seconds. */
  step: number;
  /** Number of steps, the first one included. */
  count: number;
}

/** The steps that are asked for; none lies in the future. Throws Problem 400. */
export function stepsOf({ from, to, step }: JobTimelineQuery, now: number): TimelineSteps {
  const end = Math.min(to?.getTime() ?? now, now);
  const begin = from?.getTime() ?? end - DAY_MS;
  if (begin >= end) throw Problem.invalidField('from', 'must be before `to` and in the past');
  const seconds = step ?? Math.max(1, Math.ceil((end - begin) / 1000 / USUAL_STEPS));
  const count = Math.floor((end - begin) / 1000 / seconds) + 1;
  if (count <= MOST_STEPS) return { from: new Date(begin), step: seconds, count };
  throw Problem.invalidField('step', `is too short: there would be more than ${MOST_STEPS} steps`);
}

function readInstant(text: string, key: string): Date {
  return readTime(key, text).from;
}
