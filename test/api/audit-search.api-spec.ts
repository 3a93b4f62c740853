import { hostname, userInfo } from 'node:os';
import { Agent } from 'undici';
import { CommandUser } from '../support/command.js';
import { submit } from '../support/jobs.js';
import { freePorts } from '../support/ports.mjs';
import {
  eventually,
  GridClient,
  startGrid,
  type Answer,
  type CallOptions,
  type Grid,
} from '../support/testbed.js';

interface Line {
  id: string;
  time: string;
  instance: string;
  event: string;
  outcome: string;
  user?: string;
  group?: string;
  details: Record<string, unknown>;
}

type Query = NonNullable<CallOptions['query']>;

const UUID = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/,
);
const JOB = { Executable: 'x' };

let grid: Grid;
let admin: GridClient;
const started = new Date().toISOString();

beforeAll(async () => {
  grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'warn' } });
  admin = grid.bearer(await grid.token('adam', 'grid_adm', 'Prod', 'admin'));
});
afterAll(() => grid?.remove());

const search = async (query: Query, client = admin): Promise<Line[]> => {
  const { status, body } = await client.get('/admin/audit', { query });
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body.events as Line[];
};

/** The line of a request, once it is kept. */
const lineOf = (answer: Answer, event: string): Promise<Line> =>
  eventually(async () => {
    const where = `requestId=${String(answer.headers['x-request-id'])}`;
    return (await search({ where, event }))[0];
  }, 'the line to be kept');

const violations = async (query: Query): Promise<unknown> =>
  (await admin.get('/admin/audit', { query })).body.violations;

describe('a search of the audit trail', () => {
  it('answers whole lines, a second after they were written at the latest', async () => {
    const made = await (await grid.as('alice')).post('/jobs', { json: JOB });
    const { id, ...line } = await lineOf(made, 'job.submitted');
    const { port } = new URL(grid.url);
    expect(id).toEqual(UUID);
    expect(line).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      instance: `${hostname()}:${port}`,
      event: 'job.submitted',
      outcome: 'done',
      ...{ user: 'alice', group: 'grid_user', client: 'certificate' },
      details: {
        setup: 'Prod',
        requestId: made.headers['x-request-id'],
        address: '127.0.0.1',
        jobs: 1,
        jids: [String(made.body.jids[0])],
      },
    });
    expect(
      await search({ before: id, where: `requestId=${String(line.details['requestId'])}` }),
    ).toEqual([]);
  });

  it('is a line itself, with its filters, also when it was refused', async () => {
    const query = { event: ['job.held', 'consent.*'], user: 'alice', since: '2026-01-01' };
    const read = await admin.get('/admin/audit', { query });
    expect([read.status, read.body]).toEqual([200, { events: [] }]);
    const of = { user: 'adam', group: 'grid_adm', client: 'certificate' };
    expect(await lineOf(read, 'audit.read')).toMatchObject({
      ...{ outcome: 'done', ...of },
      details: {
        filters: { event: ['job.held', 'consent.*'], user: ['alice'], since: ['2026-01-01'] },
        events: 0,
      },
    });
    const refused = await admin.get('/admin/audit', { query: { outcome: 'maybe' } });
    expect(await lineOf(refused, 'audit.read')).toMatchObject({
      ...{ outcome: 'refused', ...of },
      details: { code: 'request.invalid', filters: { outcome: ['maybe'] } },
    });
  });

  it('finds by event, user, group, outcome, time and any other field', async () => {
    const [alice, bob, mona] = [
      await grid.as('alice'),
      await grid.as('bob'),
      await grid.as('mona'),
    ];
    const from = new Date().toISOString();
    const jids = await submit(alice, [JOB, JOB, JOB]);
    await submit(await grid.as('bob', 'grid_share'), [JOB]);
    await bob.delete(`/jobs/${jids[1]}`);
    await mona.get(`/jobs/${jids[1]}/manifest`);
    await lineOf(await alice.delete(`/jobs/${jids[1]}?purge=true`), 'job.killed');
    const found = async (query: Exclude<Query, string>): Promise<string[]> =>
      (await search({ since: from, event: 'job.*', ...query })).map(
        ({ event, user, outcome }) => `${event} ${user} ${outcome}`,
      );
    const [killed, read, refused, bobs, alices] = [
      ...['job.killed alice done', 'job.read mona done', 'job.killed bob refused'],
      ...['job.submitted bob done', 'job.submitted alice done'],
    ];
    expect(await found({})).toEqual([killed, read, refused, bobs, alices]);
    expect(await found({ event: 'job.killed' })).toEqual([killed, refused]);
    expect(await found({ event: ['job.read', 'job.killed'] })).toEqual([killed, read, refused]);
    expect(await found({ user: 'bob' })).toEqual([refused, bobs]);
    expect(await found({ user: ['bob', 'mona'], event: ['job.read', 'job.submitted'] })).toEqual([
      ...[read, bobs],
    ]);
    expect(await found({ group: 'grid_share' })).toEqual([bobs]);
    expect(await found({ group: ['grid_mon', 'grid_share'] })).toEqual([read, bobs]);
    expect(await found({ outcome: 'refused' })).toEqual([refused]);
    expect(await found({ outcome: 'done', user: 'bob' })).toEqual([bobs]);
    expect(await found({ where: `jids=${jids[1]}` })).toEqual([killed, read, refused, alices]);
    expect(await found({ where: `jids=${jids[0]}-${jids[2]}` })).toEqual([alices]);
    expect(await found({ where: ['purge=true', 'client=certificate'] })).toEqual([killed]);
    expect(await found({ where: 'code=job.forbidden' })).toEqual([refused]);
    expect(await found({ where: ['jids=x', 'none=y'] })).toEqual([]);
    expect(await found({ until: from })).not.toContain(alices);
    expect(await found({ since: '2100-01-01' })).toEqual([]);
    const [newest] = await search({ since: from, event: 'job.*', maxEvents: 1 });
    expect(await found({ until: newest!.time })).not.toContain(killed);
    expect(await found({ since: newest!.time })).toContain(killed);
  });

  it('goes on where it has stopped, newest first', async () => {
    const alice = await grid.as('alice');
    const since = new Date().toISOString();
    for (let count = 0; count < 5; count += 1) await alice.post('/jobs', { json: JOB });
    await lineOf(await alice.post('/jobs', { json: {} }), 'job.submitted');
    const all = await search({ since, event: 'job.submitted' });
    expect(all.map(({ outcome }) => outcome)).toEqual([
      'refused',
      ...Array<string>(5).fill('done'),
    ]);
    const pages: Line[][] = [];
    for (let before: string | undefined; ;) {
      const query = { since, event: 'job.submitted', maxEvents: 2, ...(before && { before }) };
      const { body } = await admin.get('/admin/audit', { query });
      pages.push(body.events as Line[]);
      before = body.next as string | undefined;
      if (before === undefined) break;
      expect(before).toBe(pages.at(-1)?.at(-1)?.id);
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 2]);
    expect(pages.flat()).toEqual(all);
    const times = (await search({ since: started })).map(({ time }) => time);
    expect([...times].sort().reverse()).toEqual(times);
  });

  it('sees what every instance and every command has done, and what an instance did before it stopped', async () => {
    const [port = 0] = await freePorts(1);
    const other = await grid.second({ GRID_PORT: String(port), GRID_PUBLIC_URL: grid.url });
    const agent = new Agent({ connect: { ca: grid.ca } });
    const token = await grid.token('alice', 'grid_user');
    const client = new GridClient(`https://127.0.0.1:${port}`, agent, token);
    const made = await client.post('/jobs', { json: JOB });
    expect(made.status).toBe(200);
    await agent.close();
    await other.stop();
    const where = `requestId=${String(made.headers['x-request-id'])}`;
    expect(await search({ where })).toMatchObject([
      { event: 'job.submitted', user: 'alice', instance: `${hostname()}:${port}` },
    ]);
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url };
    const user = new CommandUser(grid.home);
    const uri = 'https://audited.example/callback';
    const added = await user.run(['client', 'add', '--name', 'A', '--redirect-uri', uri], env);
    expect(added.code).toBe(0);
    const { username: account } = userInfo();
    const [line] = await search({ event: 'client.added', user: account });
    expect(line).toMatchObject({ instance: hostname(), details: { account, name: 'A' } });
    expect(line).not.toHaveProperty('user');
    await other.remove();
  });

  it('is kept from everybody without the scope, and from groups without the property', async () => {
    const told = ({ status, body }: Answer): unknown[] => [status, body.code];
    const noScope = [403, 'auth.insufficient-scope'];
    expect(told(await grid.anonymous.get('/admin/audit'))).toEqual([401, 'auth.token-missing']);
    expect(told(await (await grid.as('adam')).get('/admin/audit'))).toEqual(noScope);
    expect(told(await (await grid.as('alice')).get('/admin/audit'))).toEqual(noScope);
    const certificate = await grid.certificate('alice');
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const refused = await certificate.get('/oauth2/token', { query: { ...query, scope: 'admin' } });
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_scope']);
    const usual = await grid.certificate('adam');
    const given = await usual.get('/oauth2/token', { query: { ...query, group: 'grid_adm' } });
    expect(String(given.body.scope).split(' ')).not.toContain('admin');
  });

  it('names each filter that it cannot read', async () => {
    const fault = (field: string, problem: string): unknown[] => [{ field, problem }];
    expect(await violations({ event: 'job.done' })).toEqual(
      fault('event', 'has "job.done", which is no event'),
    );
    expect(await violations({ where: 'jids' })).toEqual(
      fault('where', 'has "jids": key=value is expected'),
    );
    expect(await violations({ outcome: 'maybe' })).toEqual(
      fault('outcome', 'is not one of done, refused'),
    );
    const noTime = 'is not an ISO 8601 date or time';
    expect(await violations({ since: 'soon' })).toEqual(fault('since', noTime));
    expect(await violations({ until: '2026-02-30' })).toEqual(fault('until', noTime));
    expect(await violations({ before: '7' })).toEqual(
      fault('before', 'is not a cursor of this list'),
    );
    expect(await violations({ maxEvents: 0 })).toEqual(fault('maxEvents', 'must be at least 1'));
    expect(await violations({ users: 'x' })).toEqual([
      { field: 'users', problem: expect.any(String) },
    ]);
    expect(await violations('outcome=maybe&since=soon&maxEvents=x')).toHaveLength(3);
  });
});
