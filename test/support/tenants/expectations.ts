import { ADMINISTRATION } from './administration.js';
import { array, job, webhook } from './addresses.js';
import { CATALOGUE } from './catalogue.js';
import { firstItem, NOT_TRIED, showing, type Outcome } from './outcome.js';
import type { Call, Place } from './place.js';
import { rule, type BearerExpectation } from './rule.js';
import { WORKERS } from './workers.js';
import { always, elsewhere, LISTED, OTHERS, SHARES, three } from './verdicts.js';

const SCOPE = '403 auth.insufficient-scope';
const NO_JOB = '404 job.not-found';
const NOT_YOURS = '403 job.forbidden';
const NO_WEBHOOK = '404 webhook.not-found';

/** For those of the other virtual organisation, of whom the monitor has no scope. */
function noMonitor(outcome: Outcome): Outcome[] {
  return [SCOPE, ...three(outcome)];
}

/** Records of jobs: everybody of the virtual organisation sees them, or of the setup, or nobody. */
function record(call: (place: Place) => Call): BearerExpectation {
  const inVo = ['200', '200', NO_JOB, ...three('200')];
  const others = {
    true: [...inVo, ...elsewhere('200')],
    vo: [...inVo, ...elsewhere(NO_JOB)],
    false: [...three(NO_JOB), '200', '200', NO_JOB, ...elsewhere(NO_JOB)],
  };
  return rule({ scope: 'jobs:read', call, own: '200', others });
}

/** What only those who are responsible for a job see. */
function inside(call: (place: Place) => Call, own: Outcome = '200'): BearerExpectation {
  const inVo = [NOT_YOURS, NOT_YOURS, NO_JOB, own, own, NOT_YOURS];
  const others = {
    true: [...inVo, ...elsewhere(NOT_YOURS)],
    vo: [...inVo, ...elsewhere(NO_JOB)],
    false: [...three(NO_JOB), own, own, NO_JOB, ...elsewhere(NO_JOB)],
  };
  return rule({ scope: 'jobs:read', call, own, others });
}

/** What belongs to a webhook: there is none to anybody else, nor to its user with another group or setup. */
function ofWebhook(call: (place: Place) => Call): BearerExpectation {
  const others = always(OTHERS.map(() => NO_WEBHOOK));
  return rule({ scope: 'webhooks', call, own: '200', others });
}

/** What changes a job; the administrator may as well, so the table has nothing to try there. */
function control(call: (place: Place) => Call): BearerExpectation {
  const inVo = [NOT_YOURS, NOT_YOURS, NO_JOB, SCOPE, NOT_TRIED, NOT_YOURS];
  const others = {
    true: [...inVo, ...noMonitor(NOT_YOURS)],
    vo: [...inVo, ...noMonitor(NO_JOB)],
    false: [...three(NO_JOB), SCOPE, NOT_TRIED, NO_JOB, ...noMonitor(NO_JOB)],
  };
  return rule({ scope: 'jobs:kill', call, own: '200', others });
}

/** Tokens that were given for certificates say nothing of the user: nobody of the matrix has the scope. */
const userinfo = rule({
  scope: 'openid',
  call: () => ({ path: '/oauth2/userinfo' }),
  own: SCOPE,
  others: always(OTHERS.map(() => SCOPE)),
});
const KILLED_IN_VO = [
  ...['200 item 403', '200 item 403', '200 item 404'],
  ...[SCOPE, NOT_TRIED, '200 item 403'],
];
const WEBHOOK = { url: 'https://127.0.0.1:9/', source: 'jobs' };

/** Every operation that needs a token. An operation of the service that is not here makes the matrix fail. */
export const BEARER: Record<string, BearerExpectation> = {
  'GET /oauth2/userinfo': userinfo,
  'POST /oauth2/userinfo': userinfo,

  'GET /jobs': rule({
    scope: 'jobs:read',
    call: ({ jid }) => ({ path: '/jobs', options: { query: { allOwners: 'true', jid } } }),
    own: '200 shown',
    others: LISTED,
    outcome: showing('"owner":"alice"'),
  }),
  'GET /jobs/summary': rule({
    scope: 'jobs:read',
    call: ({ jid }) => ({
      path: '/jobs/summary',
      options: { query: { allOwners: 'true', group: 'owner', jid } },
    }),
    own: '200 shown',
    others: LISTED,
    outcome: showing('alice'),
  }),
  'GET /jobs/events': rule({
    scope: 'jobs:read',
    call: ({ jid }) => ({
      path: '/jobs/events',
      options: { query: { allOwners: 'true', wait: '0', after: '0', jid } },
    }),
    own: '200 shown',
    others: LISTED,
    outcome: showing('"status":"Received"'),
  }),
  'GET /jobs/timeline': rule({
    scope: 'jobs:read',
    call: ({ jid }) => ({
      path: '/jobs/timeline',
      options: { query: { allOwners: 'true', group: 'owner', jid } },
    }),
    own: '200 shown',
    others: LISTED,
    outcome: showing('alice'),
  }),
  'GET /jobs/shares': rule({
    scope: 'jobs:read',
    call: () => ({ path: '/jobs/shares' }),
    own: '200 shown',
    others: SHARES,
    outcome: showing('"owner":"alice"'),
  }),
  'GET /jobs/usage': rule({
    scope: 'jobs:read',
    call: () => ({ path: '/jobs/usage' }),
    own: '200 shown',
    others: LISTED,
    outcome: showing('"group":"grid_user"'),
  }),
  'POST /jobs': rule({
    scope: 'jobs:submit',
    call: () => ({ path: '/jobs', options: { json: { Executable: '/bin/true' } } }),
    own: '200',
    others: always([...three('200'), SCOPE, SCOPE, '200', SCOPE, SCOPE, '200', '200']),
  }),
  'DELETE /jobs': rule({
    scope: 'jobs:kill',
    call: ({ jid }) => ({ path: '/jobs', options: { query: { jid } } }),
    own: '200 item 200',
    others: {
      true: [...KILLED_IN_VO, ...noMonitor('200 item 403')],
      vo: [...KILLED_IN_VO, ...noMonitor('200 item 404')],
      false: [
        ...[...three('200 item 404'), SCOPE, NOT_TRIED, '200 item 404'],
        ...noMonitor('200 item 404'),
      ],
    },
    outcome: firstItem,
  }),
  'GET /jobs/{jid}': record(job('')),
  'GET /jobs/{jid}/history': record(job('/history')),
  'GET /jobs/{jid}/parameters': record(job('/parameters')),
  'GET /jobs/{jid}/explain': record(job('/explain')),
  'GET /jobs/{jid}/manifest': inside(job('/manifest')),
  'GET /jobs/{jid}/peek': inside(job('/peek'), '409 job.state-conflict'),
  'GET /jobs/{jid}/output/{name}': inside(job('/output/std.out'), '409 job.state-conflict'),
  'GET /jobs/{jid}/inputsandbox': inside(job('/inputsandbox')),
  'GET /jobs/{jid}/outputsandbox': inside(job('/outputsandbox')),
  'GET /jobs/{jid}/inputsandbox/files': inside(job('/inputsandbox/files')),
  'GET /jobs/{jid}/outputsandbox/files': inside(job('/outputsandbox/files')),
  'GET /jobs/{jid}/inputsandbox/files/{name}': inside(job('/inputsandbox/files/in.txt')),
  'GET /jobs/{jid}/outputsandbox/files/{name}': inside(job('/outputsandbox/files/in.txt')),
  'GET /jobs/arrays/{arrayId}': record(array('')),
  'DELETE /jobs/arrays/{arrayId}': control(array('')),
  'POST /jobs/arrays/{arrayId}/retry': control(array('/retry')),
  'DELETE /jobs/{jid}': control(job('')),
  'POST /jobs/{jid}/hold': control(job('/hold')),
  'POST /jobs/{jid}/release': control(job('/release')),
  'POST /jobs/{jid}/reschedule': control(job('/reschedule')),
  ...CATALOGUE,
  'GET /admin/audit': rule({
    scope: 'admin',
    call: () => ({ path: '/admin/audit' }),
    own: SCOPE,
    others: always(OTHERS.map(() => SCOPE)),
  }),
  'POST /webhooks': rule({
    scope: 'webhooks',
    call: () => ({ path: '/webhooks', options: { json: WEBHOOK } }),
    own: '201',
    others: always(OTHERS.map(() => '201')),
  }),
  'GET /webhooks': rule({
    scope: 'webhooks',
    call: () => ({ path: '/webhooks' }),
    own: '200 shown',
    others: always(OTHERS.map(() => '200 hidden')),
    outcome: (answer, place) => showing(place.webhook)(answer),
  }),
  'GET /webhooks/{id}': ofWebhook(webhook('')),
  'PATCH /webhooks/{id}': ofWebhook(webhook('', { description: 'changed' })),
  'DELETE /webhooks/{id}': ofWebhook(webhook('')),
  'POST /webhooks/{id}/secret': ofWebhook(webhook('/secret')),
  'POST /webhooks/{id}/test': ofWebhook(webhook('/test')),
  'GET /webhooks/{id}/deliveries': ofWebhook(webhook('/deliveries')),
  'POST /webhooks/{id}/deliveries/{delivery}/replay': ofWebhook((place) => ({
    path: `/webhooks/${place.webhook}/deliveries/${place.webhook}/replay`,
  })),
  ...ADMINISTRATION,
};

/** Operations that need the client certificate of a known user, and what alice gets. */
export const CERTIFICATE: Record<string, { call: Call; own: Outcome }> = {
  'GET /oauth2/groups': { call: { path: '/oauth2/groups' }, own: '200' },
  'GET /oauth2/setups': { call: { path: '/oauth2/setups' }, own: '200' },
};

/** Certificates count here as well, in one of several ways to be answered. */
export const CERTIFICATE_GRANT: Call = {
  path: '/oauth2/token',
  options: { query: { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' } },
};

/** What an operation without identity answers to a call that says nothing at all, and why it is open. */
export interface OpenExpectation {
  why: string;
  call?: Call;
  outcome: Outcome;
}

const emptyForm = (path: string): Call => ({ path, options: { form: {} } });

const PAGE = 'a page for people: it signs the visitor in by itself';

/** Operations that anybody may call. A token that is no good changes nothing there. */
export const OPEN: Record<string, OpenExpectation> = {
  'GET /health/live': { why: 'for load balancers', outcome: '200' },
  'GET /health/ready': { why: 'for load balancers', outcome: '200' },
  'GET /metrics': { why: 'for Prometheus; load balancers hide it', outcome: '200' },
  'GET /.well-known/jwks.json': { why: 'public keys', outcome: '200' },
  'GET /.well-known/oauth-authorization-server': { why: 'public metadata', outcome: '200' },
  'GET /.well-known/oauth-protected-resource': { why: 'public metadata', outcome: '200' },
  'GET /.well-known/openid-configuration': { why: 'public metadata', outcome: '200' },
  'GET /oauth2/token': { why: 'authenticates by grant', outcome: '400 request.invalid' },
  'POST /oauth2/token': { why: 'authenticates by grant', outcome: '400 request.invalid' },
  'POST /oauth2/device_authorization': {
    why: 'authenticates the application',
    outcome: '400 request.invalid',
  },
  'POST /oauth2/par': {
    why: 'authenticates the application',
    outcome: '400 request.invalid',
  },
  'POST /oauth2/revoke': {
    why: 'the application, the bearer of the very token, or the certificate proves the right',
    call: { path: '/oauth2/revoke', options: { form: { token: 'unknown' } } },
    outcome: '401 auth.client-unknown',
  },
  'POST /oauth2/introspect': {
    why: 'the application, the bearer of the very token, or the certificate proves the right',
    call: { path: '/oauth2/introspect', options: { form: { token: 'unknown' } } },
    outcome: '401 auth.client-unknown',
  },
  'GET /oauth2/auth': { why: PAGE, outcome: '400' },
  'POST /oauth2/auth': { why: PAGE, call: emptyForm('/oauth2/auth'), outcome: '303' },
  'GET /oauth2/device': { why: PAGE, outcome: '200' },
  'POST /oauth2/device': { why: PAGE, call: emptyForm('/oauth2/device'), outcome: '403' },
  'GET /oauth2/applications': { why: PAGE, outcome: '200' },
  'POST /oauth2/applications': {
    why: PAGE,
    call: emptyForm('/oauth2/applications'),
    outcome: '403',
  },
  'GET /oauth2/logout': { why: PAGE, outcome: '200' },
  'POST /oauth2/logout': { why: PAGE, call: emptyForm('/oauth2/logout'), outcome: '303' },
  'POST /oauth2/login': { why: PAGE, call: emptyForm('/oauth2/login'), outcome: '403' },
  'POST /oauth2/login/{provider}': {
    why: PAGE,
    call: emptyForm('/oauth2/login/none'),
    outcome: '403',
  },
  'GET /oauth2/callback/{provider}': {
    why: PAGE,
    call: { path: '/oauth2/callback/none' },
    outcome: '400',
  },
};

/** Every operation with expectations. */
export const EXPECTED: readonly string[] = [
  ...Object.keys(BEARER),
  ...Object.keys(CERTIFICATE),
  ...Object.keys(OPEN),
  ...Object.keys(WORKERS),
];
