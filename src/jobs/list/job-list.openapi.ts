import { JOB_ATTRIBUTES, namesOf } from '../state/job-attributes.js';

const NAMES = JOB_ATTRIBUTES.map((attribute) =>
  namesOf(attribute)
    .map((name) => `\`${name}\``)
    .join(' or '),
);

/** What the filters are, in words. */
export const FILTERS = `Filters: every attribute under both spellings, repeatable; values of one key are alternatives, several keys all apply: ${NAMES.join(', ')}. A time is an instant, or a day for the whole day in UTC.`;

/** Named shapes of lists that no class can describe. */
export const LIST_SCHEMAS = {
  JobSummary: {
    description: 'Values joined by `|` → number of jobs',
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { Done: 12, Running: 3 },
  },
};
