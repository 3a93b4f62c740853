import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Problem, INSTANT, readTime } from '#src/kernel/index.js';
import { auditEventsOf, type AuditSearch } from '#src/audit/index.js';
import {
  Clamp,
  IsIn,
  IsInt,
  IsOptional,
  Matches,
  Min,
  ReadAllBy,
  ReadBy,
} from '#src/http/index.js';

const MOST_VALUES = 50;
const DEFAULT_EVENTS = 100;
const MOST_EVENTS = 1_000;

/** Query of `GET /admin/audit`: alternatives of one key, several keys all apply. */
export class AuditSearchQuery {
  @ApiProperty(texts('Only this event, or all of `job.*`', 'job.killed'))
  @ReadAllBy(readEvents)
  event?: string[];

  @ApiProperty(texts('Only what this user did, or this account by command', 'alice'))
  @ReadAllBy(readNames)
  user?: string[];

  @ApiProperty(texts('Only what was done in this group', 'grid_user'))
  @ReadAllBy(readNames)
  group?: string[];

  @ApiProperty(texts('Only lines with this field, `key=value`; all that are given apply', 'jids=7'))
  @ReadAllBy(readFields)
  where?: [key: string, value: string][];

  /** Only what was done, or was refused */
  @IsOptional()
  @IsIn(['done', 'refused'])
  outcome?: string;

  @ApiProperty(instant('At or after'))
  @ReadBy(readStart)
  since?: Date;

  @ApiProperty(instant('Before'))
  @ReadBy(readStart)
  until?: Date;

  /** At most so many, newest first; more than 1000 is taken as 1000 */
  @IsOptional()
  @Clamp(MOST_EVENTS)
  @Min(1)
  @IsInt()
  maxEvents: number = DEFAULT_EVENTS;

  /** Cursor: `next` of the answer before */
  @IsOptional()
  @Matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, {
    message: 'is not a cursor of this list',
  })
  before?: string;
}

/** The lines that are asked for, and one more to know whether there are others. */
export function searchOf({
  maxEvents,
  event,
  user,
  group,
  ...rest
}: AuditSearchQuery): AuditSearch {
  return { ...rest, events: event, users: user, groups: group, limit: maxEvents + 1 };
}

function texts(meaning: string, example: string): ApiPropertyOptions {
  return { type: [String], required: false, description: meaning, example: [example] };
}

function instant(meaning: string): ApiPropertyOptions {
  return { ...INSTANT, required: false, description: `${meaning} this day or instant` };
}

function readStart(text: string, key: string): Date {
  return readTime(key, text).from;
}

function readEvents(words: string[], key: string): string[] {
  const events = readNames(words, key).map((word) => ({ word, means: auditEventsOf(word) }));
  const unknown = events.find(({ means }) => means.length === 0);
  if (unknown)
    throw Problem.invalidField(key, `has ${JSON.stringify(unknown.word)}, which is no event`);
  return [...new Set(events.flatMap(({ means }) => means))];
}

function readFields(words: string[], key: string): [string, string][] {
  return readNames(words, key).map((word) => {
    const at = word.indexOf('=');
    if (at < 1)
      throw Problem.invalidField(key, `has ${JSON.stringify(word)}: key=value is expected`);
    return [word.slice(0, at), word.slice(at + 1)];
  });
}

function readNames(words: string[], key: string): string[] {
  if (words.length > MOST_VALUES)
    throw Problem.invalidField(key, `has more than ${MOST_VALUES} values`);
  return [...new Set(words)];
}
