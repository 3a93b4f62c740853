import * as fc from 'fast-check';
import { runs, seed } from '../support/counts.js';
import { AnswerCheck } from '../support/fuzz/answers.js';
import { Calls, type FuzzCall, type KnownValues, type Recipes } from '../support/fuzz/calls.js';
import { readDocument, type Operation } from '../support/fuzz/document.js';
import { startNameServer, type NameServer } from '../support/name-server.js';
import { CALLBACK, PORTAL, portalTokens } from '../support/portal.js';
import { openidTokens } from '../support/openid.js';
import { PlayedStorage } from '../support/storage/played-storage.js';
import { encoded, makePlaces, type Place } from '../support/tenants/place.js';
import { addWorkers, UNKNOWN } from '../support/test-worker.js';
import { startGrid, type Grid, type GridClient, type Identity } from '../support/testbed.js';

/** Calls in all. */
const CALLS = runs(2_500);
/** An operation that no call has reached gets so many more at most, until one succeeds. */
const MORE = 2_000;
const AT_ONCE = 8;
/** Kinds of faults that are shown. */
const SHOWN = 12;

const document = readDocument();
const people: Identity[] = ['alice', 'bob', 'mona', 'adam', 'fred'];
const identities = {
  bearer: [
    ...Array.from({ length: 6 }, () => ['alice', 'fred']).flat(),
    'alice',
    'alice',
    'alice',
    'fred',
    'fred',
    'bob',
    'mona',
    'adam',
    'alice openid',
    'anonymous',
    'garbage',
  ],
  administration: [...Array.from({ length: 8 }, () => 'root'), 'adam', 'alice', 'anonymous'],
  certificate: ['certificate alice', 'certificate alice', 'certificate stranger', 'anonymous'],
  open: ['anonymous', 'anonymous', 'certificate alice', 'garbage', 'alice'],
};

let grid: Grid;
/** It has the bytes of all files of the places. */
const storage = new PlayedStorage('ten bytes.');
/** Knows the receiver of the document's examples. */
let names: NameServer;
let clients: Record<string, GridClient>;
let known: KnownValues;
/** Known to nobody until the other calls are over. */
let reserve: Place[];

beforeAll(async () => {
  names = await startNameServer((name) => (name === 'hooks.example' ? ['127.0.0.1'] : []));
  const env = {
    GRID_ROLE: 'api',
    GRID_LOG_LEVEL: 'warn',
    GRID_WEBHOOK_ALLOW: '127.0.0.1',
    GRID_WEBHOOK_RESOLVERS: names.address,
    GRID_WEBHOOK_LIMIT: '1000',
    GRID_RATE_TOKEN: '0',
    GRID_RATE_AUTHORIZE: '0',
  };
  grid = await startGrid({ ownProcess: true, env });
  const named = await Promise.all(people.map(async (name) => [name, await grid.as(name)] as const));
  clients = {
    ...Object.fromEntries(named),
    'alice openid': grid.bearer(
      (await openidTokens(grid, 'alice', { scope: 'openid email' })).body.access_token,
    ),
    root: grid.bearer(await grid.token('adam', 'grid_adm', 'Prod', 'admin')),
    anonymous: grid.anonymous,
    garbage: grid.bearer('garbage'),
    'certificate alice': await grid.certificate('alice'),
    'certificate stranger': await grid.certificate('stranger'),
  };
  await grid.sql(
    `update registry_storage_element set url = $1, kind = 'webdav', vos = '{vo}' where name = 'SE-A'`,
    [await storage.start()],
  );
  known = await knownValues();
  reserve = await makePlaces(grid, ['more 1', 'more 2', 'more 3']);
});
afterAll(async () => {
  await grid?.remove();
  await storage.stop();
  await names?.close();
});

/** Values that lead deeper into the service than random ones. */
async function knownValues(): Promise<KnownValues> {
  const places = await makePlaces(grid, Array.from({ length: 40 }, String));
  const tokens = await portalTokens(grid, 'alice');
  const empty = Array.from({ length: 8 }, (_, n) => `/vo/empty${n}`);
  const alice = await grid.as('alice');
  for (const path of empty) await alice.post(`/filecatalogue/directory/${encoded(path)}`);
  const applications = Array.from({ length: 20 }, (_, n) => `fuzz-${n}`);
  for (const id of applications) {
    const json = { id, name: id, redirectUris: ['https://a.example/cb'] };
    await clients['root']!.post('/admin/applications', { json });
  }
  const removable = Array.from({ length: 20 }, (_, n) => `spare-${n}`);
  for (const section of ['users', 'groups', 'sites']) {
    for (const name of removable) {
      const json = { name, ...(section === 'sites' && { backend: 'slurm' }) };
      await clients['root']!.post(`/admin/${section}`, { json });
    }
  }
  const paths = [
    '/',
    '/vo',
    '/vo/a',
    '/vo/a/b',
    '/demo',
    '/vo/fuzz',
    '/vo/fuzz/deep/er',
    '/vo/none',
  ];
  return {
    jid: places.map(({ jid }) => String(jid)),
    id: places.slice(0, 20).map(({ webhook }) => webhook),
    delivery: places.slice(0, 20).map(({ webhook }) => webhook),
    url: ['https://127.0.0.1:9/', 'https://10.0.0.1/', 'http://x/'],
    source: ['jobs', 'weather'],
    name: ['in.txt', 'std.out'],
    directory: [...paths, ...empty, ...places.map((place) => place.directory)].map(encoded),
    file: ['/vo/a/f1', '/vo/none', '/vo/fuzz/f', ...places.map((place) => place.file)].map(encoded),
    path: [...paths, '/vo/fuzz/f', '/vo/a/f1'],
    provider: ['none'],
    user: [...removable, 'nobody'], // the others call
    application: [...applications, 'none'],
    site: [...removable, 'LOCAL.demo', 'none'],
    worker: [...(await addWorkers(grid, 20)), UNKNOWN],
    event: ['job.*', 'keys.rotated', 'nothing'],
    where: ['jids=7', 'no condition'],
    since: ['2026-01-01', 'yesterday'],
    field: ['energy', 'particle', 'run', 'created'],
    maxJobs: ['1', '10', '0'],
    startJob: ['0', '5'],
    sort: ['-jid', 'jid,-status', 'lastUpdate', 'nothing'],
    fromDate: ['2026-01-01', '2026-01-01T00:00:00Z'],
    status: ['Waiting', 'Killed', 'Nothing'],
    group: ['grid_user', 'grid_share', 'status', 'owner', 'none', ...removable],
    setup: ['Prod', 'Test', 'None'],
    limit: ['1', '2', '1000'],
    maxValues: ['1', '3'],
    grant_type: [
      'client_credentials',
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
      'urn:ietf:params:oauth:grant-type:token-exchange',
    ],
    client_id: [PORTAL, 'certificate', 'none'],
    redirect_uri: [CALLBACK, 'http://localhost:1/callback', 'https://elsewhere.example/'],
    response_type: ['code', 'token'],
    prompt: ['none', 'login', 'consent login', 'nothing'],
    max_age: ['0', '3600', '-1'],
    code_challenge: ['a'.repeat(43), 'x'],
    code_challenge_method: ['S256', 'plain'],
    scope: ['jobs:read', 'jobs:read catalogue:read', 'none'],
    refresh_token: [tokens.refresh_token, 'none'],
    token: [tokens.access_token, tokens.refresh_token, 'none'],
    token_type_hint: ['access_token', 'refresh_token', 'x'],
    decision: ['allow', 'deny', 'x'],
    user_code: ['BCDF-GHJK', 'x'],
    subject_token: [tokens.access_token],
    subject_token_type: ['urn:ietf:params:oauth:token-type:access_token'],
    manifest: ['{"Executable":"/bin/true"}', '{"Executable":"x","Parameters":3}', '{'],
    dryRun: ['true', 'false', ''],
    purge: ['false', 'true'],
    counts: ['true', 'x'],
    verbose: ['true', '0'],
    inherited: ['true'],
    allOwners: ['true', 'no'],
    wait: ['0', '31'],
  };
}

/** Calls that need several things to be right at once. */
function recipes({ refresh_token: [token = ''] = [] }: KnownValues): Recipes {
  const certificate = {
    identity: 'certificate alice',
    members: {
      grant_type: 'client_credentials',
      group: 'grid_user',
      setup: 'Prod',
      scope: 'jobs:read',
    },
  };
  const renewal = { grant_type: 'refresh_token', refresh_token: token, client_id: PORTAL };
  return {
    'POST /filecatalogue/access': {
      identity: 'alice',
      members: { paths: JSON.stringify([reserve[0]?.file]), right: '"read"' },
    },
    'GET /oauth2/token': certificate,
    'POST /oauth2/token': { identity: 'anonymous', members: renewal },
    'POST /oauth2/introspect': { identity: 'anonymous', members: { token, client_id: PORTAL } },
    'POST /oauth2/device_authorization': {
      identity: 'anonymous',
      members: { client_id: PORTAL, scope: 'jobs:read' },
    },
    'POST /oauth2/par': {
      identity: 'anonymous',
      members: { client_id: PORTAL, response_type: 'code', redirect_uri: CALLBACK },
    },
  };
}

/** Asks for one answer where there is a stream else, and waits for nothing. */
function ending({ path }: Operation, target: string): string {
  if (!path.endsWith('/events')) return target;
  if (/[?&]wait=/.test(target)) return target.replace(/([?&]wait=)[123]?\d(?=&|$)/, '$10');
  return `${target}${target.includes('?') ? '&' : '?'}wait=0`;
}

interface Fault {
  operation: string;
  call: FuzzCall;
  faults: string[];
  answer: string;
}

/** Makes the calls of all operations mixed with each other; answers what was wrong with any of them. */
async function fuzz(): Promise<{ faults: Fault[]; statuses: Map<string, number> }> {
  const calls = new Calls(document, known, identities, recipes(known));
  const check = new AnswerCheck(document);
  const each = Math.ceil(CALLS / document.operations.length);
  const queue = document.operations.flatMap((operation) =>
    fc
      .sample(calls.of(operation), { numRuns: each, seed })
      .map((call, turn) => ({ operation, call, turn })),
  );
  queue.sort((a, b) => b.turn - a.turn);
  const faults: Fault[] = [];
  const statuses = new Map<string, number>();
  const work = async (): Promise<void> => {
    for (let next = queue.pop(); next; next = queue.pop()) {
      const { operation, call } = next;
      const found = await attempt(operation, call, check, statuses);
      if (found) faults.push(found);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const missing = new Set(unreached(statuses));
  // By now other calls may have removed all that was known.
  const webhooks = reserve.map(({ webhook }) => webhook);
  const jids = reserve.map(({ jid }) => String(jid));
  const more = { ...known, id: webhooks, delivery: webhooks, jid: jids };
  const furtherCalls = new Calls(document, more, identities, recipes(known));
  for (const operation of document.operations.filter(({ name }) => missing.has(name))) {
    for (const call of fc.sample(furtherCalls.of(operation), { numRuns: MORE, seed: seed + 1 })) {
      const found = await attempt(operation, call, check, statuses);
      if (found) faults.push(found);
      if (!unreached(statuses).includes(operation.name)) break;
    }
  }
  return { faults, statuses };
}

async function attempt(
  operation: Operation,
  call: FuzzCall,
  check: AnswerCheck,
  statuses: Map<string, number>,
): Promise<Fault | undefined> {
  const { identity, method, target, headers, body } = call;
  // Callers whose group has lost its rights reach nothing any more.
  if (method !== 'GET' && target.startsWith('/admin/groups/grid_')) return undefined;
  try {
    const answer = await clients[identity]!.call(method, ending(operation, target), {
      headers,
      ...(body !== undefined && { body }),
    });
    const key = `${operation.name} ${answer.status}`;
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
    const faults = check.faultsOf(operation, call, answer);
    if (faults.length === 0) return undefined;
    return {
      operation: operation.name,
      call,
      faults,
      answer: answer.bytes.toString('utf8').slice(0, 300),
    };
  } catch (error) {
    return { operation: operation.name, call, faults: [String(error)], answer: '' };
  }
}

describe(`${CALLS} generated calls of every operation of docs/openapi.json (seed ${seed})`, () => {
  it('are all answered as the document says and never by a fault of the service', async () => {
    const { faults, statuses } = await fuzz();
    expect(kindsOf(faults).slice(0, SHOWN)).toEqual([]);
    expect(grid.server.child.exitCode).toBeNull();
    expect(unreached(statuses)).toEqual([]);
  }, 3_600_000);
});

/** One line for each kind of fault, with its first call. */
function kindsOf(faults: Fault[]): string[] {
  const kinds = new Map<string, string>();
  for (const { operation, call, faults: found, answer } of faults) {
    const kind = `${operation}: ${found.join(', ')}`;
    if (!kinds.has(kind)) kinds.set(kind, `${kind} ← ${JSON.stringify(call)} → ${answer}`);
  }
  return [...kinds.values()].sort();
}

/** Operations for which no call has succeeded: the generator does not get behind their checks of input. */
function unreached(statuses: Map<string, number>): string[] {
  const good = new Set(
    [...statuses.keys()].filter((key) => / [23]\d\d$/.test(key)).map((key) => key.slice(0, -4)),
  );
  return document.operations
    .map(({ name }) => name)
    .filter((name) => !good.has(name) && !UNREACHED.includes(name));
}

/** Behind these stand a running job, a provider to sign in at, or forms that want their own secrets back. */
const UNREACHED = [
  'DELETE /admin/groups/{group}/members/{user}', // a member that one call has taken out is none for the next
  'POST /admin/applications', // what it takes depends on several members
  'GET /jobs/{jid}/peek',
  'GET /jobs/{jid}/output/{name}',
  'POST /oauth2/device',
  'POST /oauth2/login',
  'POST /oauth2/login/{provider}',
  'GET /oauth2/callback/{provider}',
  'POST /oauth2/applications',
];
