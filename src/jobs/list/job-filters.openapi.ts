import { applyDecorators } from '@nestjs/common';
import { ApiQuery, type ApiQueryOptions } from '@nestjs/swagger';
import { JOB_ATTRIBUTES, namesOf } from './job-attributes.js';
import { JOB_STATES } from '../state/job-state.js';

const NAMES = JOB_ATTRIBUTES.map((attribute) =>
  namesOf(attribute)
    .map((name) => `\`${name}\``)
    .join(' or '),
);

/** A day or an instant of ISO 8601 in a query; a blank is a plus sign that nobody escaped. */
const INSTANT = {
  type: 'string',
  pattern:
    '^\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+ -]\\d\\d:?\\d\\d)?)?$',
  example: '2026-01-02T03:04:05Z',
} as const;

/** A parameter that is a time. */
export function instantQuery(name: string, meaning: string): ApiQueryOptions {
  return {
    name,
    required: false,
    description: `${meaning}; a day or an instant`,
    schema: INSTANT,
  };
}

/** Counts of one summary; more are refused. */
export const MOST_COUNTS = 10_000;

/** What jobs can be counted by: the attributes in both spellings, but times. */
export const COUNTABLE_NAMES = JOB_ATTRIBUTES.filter(({ type }) => type !== 'time').flatMap(
  ({ wire, attribute }) => [wire, attribute],
);

/** What the filters are, in words. */
export const FILTERS = `Filters: every attribute under both spellings, repeatable; values of one key are alternatives, several keys all apply: ${NAMES.join(', ')}. A time is an instant, or a day for the whole day in UTC.`;

const ITEMS = {
  text: { type: 'string' },
  state: { type: 'string', enum: Object.keys(JOB_STATES) },
  integer: { type: 'integer', minimum: 1 - 2 ** 31, maximum: 2 ** 31 - 1 },
  jid: { type: 'integer', format: 'int64', minimum: 1 },
  boolean: { type: 'boolean' },
  time: INSTANT,
} as const;

/** One query parameter for each attribute of a job, by its wire name. */
export function ApiJobFilters(): MethodDecorator {
  return applyDecorators(
    ...JOB_ATTRIBUTES.map(({ wire, type }) =>
      ApiQuery({
        name: wire,
        required: false,
        description: `Only jobs with one of these values of \`${wire}\``,
        schema: {
          type: 'array',
          items: { ...ITEMS[type] } as Record<string, unknown>,
        },
      }),
    ),
  );
}

/** Named shapes of lists that no class can describe. */
export const LIST_SCHEMAS = {
  JobSummary: {
    description: 'Values joined by `|` → number of jobs',
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { Done: 12, Running: 3 },
  },
};
