import { pathParameter } from '#src/http/index.js';

const named = (name: string, description: string, example: string): (() => ParameterDecorator) =>
  pathParameter(name, { description, schema: { type: 'string', example } });

/** Handler parameter: the name of a user. */
export const UserName = named('user', 'Name of the user', 'carol');

/** Handler parameter: the name of a group. */
export const GroupName = named('group', 'Name of the group', 'grid_user');

/** Handler parameter: the client_id of an application. */
export const ApplicationId = named('application', 'The client_id of the application', 'my-portal');

/** Handler parameter: the name of a site. */
export const SiteName = named('site', 'Name of the site', 'LOCAL.demo');

/** Handler parameter: the id of a worker. */
export const WorkerId = pathParameter('worker', {
  description: 'Id of the worker',
  schema: { type: 'string', format: 'uuid', example: '5a9c8f3e-2d41-4b7a-9c55-0e6d1f2a3b4c' },
});

/** A time, in the OpenAPI document. */
export const TIME = {
  type: 'string',
  format: 'date-time',
  example: '2026-01-02T03:04:05.678Z',
} as const;
