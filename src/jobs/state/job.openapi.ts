import type { ApiParamOptions } from '@nestjs/swagger';

/** `<jid>` in the OpenAPI document. */
export const JID_PARAM: ApiParamOptions = {
  name: 'jid',
  description: 'Id of the job',
  schema: { type: 'integer', format: 'int64', minimum: 1, example: 1 },
};

/** `<arrayId>` in the OpenAPI document. */
export const ARRAY_ID_PARAM: ApiParamOptions = {
  name: 'arrayId',
  description: 'Id of the array',
  schema: { type: 'integer', format: 'int64', minimum: 1, example: 1 },
};

/** A 64-bit integer: a JSON number with all its digits. */
export const INT64 = { type: 'integer', format: 'int64' } as const;
/** A time of a record, in the OpenAPI document. */
export const TIME = {
  type: 'string',
  format: 'date-time',
  example: '2026-01-02T03:04:05.678Z',
} as const;
