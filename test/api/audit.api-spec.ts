import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { Agent } from 'undici';
import { CommandUser } from '../support/command.js';
import { AuditTrail } from '../support/audit-trail.js';
import type { FullLog } from '../support/full-log.js';
import { submit } from '../support/jobs.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { allow, authorizePath, exchange, portalTokens, renew } from '../support/portal.js';
import { freePorts } from '../support/ports.mjs';
import { encoded } from '../support/tenants/place.js';
import { eventually, GridClient, startGrid, type Answer, type Grid } from '../support/testbed.js';

const ALICE = { user: 'alice', group: 'grid_user', setup: 'Prod' };
const PORTAL = { ...ALICE, client: 'demo-portal' };
const CERTIFICATE = { ...ALICE, client: 'certificate' };

let grid: Grid;
let trail: AuditTrail;
let log: FullLog;

beforeAll(async () => {
  const env = { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'warn', GRID_REFRESH_GRACE: '0' };
  grid = await startGrid({ env });
  trail = new AuditTrail(grid);
  ({ log } = trail);
});
afterAll(() => grid?.remove());

const lineOf = (answer: Answer, event: string): Promise<Record<string, unknown>> =>
  trail.lineOf(answer, event);

describe('the audit trail says who', () => {
  it('got a token, by which grant, for what; and who was refused one', async () => {
    const client = await grid.certificate('alice');
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const given = await client.get('/oauth2/token', { query });
    expect(await lineOf(given, 'token.issued')).toEqual({
      outcome: 'done',
      ...CERTIFICATE,
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

  it('got one by code, by refresh token and on a device', async () => {
    const { code } = await allow(grid, 'alice');
    const token = async (answer: Answer, grantType: string, client: string) => {
      const { jti: tokenId } = decodeJwt(answer.body.access_token);
      expect(await lineOf(answer, 'token.issued')).toEqual({
        ...{ outcome: 'done', ...ALICE, client, grantType, tokenId },
        scope: answer.body.scope,
      });
    };
    const given = await exchange(grid, code);
    await token(given, 'authorization_code', 'demo-portal');
    const renewed = await renew(grid, given.body.refresh_token);
    await token(renewed, 'refresh_token', 'demo-portal');
    const bad = await renew(grid, 'nonsense');
    const none = { outcome: 'refused', code: 'request.invalid', client: 'demo-portal' };
    expect(await lineOf(bad, 'token.issued')).toEqual({ ...none, grantType: 'refresh_token' });
    const malformed = await grid.anonymous.post('/oauth2/token', {
      form: { grant_type: 'refresh_token', client_id: 'demo-portal' },
    });
    expect(await lineOf(malformed, 'token.issued')).toEqual({
      ...{ outcome: 'refused', code: 'request.invalid', grantType: 'refresh_token' },
    });
    const form = { client_id: 'gridgate-cli' };
    const { body: codes } = await grid.anonymous.post('/oauth2/device_authorization', { form });
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const question = await visitor.send(formOf((await visitor.open('/oauth2/device')).body), {
      user_code: codes.user_code,
    });
    const choice = { group: 'grid_user', setup: 'Prod', decision: 'allow' };
    await visitor.send(formOf(question.body), choice);
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    const polled = await grid.anonymous.post('/oauth2/token', {
      form: { ...form, grant_type, device_code: codes.device_code },
    });
    await token(polled, grant_type, 'gridgate-cli');
  });

  it('signed in with a certificate, once for a session, and out', async () => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open('/oauth2/applications');
    const signedIn = { outcome: 'done', user: 'alice', way: 'certificate' };
    expect(await lineOf(page, 'user.signed-in')).toEqual(signedIn);
    const again = await visitor.open('/oauth2/applications');
    const form = { ...formOf(again.body), action: '/oauth2/logout' };
    const left = await visitor.send(form);
    expect(await lineOf(left, 'user.signed-out')).toEqual({ outcome: 'done', user: 'alice' });
    expect(trail.eventsOf(again)).toEqual([]);
  });

  it('submitted jobs: one line for a request, none for a dry run or a repeat', async () => {
    const alice = await grid.as('alice');
    const actor = { ...CERTIFICATE };
    const job = { Executable: 'x', Arguments: 'private' };
    const one = await alice.post('/jobs', { json: job });
    const [jid] = one.body.jids;
    const details = { jobs: 1, jids: [String(jid)] };
    expect(await lineOf(one, 'job.submitted')).toEqual({ outcome: 'done', ...actor, ...details });
    const dry = await alice.post('/jobs?dryRun=true', { json: job });
    const dryRefused = await alice.post('/jobs?dryRun=true', { json: {} });
    const headers = { 'idempotency-key': 'audited' };
    const three = { json: { manifests: [job, job, job] }, headers };
    const many = await alice.post('/jobs', three);
    const [first, , last] = many.body.jids;
    expect(await lineOf(many, 'job.submitted')).toEqual({
      ...{ outcome: 'done', ...actor, jobs: 3, jids: [`${first}-${last}`] },
    });
    const repeated = await alice.post('/jobs', three);
    expect([dry.status, dryRefused.status, repeated.body]).toEqual([200, 400, many.body]);
    const refused = await alice.post('/jobs', { json: {} });
    expect(await lineOf(refused, 'job.submitted')).toEqual({
      ...{ outcome: 'refused', code: 'request.invalid', ...actor, jobs: 0, jids: [] },
    });
    expect(trail.eventsOf(dry, dryRefused, repeated)).toEqual([]);
  });

  it('read jobs of others by privilege, and not who reads what is open or shared', async () => {
    const [alice, mona] = [await grid.as('alice', 'grid_share'), await grid.as('mona')];
    const [jid = 0] = await submit(alice, [{ Executable: 'x' }]);
    const open = [
      await mona.get(`/jobs/${jid}`),
      await mona.get('/jobs?allowOwners=x'),
      await mona.get('/jobs?allOwners=true'),
      await alice.get(`/jobs/${jid}/manifest`),
      await (await grid.as('bob', 'grid_share')).get(`/jobs/${jid}/manifest`),
      await (await grid.as('bob')).get(`/jobs/${jid}/manifest`),
    ];
    expect(open.map(({ status }) => status)).toEqual([200, 400, 200, 200, 200, 403]);
    const details = { jobs: 1, jids: [String(jid)], owner: 'alice' };
    const actor = { outcome: 'done', ...CERTIFICATE, user: 'mona', group: 'grid_mon' };
    for (const [path, what] of [
      ['manifest', 'manifest'],
      ['inputsandbox', 'inputsandbox'],
      ['outputsandbox/files', 'outputsandbox'],
      ['peek', 'output'],
    ]) {
      const answer = await mona.get(`/jobs/${jid}/${path}`);
      expect(await lineOf(answer, 'job.read')).toEqual({ ...actor, what, ...details });
    }
    expect(trail.eventsOf(...open)).toEqual([]);
  });

  it('read records and lists by privilege where they are not open, from behind a trusted proxy', async () => {
    const [port = 0] = await freePorts(1);
    const closed = await grid.second({
      GRID_PORT: String(port),
      GRID_PUBLIC_URL: grid.url,
      GRID_GLOBAL_JOBS: 'false',
      GRID_TRUSTED_PROXIES: '127.0.0.1',
    });
    const agent = new Agent({ connect: { ca: grid.ca } });
    try {
      const there = new AuditTrail(closed);
      const jids = await submit(await grid.as('alice'), [{ Executable: 'x' }]);
      await submit(await grid.as('carol'), [{ Executable: 'x' }, { Executable: 'x' }]);
      const token = await grid.token('mona', 'grid_mon');
      const mona = new GridClient(`https://127.0.0.1:${port}`, agent, token);
      const headers = { 'x-forwarded-for': '192.0.2.7, 198.51.100.9' };
      const actor = { outcome: 'done', ...CERTIFICATE, user: 'mona', group: 'grid_mon' };
      const record = await mona.get(`/jobs/${jids[0]}`, { headers });
      expect([record.status, record.body.owner]).toEqual([200, 'alice']);
      expect(await there.lineOf(record, 'job.read', '198.51.100.9')).toEqual({
        ...{ ...actor, what: 'record', jobs: 1, jids: [String(jids[0])], owner: 'alice' },
      });
      const query = { allOwners: true, owner: 'carol' };
      const list = await mona.get('/jobs', { query });
      const ids = list.body.jobs.map(({ jid }: { jid: number }) => jid);
      expect(await there.lineOf(list, 'job.read')).toEqual({
        ...{ ...actor, what: 'list', jobs: 2, jids: [`${ids[1]}-${ids[0]}`] },
      });
    } finally {
      await agent.close();
      await closed.stop();
    }
    const spoofed = await (
      await grid.as('alice')
    ).post('/jobs', {
      json: { Executable: 'x' },
      headers: { 'x-forwarded-for': '192.0.2.7' },
    });
    await lineOf(spoofed, 'job.submitted');
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
    const result = { jids: [String(two)], killed: 1, refused: 1, purge: false };
    expect(await lineOf(many, 'job.killed')).toEqual({ ...done, ...result });
    const again = await alice.post(`/jobs/${three}/reschedule`);
    expect(await lineOf(again, 'job.rescheduled')).toEqual({ ...done, jids: [String(three)] });
    const shown = await alice.delete(`/jobs/${three}?purge=false`);
    const kept = { jids: [String(three)], purge: false };
    expect(await lineOf(shown, 'job.killed')).toEqual({ ...done, ...kept });
  });

  it('changed the catalogue', async () => {
    const fred = await grid.as('fred');
    const actor = { outcome: 'done', ...CERTIFICATE, user: 'fred', group: 'grid_fc' };
    const directory = `/filecatalogue/directory/${encoded('/vo/audit')}`;
    const file = `/filecatalogue/file/${encoded('/vo/audit/f')}`;
    const json = { Size: 1 };
    const lines =
      '{"kind":"file","path":"/vo/audit/g","size":1}\nnonsense\n{"kind":"file","path":"/vo/audit/g","op":"delete"}\n';
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
    const registered = { ...actor, path: '/vo/audit/f', created: true };
    const put = await fred.put(file, { json });
    expect(await lineOf(put, 'catalogue.file-registered')).toEqual(registered);
    const again = await fred.put(file, { json });
    expect(await lineOf(again, 'catalogue.file-registered')).toEqual({
      ...registered,
      created: false,
    });
    const set = await fred.patch(`${file}/metadata`, { json: { note: 'private' } });
    const place = { kind: 'file', path: '/vo/audit/f' };
    expect(await lineOf(set, 'catalogue.metadata-set')).toEqual({ ...actor, ...place });
    const bulk = await fred.post('/filecatalogue/bulk', { body: lines, headers: type });
    const summary = { lines: 3, created: 1, updated: 1, deleted: 1, unchanged: 0, failed: 1 };
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
      // Those of access tokens, and the RSA keys of ID tokens.
      ['keys.rotated', 'string', undefined],
      ['keys.rotated', 'string', undefined],
    ]);
    expect(text).not.toContain(secret);
  });

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
      const where = log.text.indexOf(secret);
      expect(where === -1 ? '' : log.text.slice(Math.max(0, where - 300), where + 20)).toBe('');
    }
    const { body } = await grid.anonymous.get<string>('/metrics');
    expect(body).toMatch(
      /^gridgate_audit_events_total\{event="refresh.reused",outcome="done"\} 1$/m,
    );
  });
});
