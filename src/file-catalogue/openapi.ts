import type { ApiParamOptions, ApiQueryOptions } from '@nestjs/swagger';

/** `<directory>` in the OpenAPI document. */
export const DIRECTORY_PARAM: ApiParamOptions = {
  name: 'directory',
  description: 'Path of the directory in URL-safe base 64 (RFC 4648 §5), padding optional',
  example: 'L3ZvL2E',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+={0,2}$' },
};

/** `<file>` in the OpenAPI document. */
export const FILE_PARAM: ApiParamOptions = {
  name: 'file',
  description: 'Path of the file in URL-safe base 64 (RFC 4648 §5), padding optional',
  example: 'L3ZvL2EvcnVuMS9mMQ',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+={0,2}$' },
};

/** Metadata conditions in the OpenAPI document: any field name as key, `operation|value` as value. */
export const CONDITION_QUERY: ApiQueryOptions = {
  name: 'conditions',
  description:
    'Metadata conditions: key = field name, value = `operation|value`. `int`, `float`, `date`: `<` `>` `=` `<=` `>=` `!=`; `string`: `in` `nin` with a comma-separated list. Several conditions AND together.',
  required: false,
  style: 'form',
  explode: true,
  schema: {
    type: 'object',
    additionalProperties: { type: 'string', pattern: '^(<|>|=|<=|>=|!=|in|nin)\\|' },
    example: { run: '>=|2', particle: 'in|e,mu' },
  },
};

/** `maxValues` in the OpenAPI document. */
export const MAX_VALUES_QUERY: ApiQueryOptions = {
  name: 'maxValues',
  description: 'At most so many values of each field; adds `total`, `min` and `max`',
  required: false,
  schema: { type: 'integer', minimum: 1 },
};

/** `counts` in the OpenAPI document. */
export const COUNTS_QUERY: ApiQueryOptions = {
  name: 'counts',
  description: 'Each value as `{"value", "directories"}` with the number of matching directories',
  required: false,
  schema: { type: 'boolean' },
};
