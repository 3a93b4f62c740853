import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { DAY, Problem } from '#src/kernel/index.js';
import { IsOptional, IsString, ReadBy } from '#src/http/index.js';
import { USAGE_KEYS, type UsageKey, type UsageWanted } from './usage.repository.js';

const KEYS = USAGE_KEYS.join('|');
const USUAL_KEYS: UsageKey[] = ['month', 'group'];
const MONTH = /^(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})-(?:0[1-9]|1[0-2])$/;

/** Query of `GET /jobs/usage`. Months and days are those of UTC. */
export class JobUsageQuery {
  @ApiProperty(time('First month or day', 'the present month'))
  @ReadBy(readFirst)
  from?: string;

  @ApiProperty(time('Last month or day, which belongs to it', 'today'))
  @ReadBy(readLast)
  to?: string;

  @ApiProperty({
    type: 'string',
    required: false,
    pattern: `^((${KEYS})(,(${KEYS}))*)?$`,
    default: USUAL_KEYS.join(','),
    example: 'month,owner',
    description:
      'What the sums are divided by; empty for one sum. Of days more than 100 days ago job groups are one, without a name',
  })
  @ReadBy(readKeys)
  by: UsageKey[] = USUAL_KEYS;

  /** Only runs of jobs of this group */
  @IsOptional()
  @IsString()
  group?: string;

  /** Only runs of jobs of this owner */
  @IsOptional()
  @IsString()
  owner?: string;

  /** Only runs at this site */
  @IsOptional()
  @IsString()
  site?: string;

  /** Only runs of jobs with this `JobGroup`, of the last 100 days */
  @IsOptional()
  @IsString()
  jobGroup?: string;
}

/** The runs that are asked for. Throws Problem 400 when the last day lies before the first. */
export function usageWanted({ from, to, ...query }: JobUsageQuery, now: number): UsageWanted {
  const today = new Date(now).toISOString().slice(0, 10);
  const last = to ?? today;
  const first = from ?? `${(last < today ? last : today).slice(0, 7)}-01`;
  if (first > last) throw Problem.invalidField('to', 'lies before `from`');
  return { ...query, from: first, to: last };
}

function time(meaning: string, usual: string): ApiPropertyOptions {
  return {
    type: 'string',
    required: false,
    pattern: `${MONTH.source}|${DAY.source}`,
    description: `${meaning}; ${usual} unless told`,
    example: '2026-01',
  };
}

function readFirst(text: string, key: string): string {
  return readDays(text, key).first;
}

function readLast(text: string, key: string): string {
  return readDays(text, key).last;
}

function readDays(text: string, key: string): { first: string; last: string } {
  if (!MONTH.test(text) && !DAY.test(text)) {
    throw Problem.invalidField(key, 'is neither a month, 2026-01, nor a day, 2026-01-31');
  }
  const start = text.length === 7 ? `${text}-01` : text;
  const day = new Date(`${start}T00:00:00Z`);
  if (start === text) return { first: text, last: text };
  const end = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0));
  return { first: start, last: end.toISOString().slice(0, 10) };
}

function readKeys(text: string, key: string): UsageKey[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.length === 1 && words[0] === '') return [];
  const wrong = words.find((word) => !(USAGE_KEYS as readonly string[]).includes(word));
  if (wrong !== undefined) {
    throw Problem.invalidField(
      key,
      `has ${JSON.stringify(wrong)}; known are ${USAGE_KEYS.join(', ')}`,
    );
  }
  return USAGE_KEYS.filter((word) => words.includes(word));
}
