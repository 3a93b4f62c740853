import type { PathParameter } from '#src/http/index.js';

const ID = { type: 'integer', format: 'int64', minimum: 1, example: 1 };

/** Parts of the paths of jobs in the OpenAPI document. */
export const JOB_PATH_PARAMETERS: Record<string, PathParameter> = {
  jid: { description: 'Id of the job', schema: ID },
  arrayId: { description: 'Id of the array', schema: ID },
  name: { description: 'Its name', schema: { type: 'string', example: 'std.out' } },
};

/** A 64-bit integer: a JSON number with all its digits. */
export const INT64 = { type: 'integer', format: 'int64' } as const;
/** A time of a record, in the OpenAPI document. */
export const TIME = {
  type: 'string',
  format: 'date-time',
  example: '2026-01-02T03:04:05.678Z',
} as const;
