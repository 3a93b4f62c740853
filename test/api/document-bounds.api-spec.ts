import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { some } from '../support/counts.js';
import { Bounds, type Probe } from '../support/fuzz/bounds.js';
import { readDocument, type Operation, type Parameter } from '../support/fuzz/document.js';
import { openidTokens } from '../support/openid.js';
import { PORTAL, portalTokens } from '../support/portal.js';
import { PlayedStorage } from '../support/storage/played-storage.js';
import { encoded, FIELD, makePlaces, type Place } from '../support/tenants/place.js';
import { addWorkers } from '../support/test-worker.js';
import {
  startGrid,
  type Answer,
  type CallOptions,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const document = readDocument();
let grid: Grid;
/** It has the bytes of all files of the places. */
const storage = new PlayedStorage('ten bytes.');
let clients: Record<
  'jobs' | 'catalogue' | 'administration' | 'openid' | 'anonymous' | 'certificate',
  GridClient
>;
let bounds: Bounds;

beforeAll(async () => {
  grid = await startGrid({
    env: {
      GRID_ROLE: 'api',
      GRID_RATE_TOKEN: '0',
      GRID_RATE_AUTHORIZE: '0',
      GRID_WEBHOOK_ALLOW: '127.0.0.1',
      GRID_WEBHOOK_LIMIT: '1000',
    },
  });
  clients = {
    jobs: await grid.as('alice'),
    catalogue: await grid.as('fred'),
    administration: grid.bearer(await grid.token('adam', 'grid_adm', 'Prod', 'admin')),
    openid: grid.bearer((await openidTokens(grid, 'alice', { scope: 'openid' })).body.access_token),
    anonymous: grid.anonymous,
    certificate: await grid.certificate('alice'),
  };
  await grid.sql(
    `update registry_storage_element set url = $1, kind = 'webdav', vos = '{vo}' where name = 'SE-A'`,
    [await storage.start()],
  );
  const json = { id: 'bounds', name: 'Bounds', redirectUris: ['https://a.example/cb'] };
  await clients.administration.post('/admin/applications', { json });
  for (const section of ['users', 'groups', 'sites']) {
    const removed = { name: 'removed', ...(section === 'sites' && { backend: 'slurm' }) };
    await clients.administration.post(`/admin/${section}`, { json: removed });
  }
  const [place] = await makePlaces(grid, ['one', 'two']);
  bounds = new Bounds(document, {
    jid: place?.jid,
    id: place?.webhook,
    delivery: place?.webhook,
    url: 'https://127.0.0.1:9/',
    directory: encoded('/vo/bounds'),
    file: encoded('/vo/bounds/f'),
    after: encoded('dsome'),
    prefix: '/vo/bounds',
    fromDate: '2026-01-01',
    toDate: '2026-01-01',
    since: '2026-01-01',
    until: '2026-01-01',
    from: '2026-01-01',
    to: '2026-01-02',
    sort: '-jid, Status',
    by: 'month,owner',
    dpop_jkt: 'UNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFw',
    'Idempotency-Key': 'bounds',
    'Last-Event-ID': '0',
    Executable: '/bin/true',
    SE: 'SE-A',
    client_id: PORTAL,
    group: 'grid_user',
    setup: 'Prod',
    user: 'carol',
    application: 'bounds',
    site: 'LOCAL.demo',
  });
});
afterAll(async () => {
  await grid?.remove();
  await storage.stop();
});

/** Probes that the document alone cannot make right or wrong. */
const LEFT_OUT = new Set([
  // an address, a scope and a cursor must be one; a way to prove oneself needs its keys
  'POST /admin/applications inside redirectUris maxItems 100',
  'POST /admin/applications inside postLogoutRedirectUris maxItems 100',
  'POST /admin/applications inside scopes maxItems 100',
  'POST /admin/applications inside authentication enum',
  'GET /admin/audit inside before pattern',
  // accounts are objects, and those of one user only
  'POST /admin/users inside certificates maxItems 1000',
  'POST /admin/users inside subjects maxItems 1000',
  'PATCH /admin/users/{user} inside certificates maxItems 1000',
  'PATCH /admin/users/{user} inside subjects maxItems 1000',
  // and there are not so many properties
  'POST /admin/groups inside properties maxItems 1000',
  'PATCH /admin/groups/{group} inside properties maxItems 1000',
  // a cursor of jobs is made of a job
  'GET /jobs inside after pattern',
  // and one of a feed of a moment of the database
  'GET /jobs/events inside after pattern',
  'GET /filecatalogue/events inside after pattern',
  // what jobs are grouped by is no group
  'GET /jobs/summary inside group pattern',
  'GET /jobs/timeline inside group pattern',
  // paths are of files that there are
  'POST /filecatalogue/access inside paths maxItems 1000',
  // how short a step may be, the time between from and to says
  'GET /jobs/timeline inside step minimum 1',
  // and one of deliveries of the number of one
  'GET /webhooks/{id}/deliveries inside after pattern',
  // of the grants only some exist
  'GET /oauth2/token inside grant_type maxLength 100',
  'POST /oauth2/token inside grant_type maxLength 100',
  // read for a token exchange only; other grant types ignore it (RFC 6749 3.2)
  'POST /oauth2/token outside subject_token_type enum',
  'POST /oauth2/token outside requested_token_type enum',
  // the body without it is the other one of `oneOf`: one job
  'POST /jobs outside manifests required',
  // conditions are objects, and a label is that of another job of the request
  'POST /jobs inside After maxItems 1000',
  'POST /jobs inside label minLength 1',
  'POST /jobs inside label maxLength 128',
]);

/** Pages and grants behind secrets of a visit, a provider or a running job: the flows and their own specs reach them. */
const NEEDS_A_VISIT = [
  'GET /jobs/{jid}/peek',
  'GET /jobs/{jid}/output/{name}',
  'POST /oauth2/auth',
  'POST /oauth2/device',
  'POST /oauth2/login',
  'POST /oauth2/login/{provider}',
  'GET /oauth2/callback/{provider}',
  'POST /oauth2/applications',
];

describe('docs/openapi.json', () => {
  it('and the service agree on both sides of every rule about input', async () => {
    const probes = document.operations
      .flatMap((operation) => bounds.of(operation))
      .filter(
        ({ operation, field, rule, isInside }) =>
          !LEFT_OUT.has(`${operation.name} ${isInside ? 'inside' : 'outside'} ${field} ${rule}`),
      );
    const kinds = new Set(probes.map(({ rule }) => rule.split(' ')[0]));
    expect([...kinds].sort()).toEqual([
      'closed',
      'enum',
      'maxItems',
      'maxLength',
      'maximum',
      'minLength',
      'minimum',
      'null',
      'pattern',
      'required',
      'type',
    ]);
    const faults: string[] = [];
    for (const probe of some(probes)) {
      const answer = await send(probe.operation, probe);
      // The next probe adds an entry of the same name.
      const location = String(answer.headers['location']);
      const isAdded = /^\/admin\/(users|groups|sites)\//.test(location);
      if (isAdded) await clients.administration.delete(location);
      if (isRefused(answer, probe) !== probe.isInside && answer.status < 500) continue;
      faults.push(`${titleOf(probe)}: ${answer.status} ${answer.bytes.toString().slice(0, 200)}`);
    }
    expect(faults).toEqual([]);
  });

  it('describes requests that succeed: one of every operation', async () => {
    const operations = document.operations.filter(({ name }) => !NEEDS_A_VISIT.includes(name));
    const own = await makePlaces(
      grid,
      operations.map(({ name }) => name),
    );
    const last = own.map(({ jid }) => jid);
    await grid.sql(`update jobs set status = 'Failed' where jid = $1`, [
      last[operations.findIndex(({ path }) => path.endsWith('/reschedule'))],
    ]);
    const failed: string[] = [];
    for (const [index, operation] of operations.entries()) {
      const answer = await send(operation, undefined, await valuesFor(operation, own[index]!));
      if (answer.status < 400) continue;
      failed.push(`${operation.name}: ${answer.status} ${answer.bytes.toString().slice(0, 300)}`);
    }
    expect(failed).toEqual([]);
  });
});

/** What a request of the operation needs that only the service knows. */
async function valuesFor(operation: Operation, place: Place): Promise<Record<string, unknown>> {
  const isRemoval = operation.name === 'DELETE /filecatalogue/directory/{directory}';
  const isNew = operation.name === 'PUT /filecatalogue/file/{file}';
  const isOfTokens = operation.path.startsWith('/oauth2/');
  const [worker] = operation.path.includes('{worker}') ? await addWorkers(grid, 1) : [];
  const removed = /^DELETE \/admin\/(?:users|groups|sites)\/\{(\w+)\}$/.exec(operation.name)?.[1];
  const { access_token, refresh_token } = isOfTokens ? await portalTokens(grid, 'alice') : {};
  return {
    jid: place.jid,
    id: place.webhook,
    delivery: place.webhook,
    directory: encoded(isRemoval ? `${place.directory}/empty` : place.directory),
    file: encoded(isNew ? `${place.directory}/new` : place.file),
    paths: [place.file],
    name: operation.path.includes('{name}') ? 'in.txt' : 'bounds_run',
    metadata: { [FIELD]: place.directory },
    ...(removed !== undefined && { [removed]: 'removed' }),
    worker,
    token: access_token,
    refresh_token,
  };
}

/** Is the field what was refused? An id that none can be is one of no job. */
function isRefused(answer: Answer, { place, field, isInside }: Probe): boolean {
  const isJobOrArray = field === 'jid' || field === 'arrayId';
  if (!isInside && place === 'path' && isJobOrArray) return answer.status === 404;
  const back = String(answer.headers['location'] ?? '');
  if (back.includes('error=')) return back.includes(field);
  return answer.status === 400 && names(answer, field);
}

function titleOf({ operation, field, rule, isInside, value, body }: Probe): string {
  const sent = JSON.stringify(body?.content ?? value)?.slice(0, 80);
  return `${operation.name} ${field} ${isInside ? 'inside' : 'outside'} ${rule}: ${sent}`;
}

/** Is the field named in the answer: in a violation, or as a word of the text of an error of OAuth? */
function names({ body, bytes }: Answer, field: string): boolean {
  const { violations } = body as { violations?: { field: string }[] };
  if (violations === undefined) return bytes.toString().includes(field);
  return violations.some(
    ({ field: named }) =>
      named
        .split('.')
        .at(-1)
        ?.replace(/\[\d+\]$/, '') === field,
  );
}

function send(
  operation: Operation,
  probe: Probe | undefined,
  own: Record<string, unknown> = {},
): Promise<Answer> {
  const query = new URLSearchParams(operation.name === 'POST /jobs' ? { dryRun: 'true' } : {});
  // One answer instead of a stream, with what has been: nothing is waited for.
  const isFeed = operation.path.endsWith('/events');
  const headers: Record<string, string> = isFeed
    ? { accept: 'application/json', 'last-event-id': '0' }
    : {};
  let path = operation.path;
  const put = (parameter: Parameter, value: unknown): void => {
    if (value === undefined) return;
    const given = typeof value === 'string' ? value : JSON.stringify(value);
    if (parameter.in === 'query') query.set(parameter.name, given);
    else if (parameter.in === 'header') headers[parameter.name.toLowerCase()] = given;
    else path = path.replace(`{${parameter.name}}`, encodeURIComponent(given));
  };
  for (const parameter of operation.parameters) {
    const { name, schema = {} } = parameter;
    const isProbed = name === probe?.field && parameter.in === probe.place;
    if (isProbed) put(parameter, probe.value);
    else if (parameter.required || isWanted(operation, name))
      put(parameter, own[name] ?? bounds.valid(schema, name));
  }
  const target = query.size === 0 ? path : `${path}?${query.toString()}`;
  const client = probe === undefined ? ownerOf(operation) : clientOf(operation);
  return client.call(operation.method, target, {
    headers,
    ...payload(operation, probe?.body, own),
  });
}

/** A token by certificate needs group and setup; other grants do not, so the document cannot require it. */
function isWanted({ name }: Operation, parameter: string): boolean {
  return name === 'GET /oauth2/token' && ['group', 'setup'].includes(parameter);
}

/** The body of the probe, else one that is right. */
function payload(
  operation: Operation,
  probed: Probe['body'],
  own: Record<string, unknown>,
): CallOptions {
  const [body] = Object.entries(operation.bodies);
  if (body === undefined) return {};
  const [type, schema] = body;
  if (type === 'application/x-ndjson') {
    return { body: String(schema['example']), headers: { 'content-type': type } };
  }
  const content = probed?.content ?? bounds.validBody(schema, own);
  if ((probed?.type ?? type) === 'application/json') return { json: content };
  return { form: formOf(operation, content as Record<string, string>, own) };
}

/** Of the grants that a form may ask for, renewal needs nothing but a token. */
function formOf(
  { name }: Operation,
  form: Record<string, string>,
  { refresh_token: token }: Record<string, unknown>,
): Record<string, string> {
  const isRenewal = name === 'POST /oauth2/token' && token !== undefined;
  const renewal = { grant_type: 'refresh_token', refresh_token: String(token) };
  return { ...form, ...(isRenewal && renewal), ...(token !== undefined && { client_id: PORTAL }) };
}

function clientOf({ ways, path }: Operation): GridClient {
  if (!ways.includes('bearer')) return clients.anonymous;
  if (path.startsWith('/admin/')) return clients.administration;
  return path.startsWith('/jobs') ? clients.jobs : clients.catalogue;
}

/** Who may do it: places are alice's, fields are declared by fred, tokens are given for a certificate. */
function ownerOf(operation: Operation): GridClient {
  const { ways, name, path } = operation;
  if (path.startsWith('/admin/')) return clients.administration;
  if (ways.includes('certificate') || name === 'GET /oauth2/token') return clients.certificate;
  if (!ways.includes('bearer')) return clients.anonymous;
  if (name.endsWith('/oauth2/userinfo')) return clients.openid;
  return name === 'POST /filecatalogue/metadata' ? clients.catalogue : clients.jobs;
}
