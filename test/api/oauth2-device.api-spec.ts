import { formOf, formsOf, PageVisitor } from '../support/page-visitor.js';
import { portalTokens } from '../support/portal.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CLIENT = 'gridgate-cli';

interface Codes {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
}

describe('device authorization (RFC 8628)', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid.remove());

  const start = async (form: Record<string, string> = {}) =>
    grid.anonymous.post<Codes>('/oauth2/device_authorization', {
      form: { client_id: CLIENT, ...form },
    });
  const poll = async (deviceCode: string, form: Record<string, string> = {}) =>
    grid.anonymous.post('/oauth2/token', {
      form: { grant_type: GRANT, device_code: deviceCode, client_id: CLIENT, ...form },
    });
  const restedPoll = async (deviceCode: string) => {
    await grid.sql('update device_authorization set polled_at = null');
    return poll(deviceCode);
  };

  it('goes from the code to the token', async () => {
    const { status, body } = await start();
    expect(status).toBe(200);
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${grid.url}/oauth2/device`,
      verification_uri_complete: `${grid.url}/oauth2/device?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    const waiting = await poll(body.device_code);
    expect([waiting.status, waiting.body.error]).toEqual([400, 'authorization_pending']);
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open('/oauth2/device');
    const typed = body.user_code.toLowerCase().replace('-', ' ');
    const question = await visitor.send(formOf(page.body), { user_code: typed });
    expect(question.body).toContain(body.user_code);
    expect(question.body).toContain('gridgate command asks for access');
    const done = await visitor.send(formOf(question.body), {
      group: 'grid_share',
      setup: 'Test',
      decision: 'allow',
    });
    expect([done.status, done.body.includes('<h1>Done</h1>')]).toEqual([200, true]);
    const tokens = await restedPoll(body.device_code);
    expect(tokens.status).toBe(200);
    expect(tokens.body).toMatchObject({
      group: 'grid_share',
      setup: 'Test',
      refresh_token: expect.any(String),
    });
    const again = await restedPoll(body.device_code);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    const late = await visitor.send(formOf(question.body), { decision: 'allow' });
    expect(late.status).toBe(400);
  });

  it('asks at once when the address carries the code', async () => {
    const { body } = await start({ scope: 'jobs:read' });
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(`/oauth2/device?user_code=${body.user_code}`);
    expect(page.body).toContain('See your jobs');
    expect(page.body).not.toContain('Submit jobs');
    await visitor.send(formOf(page.body), { decision: 'allow' });
    expect((await poll(body.device_code)).body.scope).toBe('jobs:read');
  });

  it('tells the device that the user has refused, or that time is over', async () => {
    const denied = (await start()).body;
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(`/oauth2/device?user_code=${denied.user_code}`);
    await visitor.send(formOf(page.body), { decision: 'deny' });
    expect((await poll(denied.device_code)).body.error).toBe('access_denied');
    const late = (await start()).body;
    await grid.sql("update device_authorization set expires_at = now() - interval '1 second'");
    expect((await poll(late.device_code)).body.error).toBe('expired_token');
    const expired = await visitor.open(`/oauth2/device?user_code=${late.user_code}`);
    expect([expired.status, expired.body.includes('not known or has expired')]).toEqual([
      400,
      true,
    ]);
  });

  it('slows down a device that asks too often', async () => {
    const { device_code: code } = (await start()).body;
    expect((await poll(code)).body.error).toBe('authorization_pending');
    expect((await poll(code)).body.error).toBe('slow_down');
    const [row] = await grid.sql(
      "select max(interval_seconds) as s from device_authorization where status = 'pending'",
    );
    expect(row.s).toBe(10);
  });

  it('gives the code to nobody else', async () => {
    const { device_code: code } = (await start()).body;
    const other = await poll(code, { client_id: 'demo-portal' });
    expect([other.status, other.body.error]).toEqual([400, 'invalid_grant']);
    expect((await poll('nonsense')).body.error).toBe('invalid_grant');
    const unknown = await start({ client_id: 'nobody' });
    expect([unknown.status, unknown.body]).toMatchObject([401, { error: 'invalid_client' }]);
    const scope = await start({ scope: 'nonsense' });
    expect([scope.status, scope.body]).toMatchObject([400, { error: 'invalid_scope' }]);
  });

  it('needs the form of this browser (CSRF), and a user', async () => {
    const { user_code: userCode } = (await start()).body;
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(`/oauth2/device?user_code=${userCode}`);
    const forged = await visitor.send(formOf(page.body), { csrf: 'x', decision: 'allow' });
    expect(forged.status).toBe(403);
    const anonymous = await new PageVisitor(grid.anonymous).open('/oauth2/device');
    expect(anonymous.body).toContain('<h1>Sign in</h1>');
  });

  it('makes guessing codes slow', async () => {
    const visitor = new PageVisitor(await grid.certificate('bob'));
    const form = formOf((await visitor.open('/oauth2/device')).body);
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 25; attempt += 1) {
      const answer = await visitor.send(form, { user_code: 'BBBB-BBBB' });
      statuses.add(answer.status);
    }
    expect([...statuses]).toEqual([400, 429]);
    // Who has guessed too often is told nothing about a code that is right either.
    const { user_code: right } = (await start()).body;
    expect((await visitor.send(form, { user_code: right })).status).toBe(429);
    // Others behind the same address go on.
    const other = new PageVisitor(await grid.certificate('alice'));
    const { status, body } = await other.open(`/oauth2/device?user_code=${right}`);
    expect([status, body]).toEqual([200, expect.stringContaining('value="allow"')]);
  });
});

describe('GET /oauth2/applications', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid.remove());

  it('lists what a user has allowed, and withdraws it at once', async () => {
    const tokens = await portalTokens(grid, 'alice');
    const others = await portalTokens(grid, 'bob');
    const alice = new PageVisitor(await grid.certificate('alice'));
    const page = await alice.open('/oauth2/applications');
    expect(page.body).toContain('Demo portal');
    expect(page.body).toContain('grid_user in Prod');
    const [form] = formsOf(page.body);
    expect((await alice.send(form!, { csrf: 'x' })).status).toBe(403);
    const after = await alice.send(form!);
    expect(after.body).toContain('Access is withdrawn');
    expect(after.body).toContain('No application may act for you');
    const works = async (token: string) => (await grid.bearer(token).get('/jobs')).status === 200;
    await eventually(async () => !(await works(tokens.access_token)), 'withdrawn');
    expect(await works(others.access_token)).toBe(true);
    const empty = await alice.send(form!);
    expect(empty.body).toContain('There was nothing to withdraw');
  });
});
