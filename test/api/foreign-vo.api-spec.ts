import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { Agent } from 'undici';
import { runs, seed } from '../support/counts.js';
import { Calls, type FuzzCall, type KnownValues } from '../support/fuzz/calls.js';
import { readDocument, type Operation, type Parameter } from '../support/fuzz/document.js';
import { submit } from '../support/jobs.js';
import { freePorts } from '../support/ports.mjs';
import { issueFor } from '../support/tenants/certificates.js';
import { STRANGER, writeRegistry } from '../support/tenants/registry.js';
import { makeStrangerData, MARK, type StrangerData } from '../support/tenants/stranger-data.js';
import { MODES, type Mode } from '../support/tenants/verdicts.js';
import { eventually, GridClient, support, type Answer, type Grid } from '../support/testbed.js';
import { WebhookTestbed } from '../support/webhook-testbed.js';

/** Generated requests for each value of the settings. */
const CALLS = runs(1_000);

const document = readDocument();
/** How somebody calls. */
interface Identity {
  token?: string;
  cert?: string;
  key?: string;
}

const directories: string[] = [];
const agents: Agent[] = [];
let testbed: WebhookTestbed;
let grid: Grid;
/** Servers on the same database, by what GRID_GLOBAL_JOBS and GRID_CATALOGUE_GLOBAL_READ say. */
const urls = new Map<Mode, string>();
const seconds: Grid[] = [];
let stranger: GridClient;
let theirs: StrangerData;
/** Ids of jobs of carol (of a virtual organisation) and of bob (in a group without). */
let own: number[];
/** Tokens and certificates of carol and bob, by the name that generated calls have for them. */
let identities: Map<string, Identity>;

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gridgate-foreign-'));
  directories.push(directory);
  testbed = await WebhookTestbed.start({
    GRID_REGISTRY: await writeRegistry(directory),
    GRID_REGISTRY_SYNC: 'true',
    GRID_RATE_TOKEN: '0',
    GRID_RATE_AUTHORIZE: '0',
    GRID_WEBHOOK_LIMIT: '1000',
  });
  ({ grid } = testbed);
  urls.set('vo', grid.url);
  for (const mode of ['true', 'false'] as const) {
    const [port = 0] = await freePorts(1);
    const env = { GRID_PORT: String(port), GRID_PUBLIC_URL: grid.url, GRID_GLOBAL_JOBS: mode };
    seconds.push(await grid.second({ ...env, GRID_CATALOGUE_GLOBAL_READ: mode }));
    urls.set(mode, `https://127.0.0.1:${port}`);
  }
  const pair = await issueFor(support().pki, STRANGER.user);
  stranger = grid.bearer(await grid.token(pair, STRANGER.group));
  theirs = await makeStrangerData(grid, stranger);
  own = [
    ...(await submit(await grid.as('carol', 'else_user'), [{ Executable: 'x', JobName: 'mine' }])),
    ...(await submit(await grid.as('bob', 'free_user'), [{ Executable: 'x', JobName: 'mine' }])),
  ];
  await grid.sql(
    `insert into job_shares (owner_group, owner, used, held, running, as_of)
     values ('else_user', 'carol', 5000, 0, 0, now()), ('free_user', 'bob', 5000, 0, 0, now())`,
  );
  identities = new Map<string, Identity>([
    ['carol', { token: await grid.token('carol', 'else_user') }],
    ['bob', { token: await grid.token('bob', 'free_user') }],
    ['certificate carol', await grid.pair('carol')],
    ['anonymous', {}],
  ]);
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.destroy()));
  for (const second of seconds) await second.remove();
  await testbed?.remove();
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

function clientsAt(mode: Mode): Map<string, GridClient> {
  const clients = [...identities].map(([name, { token, cert, key }]) => {
    const agent = new Agent({
      connect: { ca: grid.ca, ...(cert && key && { cert, key }) },
      pipelining: 1,
    });
    agents.push(agent);
    return [name, new GridClient(urls.get(mode) ?? '', agent, token)] as const;
  });
  return new Map(clients);
}

/** What is answered to whoever would make a directory below one that is not there. */
const OF_NOTHING = 'You may not write in the directory /';

/** What an answer says of the virtual organisation that the request has not said itself. */
function leaksOf({ target, headers, body }: Partial<FuzzCall>, answer: Answer): string[] {
  const said = marksOf(
    [target, decoded(target ?? ''), JSON.stringify(headers ?? {}), body].join('\n'),
  );
  const text = textOf(answer);
  const found = marksOf(`${JSON.stringify(answer.headers)}\n${text}`);
  const numbers = (name: string): number[] =>
    [...text.matchAll(new RegExp(`"${name}": ?(\\d+)`, 'g'))].map(([, id]) => Number(id));
  const leaks = new Set([
    ...[...found].filter((mark) => !said.has(mark)),
    ...numbers('jid')
      .filter((jid) => theirs.jids.includes(jid))
      .map((jid) => `job ${jid}`),
    ...numbers('arrayId').flatMap((id) => (id === theirs.array ? [`array ${id}`] : [])),
  ]);
  const isTheirs = (target ?? '').split(/[/?]/).some((part) => idsOfTheirs().includes(part));
  const isForbidden = (answer.body?.code ?? '').endsWith('.forbidden');
  if (isTheirs && (answer.status < 300 || (isForbidden && answer.body?.detail !== OF_NOTHING))) {
    leaks.add(`status ${answer.status}`);
  }
  return [...leaks];
}

/** What stands for one thing of theirs in a path. */
function idsOfTheirs(): string[] {
  return [...theirs.jids.map(String), theirs.webhook, theirs.directory, theirs.file];
}

function marksOf(text: string): Set<string> {
  return new Set([...text.matchAll(MARK)].map(([mark]) => mark.toLowerCase()));
}

/** The parts of a path that are base64url of a path of the catalogue. */
function decoded(target: string): string {
  const parts = target.split(/[/?]/).filter((part) => /^[\w-]+$/.test(part));
  return parts.map((part) => Buffer.from(part, 'base64url').toString('latin1')).join('\n');
}

function textOf({ headers, bytes }: Answer): string {
  const encoding = headers['content-encoding'];
  if (bytes.length === 0) return '';
  if (encoding === 'gzip') return gunzipSync(bytes).toString('latin1');
  return (encoding === 'br' ? brotliDecompressSync(bytes) : bytes).toString('latin1');
}

/** Requests that show something of every virtual organisation where nothing is hidden. */
function plainRequests(): string[] {
  const [jid] = theirs.jids;
  return [
    '/jobs?allOwners=true',
    '/jobs?allOwners=true&name=zq7-job',
    '/jobs?allOwners=true&fromDate=2020-01-01&sort=owner',
    '/jobs/summary?allOwners=true&group=owner&group=ownerGroup&group=vo',
    '/jobs/summary?allOwners=true&group=name',
    '/jobs/summary?allOwners=true&group=minorStatus&group=appStatus&group=jobType',
    '/jobs/timeline?allOwners=true&group=ownerGroup',
    '/jobs/events?allOwners=true&after=0&wait=0',
    '/jobs/shares',
    '/jobs/usage?by=vo,group,owner',
    `/jobs/${jid}`,
    `/jobs/${jid}/history`,
    `/jobs/${jid}/parameters`,
    `/jobs/${jid}/explain`,
    `/jobs/arrays/${theirs.array}`,
  ];
}

describe('jobs of another virtual organisation', () => {
  it.each(['carol', 'bob'])('count nothing for %s by default', async (who) => {
    const client = clientsAt('vo').get(who)!;
    const [setup, vo] = who === 'carol' ? ['else_user', 'else'] : ['free_user', ''];
    const body = async (path: string): Promise<any> => (await client.get(path)).body;
    expect((await body('/jobs?allOwners=true')).entries).toBe(1);
    expect((await body('/jobs?allOwners=true&jobGroup=zq7-jobgroup')).entries).toBe(0);
    expect(await body('/jobs/summary?allOwners=true&group=vo')).toEqual({ [vo ?? '']: 1 });
    expect(await body('/jobs/summary?allOwners=true&group=name')).toEqual({ mine: 1 });
    const { series } = await body('/jobs/timeline?allOwners=true');
    expect(series.map(({ counts }: any) => counts.at(-1))).toEqual([1]);
    expect(await body('/jobs/usage')).toMatchObject({ total: { runs: 0 }, rows: [] });
    const { groups } = await body('/jobs/shares');
    expect(groups).toMatchObject([{ group: setup, used: 1, due: 1 }]);
    const jid = own[who === 'carol' ? 0 : 1];
    expect(await body(`/jobs/${jid}/explain`)).toMatchObject({
      place: 1,
      share: { used: 1, due: 1, ownersBefore: 0 },
    });
    const open = clientsAt('true').get(who)!;
    expect((await open.get('/jobs?allOwners=true')).body.entries).toBe(7);
    expect((await open.get(`/jobs/${jid}/explain`)).body.share.ownersBefore).toBeGreaterThan(0);
  });

  it('are no jobs that others can wait for, kill or ask for', async () => {
    const carol = clientsAt('vo').get('carol')!;
    const [jid = 0] = theirs.jids;
    const none = 999_999;
    const after = async (target: number): Promise<string> => {
      const json = { Executable: 'x', After: [{ jid: target }] };
      const { status, body } = await carol.post('/jobs', { json });
      return JSON.stringify([status, body.violations]).replaceAll(String(target), 'JID');
    };
    expect(await after(jid)).toBe(await after(none));
    const killed = await carol.delete(`/jobs?jid=${jid}&jid=${none}`);
    expect(killed.body.results).toEqual({
      [jid]: { status: 404, detail: `Job ${jid} does not exist` },
      [none]: { status: 404, detail: `Job ${none} does not exist` },
    });
  });
});

describe('answers of every operation', () => {
  it('to a directory to be made are the same where there is one and where there is none', async () => {
    const carol = clientsAt('vo').get('carol')!;
    const make = async (directory: string): Promise<unknown> => {
      const answer = await carol.post(`/filecatalogue/directory/${directory}`, { json: {} });
      return [answer.status, answer.body.code, answer.body.detail];
    };
    const nowhere = Buffer.from('/zq7-nowhere/x').toString('base64url');
    expect(await make(theirs.directory)).toEqual([403, 'catalogue.forbidden', OF_NOTHING]);
    expect(await make(nowhere)).toEqual([403, 'catalogue.forbidden', OF_NOTHING]);
  });

  it.each(MODES.flatMap((mode) => ['carol', 'bob'].map((who) => ({ mode, who }))))(
    'to plain requests of $who where the settings say $mode',
    async ({ mode, who }) => {
      const client = clientsAt(mode).get(who)!;
      const shown: string[] = [];
      for (const target of plainRequests()) {
        const leaks = leaksOf({ target }, await client.get(target));
        if (leaks.length > 0) shown.push(target);
      }
      expect(shown).toEqual(mode === 'true' ? plainRequests() : []);
    },
  );

  it.each(['vo', 'false'] as const)(
    `to ${CALLS} generated requests name nothing of another virtual organisation where the settings say %s (seed ${seed})`,
    async (mode) => {
      const clients = clientsAt(mode);
      const seen: string[] = [];
      for (const { operation, call } of generated()) {
        const { identity, method, target, headers, body } = call;
        const answer = await clients.get(identity)!.call(method, target, {
          headers,
          ...(body !== undefined && { body }),
        });
        const leaks = leaksOf(call, answer);
        if (leaks.length > 0)
          seen.push(`${operation.name}: ${leaks.join(', ')} ← ${JSON.stringify(call)}`);
      }
      expect(seen).toEqual([]);
    },
    3_600_000,
  );
});

/** Requests of all operations in turn. */
function generated(): { operation: Operation; call: FuzzCall }[] {
  const { operations } = document;
  const bearer = ['carol', 'bob'];
  const who = {
    ...{ bearer, administration: bearer },
    certificate: ['certificate carol'],
    open: ['anonymous', 'certificate carol'],
  };
  const known = knownValues();
  const calls = new Calls(document, known, who, {});
  const each = Math.ceil(CALLS / operations.length);
  return operations.flatMap((operation) =>
    fc
      .sample(fc.oneof(calls.of(operation), ...selective(operation, known, bearer)), {
        numRuns: each * (operation.parameters.some(isOfAllOwners) ? 4 : 1),
        seed,
      })
      .map((call) => ({ operation, call: { ...call, target: ending(operation, call.target) } })),
  );
}

function isOfAllOwners({ name }: Parameter): boolean {
  return name === 'allOwners';
}

/** Lists of all owners with a few good conditions: with all kinds of parameters at once one is mostly wrong. */
function selective(
  { method, path, parameters }: Operation,
  known: KnownValues,
  who: string[],
): fc.Arbitrary<FuzzCall>[] {
  if (!parameters.some(isOfAllOwners)) return [];
  const names = parameters.map(({ name }) => name).filter((name) => known[name] !== undefined);
  const pair = fc
    .constantFrom(...names)
    .chain((name) => fc.constantFrom(...(known[name] ?? [])).map((value) => [name, value]));
  const query = fc.uniqueArray(pair, { maxLength: 2, selector: ([name]) => name });
  const call = fc.record({ identity: fc.constantFrom(...who), query });
  return [
    call.map(({ identity, query: pairs }) => ({
      ...{ identity, method, headers: {}, body: undefined },
      target: `${path}?${new URLSearchParams([...pairs, ['allOwners', 'true']] as [string, string][]).toString()}`,
    })),
  ];
}

/** Asks for one answer where there is a stream else, and waits for nothing. */
function ending({ path }: Operation, target: string): string {
  if (!path.endsWith('/events')) return target;
  const [place = '', query = ''] = target.split('?');
  const rest = query.split('&').filter((pair) => pair !== '' && !/^(wait|after)=/.test(pair));
  return `${place}?${[...rest, 'wait=0', 'after=0'].join('&')}`;
}

/** Names and ids of the stranger, so that requests ask for them, and a few of one's own. */
function knownValues(): KnownValues {
  const { user, group, vo } = STRANGER;
  const jid = [...theirs.jids, ...own].map(String);
  const paths = { directory: [theirs.directory], file: [theirs.file] };
  return {
    ...{ jid, arrayId: [String(theirs.array), ...jid], ...paths },
    ...{ id: [theirs.webhook], delivery: [theirs.webhook], user: [user], owner: [user, 'carol'] },
    group: ['owner', 'ownerGroup', 'vo', 'name', 'appStatus', group, 'else_user'],
    ownerGroup: [group, 'else_user'],
    ownerDN: [`/DC=org/DC=grid/CN=${user}`],
    vo: [vo, 'else', ''],
    name: ['zq7-job', 'zq7-in.txt', 'mine'],
    after: ['0'],
    jobGroup: ['zq7-jobgroup'],
    jobType: ['zq7-type', 'User'],
    minorStatus: ['zq7-minor'],
    appStatus: ['zq7-application', 'Unknown'],
    status: ['Waiting', 'Done'],
    by: ['vo,group,owner', 'owner', 'day'],
    from: ['2020-01-01'],
    fromDate: ['2020-01-01'],
    step: ['86400'],
    sort: ['-jid', 'owner', 'lastUpdate'],
    maxJobs: ['1', '10'],
    source: ['jobs'],
    url: [testbed.url()],
    path: [`/${vo}`, '/'],
    setup: ['Prod'],
    scope: ['jobs:read'],
    grant_type: ['client_credentials'],
    client_id: ['demo-portal'],
    manifest: [`{"Executable":"x","After":[{"jid":${theirs.jids[0]}}]}`],
    ...{ allOwners: ['true'], verbose: ['true'], dryRun: ['true'], purge: ['true'] },
  };
}

describe('a webhook for all owners', () => {
  // Any instance makes the deliveries, as it is set itself: those that tell everything must be gone.
  beforeAll(async () => {
    for (const second of seconds.splice(0)) await second.remove();
  });

  it('is not told of jobs of another virtual organisation', async () => {
    const carol = clientsAt('vo').get('carol')!;
    await testbed.add(carol, { filter: { allOwners: true } });
    await submit(stranger, [{ Executable: 'x', JobName: 'zq7-told' }]);
    const [jid = 0] = await submit(carol, [{ Executable: 'x', JobName: 'mine' }]);
    const messages = await eventually(() => {
      const all = testbed.receiver.messages;
      return Promise.resolve(all.some(({ body }) => body.data['jid'] === jid) && all);
    }, 'the own job');
    expect(new Set(messages.map(({ body }) => body.data['jid']))).toEqual(new Set([jid]));
  });
});
