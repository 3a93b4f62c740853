import type { Answer } from '../testbed.js';
import { ADMINISTRATION } from './administration.js';
import { array, directory, file, job, webhook } from './addresses.js';
import { encoded, FIELD, type Call, type Place } from './place.js';
import { ANYBODY, four, LISTED, OTHERS, SEEN, SHARES, three, type Verdicts } from './verdicts.js';
import { firstItem, firstLine, NOT_TRIED, outcomeOf, showing, type Outcome } from './outcome.js';

/** What is expected of one operation that needs a bearer token. */
export interface BearerExpectation {
  scope: string;
  call: (place: Place) => Call;
  /** What alice gets in the end. */
  own: Outcome;
  others: Verdicts;
  outcome: (answer: Answer, place: Place) => Outcome;
}

const SCOPE = '403 auth.insufficient-scope';
const NO_JOB = '404 job.not-found';
const NOT_YOURS = '403 job.forbidden';
const CLOSED = '403 catalogue.forbidden';
/** What may not be seen is answered like what is not there. */
const NO_DIRECTORY = '404 catalogue.directory-not-found';
const NO_FILE = '404 catalogue.file-not-found';
const NO_WEBHOOK = '404 webhook.not-found';
/** The mate of alice's group may write where her closed directory stands, and learns that its name is taken. */
const TAKEN = '409 catalogue.exists';
const GROUP_MATE = 0;

type Rule = Omit<BearerExpectation, 'outcome'> & Partial<Pick<BearerExpectation, 'outcome'>>;

function rule({ outcome = outcomeOf, ...rest }: Rule): BearerExpectation {
  return { ...rest, outcome };
}

/** The same where a monitor has no scope. */
function noMonitor(outcome: Outcome): Outcome[] {
  return [outcome, SCOPE, outcome, outcome];
}

/** Records of jobs: everybody of the setup sees them, unless that is switched off. */
function record(call: (place: Place) => Call): BearerExpectation {
  const others = {
    shared: ['200', '200', NO_JOB, '200', '200', ...four('200')],
    closed: [NO_JOB, NO_JOB, NO_JOB, '200', '200', ...four(NO_JOB)],
  };
  return rule({ scope: 'jobs:read', call, own: '200', others });
}

/** What only those who are responsible for a job see. */
function inside(call: (place: Place) => Call, own: Outcome = '200'): BearerExpectation {
  const others = {
    shared: [NOT_YOURS, NOT_YOURS, NO_JOB, own, own, ...four(NOT_YOURS)],
    closed: [NO_JOB, NO_JOB, NO_JOB, own, own, ...four(NO_JOB)],
  };
  return rule({ scope: 'jobs:read', call, own, others });
}

/** What belongs to a webhook: there is none to anybody else, nor to its user with another group or setup. */
function ofWebhook(call: (place: Place) => Call): BearerExpectation {
  const nobody = OTHERS.map(() => NO_WEBHOOK);
  return rule({ scope: 'webhooks', call, own: '200', others: { shared: nobody, closed: nobody } });
}

/** What changes a job; the administrator may as well, so the table has nothing to try there. */
function control(call: (place: Place) => Call): BearerExpectation {
  const others = {
    shared: [NOT_YOURS, NOT_YOURS, NO_JOB, SCOPE, NOT_TRIED, ...noMonitor(NOT_YOURS)],
    closed: [NO_JOB, NO_JOB, NO_JOB, SCOPE, NOT_TRIED, ...noMonitor(NO_JOB)],
  };
  return rule({ scope: 'jobs:kill', call, own: '200', others });
}

/** Reading in the catalogue, which has no setups. */
function reading(call: (place: Place) => Call, hidden: Outcome): BearerExpectation {
  const others = {
    shared: ['200', '200', '200', '200', '200', ...four('200')],
    closed: [hidden, hidden, '200', hidden, hidden, '200', hidden, hidden, hidden],
  };
  return rule({ scope: 'catalogue:read', call, own: '200', others });
}

/** Changing something in a directory of alice; in her other setup she is still its owner. */
function writing(
  call: (place: Place) => Call,
  { own = '200', hidden = CLOSED }: { own?: Outcome; hidden?: Outcome },
): BearerExpectation {
  const verdicts = [CLOSED, CLOSED, NOT_TRIED, SCOPE, SCOPE, NOT_TRIED, SCOPE, SCOPE, CLOSED];
  return rule({
    scope: 'catalogue:write',
    call,
    own,
    others: {
      shared: verdicts,
      closed: verdicts.map((verdict, who) => {
        if (verdict !== CLOSED) return verdict;
        return hidden === CLOSED && who === GROUP_MATE ? TAKEN : hidden;
      }),
    },
  });
}

const DELETED_BY: readonly Outcome[] = [
  ...['200 item 403', '200 item 403', NOT_TRIED, SCOPE, SCOPE],
  ...[NOT_TRIED, SCOPE, SCOPE, '200 item 403'],
];

/** Tokens that were given for certificates say nothing of the user: nobody of the matrix has the scope. */
const userinfo = rule({
  scope: 'openid',
  call: () => ({ path: '/oauth2/userinfo' }),
  own: SCOPE,
  others: { shared: OTHERS.map(() => SCOPE), closed: OTHERS.map(() => SCOPE) },
});
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
    others: {
      shared: [...three('200'), SCOPE, SCOPE, '200', SCOPE, SCOPE, '200'],
      closed: [...three('200'), SCOPE, SCOPE, '200', SCOPE, SCOPE, '200'],
    },
  }),
  'DELETE /jobs': rule({
    scope: 'jobs:kill',
    call: ({ jid }) => ({ path: '/jobs', options: { query: { jid } } }),
    own: '200 item 200',
    others: {
      shared: [
        ...['200 item 403', '200 item 403', '200 item 404', SCOPE, NOT_TRIED],
        ...noMonitor('200 item 403'),
      ],
      closed: [...three('200 item 404'), SCOPE, NOT_TRIED, ...noMonitor('200 item 404')],
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
  'GET /filecatalogue/metadata': rule({
    scope: 'catalogue:read',
    call: () => ({ path: '/filecatalogue/metadata' }),
    own: '200 shown',
    others: SEEN,
    outcome: (answer, place) => showing(`"${place.directory}"`)(answer),
  }),
  'POST /filecatalogue/metadata': rule({
    scope: 'catalogue:write',
    call: () => ({
      path: '/filecatalogue/metadata',
      options: { json: { name: 'x', type: 'int' } },
    }),
    own: CLOSED,
    others: {
      shared: [...three(CLOSED), SCOPE, SCOPE, NOT_TRIED, SCOPE, SCOPE, NOT_TRIED],
      closed: [...three(CLOSED), SCOPE, SCOPE, NOT_TRIED, SCOPE, SCOPE, NOT_TRIED],
    },
  }),
  'GET /filecatalogue/events': rule({
    scope: 'catalogue:read',
    call: (place) => ({
      path: '/filecatalogue/events',
      options: { query: { prefix: place.directory, wait: '0', after: '0' } },
    }),
    own: '200 shown',
    others: SEEN,
    outcome: (answer, place) => showing(`"${place.file}"`)(answer),
  }),
  'GET /filecatalogue/directory': rule({
    scope: 'catalogue:read',
    call: () => ({ path: '/filecatalogue/directory' }),
    own: '200',
    others: ANYBODY,
  }),
  'GET /filecatalogue/directory/{directory}': reading(directory(''), NO_DIRECTORY),
  'GET /filecatalogue/directory/{directory}/metadata': reading(
    directory('/metadata'),
    NO_DIRECTORY,
  ),
  'GET /filecatalogue/directory/{directory}/search': reading(directory('/search'), NO_DIRECTORY),
  'GET /filecatalogue/file/{file}/attributes': reading(file('/attributes'), NO_FILE),
  'GET /filecatalogue/file/{file}/metadata': reading(file('/metadata'), NO_FILE),
  'POST /filecatalogue/lookup': {
    ...reading(
      ({ file: path }) => ({ path: '/filecatalogue/lookup', options: { json: { paths: [path] } } }),
      NO_FILE,
    ),
    outcome: firstLine,
  },
  'POST /filecatalogue/directory/{directory}': writing(
    ({ directory: place }) => ({ path: `/filecatalogue/directory/${encoded(`${place}/new`)}` }),
    { own: '201' },
  ),
  'DELETE /filecatalogue/directory/{directory}': writing(
    ({ directory: place }) => ({ path: `/filecatalogue/directory/${encoded(`${place}/empty`)}` }),
    { hidden: NO_DIRECTORY },
  ),
  'PUT /filecatalogue/directory/{directory}/metadata': writing(
    directory('/metadata', { [FIELD]: 'changed' }),
    { hidden: NO_DIRECTORY },
  ),
  'PATCH /filecatalogue/directory/{directory}/metadata': writing(
    directory('/metadata', { [FIELD]: 'changed' }),
    { hidden: NO_DIRECTORY },
  ),
  'PUT /filecatalogue/file/{file}': writing(
    ({ directory: place }) => ({
      path: `/filecatalogue/file/${encoded(`${place}/new`)}`,
      options: { json: { Size: 1 } },
    }),
    { own: '201' },
  ),
  'DELETE /filecatalogue/file/{file}': writing(file(''), { hidden: NO_FILE }),
  'PUT /filecatalogue/file/{file}/metadata': writing(file('/metadata', { note: 'changed' }), {
    hidden: NO_FILE,
  }),
  'PATCH /filecatalogue/file/{file}/metadata': writing(file('/metadata', { note: 'changed' }), {
    hidden: NO_FILE,
  }),
  'POST /filecatalogue/bulk': rule({
    scope: 'catalogue:write',
    call: (place) => ({
      path: '/filecatalogue/bulk',
      options: {
        body: `{"kind":"file","path":"${place.file}","op":"delete"}\n`,
        headers: { 'content-type': 'application/x-ndjson' },
      },
    }),
    own: '200 item done',
    others: {
      shared: DELETED_BY,
      closed: DELETED_BY.map((outcome) => (outcome === '200 item 403' ? '200 item done' : outcome)),
    },
    outcome: firstItem,
  }),
  'GET /admin/audit': rule({
    scope: 'admin',
    call: () => ({ path: '/admin/audit' }),
    own: SCOPE,
    others: { shared: OTHERS.map(() => SCOPE), closed: OTHERS.map(() => SCOPE) },
  }),
  'POST /webhooks': rule({
    scope: 'webhooks',
    call: () => ({ path: '/webhooks', options: { json: WEBHOOK } }),
    own: '201',
    others: { shared: OTHERS.map(() => '201'), closed: OTHERS.map(() => '201') },
  }),
  'GET /webhooks': rule({
    scope: 'webhooks',
    call: () => ({ path: '/webhooks' }),
    own: '200 shown',
    others: { shared: OTHERS.map(() => '200 hidden'), closed: OTHERS.map(() => '200 hidden') },
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
  'POST /oauth2/logout': { why: PAGE, call: emptyForm('/oauth2/logout'), outcome: '200' },
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
];
