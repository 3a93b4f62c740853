import type { ApiQueryOptions } from '@nestjs/swagger';
import { MAX_PAGE } from './listing.query.js';

/** `verbose` in the OpenAPI document. */
export const VERBOSE_QUERY: ApiQueryOptions = {
  name: 'verbose',
  description: 'With replicas of files and attributes of directories (older name: `extra`)',
  required: false,
  schema: { type: 'boolean', default: false },
};

/** `limit` in the OpenAPI document. */
export const LIMIT_QUERY: ApiQueryOptions = {
  name: 'limit',
  description: `Entries of one page, directories first, each kind by name; more than ${MAX_PAGE} is taken as ${MAX_PAGE}. Without it the listing is complete`,
  required: false,
  schema: { type: 'integer', minimum: 1 },
};

/** `after` in the OpenAPI document. */
export const AFTER_QUERY: ApiQueryOptions = {
  name: 'after',
  description: 'Cursor of the next page, from the `Link` header',
  required: false,
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+={0,2}$' },
};
