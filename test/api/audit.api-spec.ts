import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { CommandUser } from '../support/command.js';
import { FullLog } from '../support/full-log.js';
import { submit } from '../support/jobs.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { allow, authorizePath, exchange, portalTokens, renew } from '../support/portal.js';
import { encoded } from '../support/tenants/place.js';
import { eventually, startGrid, type Answer, type Grid } from '../support/testbed.js';

const ALICE = { user: 'alice', group: 'grid_user', setup: 'Prod' };
const PORTAL = { ...ALICE, client: 'demo-portal' };
const CERTIFICATE = { ...ALICE, client: 'certificate' };

let grid: Grid;
let log: FullLog;

beforeAll(async () => {
  const env = { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'error', GRID_REFRESH_GRACE: '0' };
  grid = await startGrid({ env });
  log = new FullLog(grid);
}, 90_000);
afterAll(() => grid?.remove());

/** The line of the audit trail that the request of this answer has left, without what differs each time. */
async function lineOf(answer: Answer, event: string): Promise<Record<string, unknown>> {
  const id = answer.headers['x-request-id'];
  const line = await log.line((one) => one['requestId'] === id && one['event'] === event);
  expect(line).toMatchObject({ level: 'info', channel: 'audit', address: '127.0.0.1' });
  expect(Date.parse(String(line['time']))).toBeGreaterThan(0);
  const varying = ['level', 'channel', 'time', 'address', 'requestId', 'msg', 'event'];
  return Object.fromEntries(Object.entries(line).filter(([name]) => !varying.includes(name)));
}

describe('the audit trail says who', () => {
  it('got a token, by which grant, for what; and who was refused one', async () => {
    const client = await grid.certificate('alice');
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const given = await client.get('/oauth2/token', { query });
    expect(await lineOf(given, 'token.issued')).toEqual({
      outcome: 'done',
      ...ALICE,
      grantType: 'client_credentials',
      tokenId: decodeJwt(given.body.access_token).jti,
      scope: given.body.scope,
    });
    const refused = await client.get('/oauth2/token', { query: { ...query, group: 'grid_adm' } });
    expect(await lineOf(refused, 'token.issued')).toEqual({
      outcome: 'refused',
      code: 'auth.forbidden',
      user: 'alice',
      grantType: 'client_credentials',
    });
  });

  it('allowed an application, refused it, and withdrew', async () => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(authorizePath());
    const choice = { group: 'grid_user', setup: 'Prod' };
    const allowed = await visitor.send(formOf(page.body), { ...choice, decision: 'allow' });
    expect(await lineOf(allowed, 'consent.given')).toEqual({
      outcome: 'done',
      way: 'code',
      ...PORTAL,
    });
    const denied = await visitor.send(formOf(page.body), { ...choice, decision: 'deny' });
    expect(await lineOf(denied, 'consent.denied')).toEqual({
      outcome: 'done',
      way: 'code',
      user: 'alice',
      client: 'demo-portal',
    });
    const own = await visitor.open('/oauth2/applications');
    const form = { ...formOf(own.body), action: '/oauth2/applications' };
    const withdrawn = await visitor.send(form, { client_id: 'demo-portal' });
    expect(await lineOf(withdrawn, 'consent.withdrawn')).toEqual({
      outcome: 'done',
      user: 'alice',
      client: 'demo-portal',
    });
  });

  it('used a refresh token twice, or a code', async () => {
    const { refresh_token: token, access_token: access } = await portalTokens(grid, 'alice');
    await renew(grid, token);
    await renew(grid, token);
    const [consent] = decodeJwt(access).jti!.split('.');
    const line = await log.line((one) => one['event'] === 'refresh.reused');
    expect(line).toMatchObject({ channel: 'audit', outcome: 'done', consent, ...PORTAL });
    const { code } = await allow(grid, 'alice');
    await exchange(grid, code);
    expect(await lineOf(await exchange(grid, code), 'code.reused')).toEqual({
      outcome: 'done',
      ...PORTAL,
      consent: expect.any(String),
    });
  });

  it('revoked a token', async () => {
    const token = await grid.token('alice', 'grid_user');
    const answer = await grid.bearer(token).post('/oauth2/revoke', { form: { token } });
    expect(await lineOf(answer, 'token.revoked')).toEqual({
      outcome: 'done',
      ...CERTIFICATE,
      kind: 'access_token',
      tokenId: decodeJwt(token).jti,
    });
  });

  it('killed or rescheduled jobs, or was not allowed to', async () => {
    const [alice, bob] = [await grid.as('alice'), await grid.as('bob')];
    const [one = 0, two = 0, three = 0] = await submit(alice, [
      { Executable: 'x' },
      { Executable: 'x' },
      { Executable: 'x' },
    ]);
    expect(await lineOf(await bob.delete(`/jobs/${one}`), 'job.killed')).toEqual({
      outcome: 'refused',
      code: 'job.forbidden',
      ...CERTIFICATE,
      user: 'bob',
      jids: [String(one)],
      purge: false,
    });
    const done = { outcome: 'done', ...CERTIFICATE };
    const killed = await alice.delete(`/jobs/${one}?purge=true`);
    expect(await lineOf(killed, 'job.killed')).toEqual({
      ...done,
      jids: [String(one)],
      purge: true,
    });
    const many = await alice.delete(`/jobs?jid=${two}&jid=999999999`);
    const result = { jids: [String(two)], refused: 1, purge: false };
    expect(await lineOf(many, 'job.killed')).toEqual({ ...done, ...result });
    const again = await alice.post(`/jobs/${three}/reschedule`);
    expect(await lineOf(again, 'job.rescheduled')).toEqual({ ...done, jids: [String(three)] });
  });

  it('changed the catalogue', async () => {
    const fred = await grid.as('fred');
    const actor = { outcome: 'done', ...CERTIFICATE, user: 'fred', group: 'grid_fc' };
    const directory = `/filecatalogue/directory/${encoded('/vo/audit')}`;
    const file = `/filecatalogue/file/${encoded('/vo/audit/f')}`;
    const json = { Size: 1 };
    const lines = '{"kind":"file","path":"/vo/audit/g","size":1}\nnonsense\n';
    const type = { 'content-type': 'application/x-ndjson' };
    const calls: [string, Promise<Answer>, object][] = [
      [
        'catalogue.directory-set',
        fred.post(directory, { json: { Mode: 448 } }),
        { path: '/vo/audit' },
      ],
      [
        'catalogue.field-declared',
        fred.post('/filecatalogue/metadata', { json: { name: 'audited', type: 'int' } }),
        { name: 'audited', type: 'int' },
      ],
    ];
    for (const [event, call, details] of calls) {
      expect(await lineOf(await call, event)).toEqual({ ...actor, ...details });
    }
    await fred.put(file, { json });
    const set = await fred.patch(`${file}/metadata`, { json: { note: 'private' } });
    const place = { kind: 'file', path: '/vo/audit/f' };
    expect(await lineOf(set, 'catalogue.metadata-set')).toEqual({ ...actor, ...place });
    const bulk = await fred.post('/filecatalogue/bulk', { body: lines, headers: type });
    const summary = { lines: 2, created: 1, updated: 0, unchanged: 0, failed: 1 };
    expect(await lineOf(bulk, 'catalogue.bulk')).toEqual({ ...actor, ...summary });
    const refused = await (await grid.as('bob')).delete(file);
    expect(await lineOf(refused, 'catalogue.deleted')).toEqual({
      outcome: 'refused',
      code: 'catalogue.forbidden',
      ...CERTIFICATE,
      user: 'bob',
      ...place,
    });
    expect(await lineOf(await fred.delete(file), 'catalogue.deleted')).toEqual({
      ...actor,
      ...place,
    });
  });

  it('ran a command, in a file of its own', async () => {
    const user = new CommandUser(grid.home);
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url };
    const uri = 'https://audited.example/callback';
    const words = ['client', 'add', '--name', 'Audited', '--redirect-uri', uri, '--confidential'];
    const added = await user.run([...words, '--json'], env);
    expect([added.code, added.stderr]).toEqual([0, '']);
    const { client_id: client, client_secret: secret } = JSON.parse(added.stdout) as Record<
      string,
      string
    >;
    expect((await user.run(['client', 'remove', client!], env)).code).toBe(0);
    expect((await user.run(['keys', 'rotate'], env)).code).toBe(0);
    const text = await readFile(join(grid.home, 'logs/audit.log'), 'utf8');
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      lines.map(({ event, account, ...rest }) => [event, typeof account, rest['client']]),
    ).toEqual([
      ['client.added', 'string', client],
      ['client.removed', 'string', client],
      ['keys.rotated', 'string', undefined],
    ]);
    expect(text).not.toContain(secret);
  }, 60_000);

  it('and never a token, a code or a secret; metrics count its lines', async () => {
    const tokens = await portalTokens(grid, 'alice');
    await renew(grid, tokens.refresh_token);
    await eventually(
      () =>
        Promise.resolve(
          log.lines().filter((line) => line['grantType'] === 'refresh_token').length > 0,
        ),
      'the renewal',
    );
    for (const secret of [tokens.access_token, tokens.refresh_token, 'private']) {
      expect(log.text.includes(secret)).toBe(false);
    }
    const { body } = await grid.anonymous.get<string>('/metrics');
    expect(body).toMatch(
      /^gridgate_audit_events_total\{event="refresh.reused",outcome="done"\} 1$/m,
    );
  });
});
