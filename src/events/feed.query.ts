import { ApiProperty } from '@nestjs/swagger';
import { CURSOR_PATTERN, readCursor, type FeedCursor } from './feed-cursor.js';
import { ReadBy } from '#src/http/index.js';
import { Problem } from '#src/kernel/index.js';

/** Longest wait of a long poll. */
const LONGEST_WAIT_SECONDS = 30;

/** Where a feed begins. */
export function After(): PropertyDecorator {
  return (prototype, property) => {
    ApiProperty({
      type: 'string',
      required: false,
      pattern: CURSOR_PATTERN,
      description:
        'Go on behind this position: the `id` of an event, or `Grid-Feed-Position` of a list. Without it, from now on',
    })(prototype, property);
    ReadBy((text: string, key: string): FeedCursor => readCursor(text, key))(prototype, property);
  };
}

/** Asks for one answer instead of a stream. */
export function Wait(): PropertyDecorator {
  return (prototype, property) => {
    ApiProperty({
      type: 'integer',
      required: false,
      minimum: 0,
      maximum: LONGEST_WAIT_SECONDS,
      example: 1, // whoever tries it in Swagger UI gets an answer, not a stream without an end
      description:
        'Answer once, as JSON: with the events there are, or after so many seconds without any',
    })(prototype, property);
    ReadBy(readWait)(prototype, property);
  };
}

function readWait(text: string, key: string): number {
  if (/^\d{1,2}$/.test(text) && Number(text) <= LONGEST_WAIT_SECONDS) return Number(text);
  throw Problem.invalidField(key, `must be a whole number between 0 and ${LONGEST_WAIT_SECONDS}`);
}
