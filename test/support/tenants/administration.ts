import type { BearerExpectation } from './rule.js';
import { outcomeOf } from './outcome.js';
import { always, ANYBODY, OTHERS } from './verdicts.js';

const SCOPE = '403 auth.insufficient-scope';
const WORKER = '00000000-0000-4000-8000-000000000000';

/** It takes a scope that no token has that did not ask for it. */
function administration(path: string, json?: object): BearerExpectation {
  const call = () => ({ path: `/admin/${path}`, ...(json && { options: { json } }) });
  const others = always(OTHERS.map(() => SCOPE));
  return { scope: 'admin', call, own: SCOPE, others, outcome: outcomeOf };
}

/** Operations of administrators. */
export const ADMINISTRATION: Record<string, BearerExpectation> = {
  'GET /admin/access': {
    scope: 'jobs:read',
    call: () => ({ path: '/admin/access' }),
    own: '200',
    others: ANYBODY,
    outcome: outcomeOf,
  },
  'GET /admin/users': administration('users'),
  'GET /admin/users/{user}': administration('users/alice'),
  'POST /admin/users': administration('users', { name: 'new' }),
  'PATCH /admin/users/{user}': administration('users/bob', { fullName: 'Bob' }),
  'DELETE /admin/users/{user}': administration('users/bob'),
  'POST /admin/users/{user}/disable': administration('users/bob/disable'),
  'POST /admin/users/{user}/enable': administration('users/bob/enable'),
  'GET /admin/groups': administration('groups'),
  'GET /admin/groups/{group}': administration('groups/grid_user'),
  'POST /admin/groups': administration('groups', { name: 'new' }),
  'PATCH /admin/groups/{group}': administration('groups/grid_adm', { members: [] }),
  'DELETE /admin/groups/{group}': administration('groups/grid_mon'),
  'PUT /admin/groups/{group}/members/{user}': administration('groups/grid_adm/members/alice'),
  'DELETE /admin/groups/{group}/members/{user}': administration('groups/grid_user/members/bob'),
  'GET /admin/applications': administration('applications'),
  'GET /admin/applications/{application}': administration('applications/demo-portal'),
  'POST /admin/applications': administration('applications', { name: 'Mine' }),
  'DELETE /admin/applications/{application}': administration('applications/demo-portal'),
  'GET /admin/workers': administration('workers'),
  'POST /admin/workers/{worker}/drain': administration(`workers/${WORKER}/drain`),
  'DELETE /admin/workers/{worker}': administration(`workers/${WORKER}`),
  'GET /admin/keys': administration('keys'),
  'POST /admin/keys/rotation': administration('keys/rotation'),
  'GET /admin/sites': administration('sites'),
  'GET /admin/sites/{site}': administration('sites/LOCAL.demo'),
  'POST /admin/sites': administration('sites', { name: 'new', backend: 'slurm' }),
  'PATCH /admin/sites/{site}': administration('sites/LOCAL.demo', { slots: 1 }),
  'DELETE /admin/sites/{site}': administration('sites/LOCAL.demo'),
  'POST /admin/sites/{site}/drain': administration('sites/LOCAL.demo/drain', { reason: 'mine' }),
  'POST /admin/sites/{site}/resume': administration('sites/LOCAL.demo/resume'),
};
