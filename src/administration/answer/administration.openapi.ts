import type { PathParameter } from '#src/http/index.js';

/** Parts of the paths of administration in the OpenAPI document. */
export const ADMINISTRATION_PATH_PARAMETERS: Record<string, PathParameter> = {
  user: { description: 'Name of the user', schema: { type: 'string', example: 'carol' } },
  group: { description: 'Name of the group', schema: { type: 'string', example: 'grid_user' } },
  application: {
    description: 'The client_id of the application',
    schema: { type: 'string', example: 'my-portal' },
  },
  site: { description: 'Name of the site', schema: { type: 'string', example: 'LOCAL.demo' } },
};

/** A time, in the OpenAPI document. */
export const TIME = {
  type: 'string',
  format: 'date-time',
  example: '2026-01-02T03:04:05.678Z',
} as const;
