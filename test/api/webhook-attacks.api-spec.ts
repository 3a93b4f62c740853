import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { AuditTrail } from '../support/audit-trail.js';
import { submit } from '../support/jobs.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { portalTokens } from '../support/portal.js';
import { eventually, type GridClient } from '../support/testbed.js';
import { verified } from '../support/webhook-receiver.js';
import { WebhookTestbed, type MadeWebhook } from '../support/webhook-testbed.js';

const CONCURRENCY = 10;
/** Deliveries of one user that are under way at once. */
const OF_ONE_USER = 8;
/** The same of its webhooks that did not answer. */
const SILENT_OF_ONE_USER = 4;

let bed: WebhookTestbed;
let trail: AuditTrail;
let alice: GridClient;
let bob: GridClient;

beforeAll(async () => {
  bed = await WebhookTestbed.start({
    GRID_WEBHOOK_CONCURRENCY: String(CONCURRENCY),
    GRID_WEBHOOK_LIMIT: '7',
  });
  trail = new AuditTrail(bed.grid);
  [alice, bob] = [await bed.grid.as('alice'), await bed.grid.as('bob')];
});
afterAll(() => bed?.remove());
afterEach(() => bed.reset());

/** Answers nothing on a path, and everything at once on others. */
class Silence {
  private readonly open = new Set<ServerResponse>();
  most = 0;
  attempts = 0;

  constructor(path: string) {
    bed.receiver.answer((message, response) => {
      if (message.path !== path) return void response.writeHead(204).end();
      this.open.add(response.on('close', () => this.open.delete(response)));
      this.attempts += 1;
      this.most = Math.max(this.most, this.open.size);
    });
  }
}

describe('somebody who means harm', () => {
  it('cannot take all places with receivers that never answer', async () => {
    const silence = new Silence('/silent');
    for (let count = 0; count < 5; count += 1) await bed.add(alice, { url: bed.url('/silent') });
    await bed.add(bob, { url: bed.url('/bob') });
    const job = { Executable: '/bin/true' };
    await submit(
      alice,
      Array.from({ length: 10 }, () => job),
    );
    await eventually(() => Promise.resolve(silence.attempts >= OF_ONE_USER), 'silence');
    await submit(bob, [job]);
    await bed.received(3, ({ path }) => path === '/bob');
    await eventually(() => Promise.resolve(silence.attempts >= 2 * CONCURRENCY), 'more of it');
    expect(silence.most).toBe(OF_ONE_USER);
  });

  it('is in the way of its own other receivers with silent ones only at first', async () => {
    const silence = new Silence('/silent');
    const silent: MadeWebhook[] = [];
    for (let count = 0; count < 6; count += 1) {
      silent.push(await bed.add(alice, { url: bed.url('/silent') }));
    }
    await bed.add(alice, { url: bed.url('/well') });
    const jobs = Array.from({ length: 12 }, () => ({ Executable: '/bin/true' }));
    await submit(alice, jobs);
    await eventually(async () => (await bed.silent()) === silent.length, 'silence to be known');
    silence.most = 0;
    const before = bed.receiver.messages.filter(({ path }) => path === '/well').length;
    await submit(alice, jobs);
    await bed.received(before + 3 * jobs.length, ({ path }) => path === '/well');
    expect(silence.most).toBeLessThanOrEqual(SILENT_OF_ONE_USER);
    // The first answer makes a receiver one of the others again.
    bed.receiver.answer((_message, response) => void response.writeHead(204).end());
    await eventually(async () => {
      await Promise.all(silent.map(({ id }) => bed.due(id)));
      return (await bed.silent()) === 0;
    }, 'all to have answered');
  });

  it('leaves nothing behind by asking for tests and going away', async () => {
    const { id } = await bed.add(alice);
    const silence = new Silence('/');
    const impatient = bed.grid.bearer(alice.token!);
    const asked = impatient.post(`/webhooks/${id}/test`).catch(() => 'gone');
    await eventually(() => Promise.resolve(silence.attempts === 1), 'the test to be under way');
    await impatient.close();
    expect(await asked).toBe('gone');
    const [left] = await eventually(async () => {
      const ended = await bed.deliveries(alice, id, { state: 'failed' });
      return ended.length === 1 && ended;
    }, 'the end of the test');
    expect(left).toMatchObject({ type: 'webhook.test', attempts: 1, error: 'interrupted' });
  });

  it('is told nothing more by an application from which everything has been withdrawn', async () => {
    const scope = 'webhooks jobs:read';
    const portal = bed.grid.bearer((await portalTokens(bed.grid, 'alice', { scope })).access_token);
    const { id } = await bed.add(portal, { url: bed.url('/portal') });
    const { id: own } = await bed.add(alice, { url: bed.url('/own') });
    const visitor = new PageVisitor(await bed.grid.certificate('alice'));
    const page = await visitor.open('/oauth2/applications');
    const form = { ...formOf(page.body), action: '/oauth2/applications' };
    await visitor.send(form, { client_id: 'demo-portal' });
    const reason = 'what the application was allowed has been withdrawn';
    const { body } = await alice.get('/webhooks');
    expect(body.webhooks).toMatchObject([
      { id, application: 'demo-portal', enabled: false, disabledReason: reason },
      { id: own, application: 'certificate', enabled: true },
    ]);
    const line = await trail.log.line((one) => one['event'] === 'webhook.disabled');
    expect(line).toMatchObject({ webhook: id, reason, user: 'alice', client: 'demo-portal' });
    await submit(alice, [{ Executable: '/bin/true' }]);
    await bed.received(3);
    expect(bed.receiver.messages.map(({ path }) => path)).toEqual(['/own', '/own', '/own']);
  });

  it.each<[string, object]>([
    ['request.malformed-body', { description: 'a\u0000b' }],
    ['request.malformed-body', { description: 'a\ud800b' }],
    ['request.malformed-body', { filter: { site: 'a\u0000b' } }],
    ['request.malformed-body', { filter: { site: 'a\ud800b' } }],
    ['request.malformed-body', { filter: { 'a\u0000b': 'x' } }],
    ['request.malformed-body', { url: 'https://127.0.0.1/\ud800' }],
    ['request.invalid', { url: null }],
    ['request.invalid', { filter: null }],
    ['request.invalid', { filter: { status: [['Done']] } }],
    ['request.invalid', { description: 'x'.repeat(301) }],
  ])('breaks nothing with what no database takes: %s (%#)', async (code, json) => {
    const { id } = await bed.add(alice);
    const source = { url: bed.url(), source: 'jobs' };
    const answers = [
      await alice.post('/webhooks', { json: { ...source, ...json } }),
      await alice.patch(`/webhooks/${id}`, { json }),
    ];
    for (const { status, body } of answers) expect([status, body.code]).toEqual([400, code]);
  });

  it('gets two secrets that both sign when two are asked for at once', async () => {
    const { id } = await bed.add(alice);
    const other = new pg.Client({ connectionString: bed.grid.database.url });
    await other.connect();
    await other.query('begin');
    await other.query('select from webhook where id = $1 for update', [id]);
    const asked = [1, 2].map(() => alice.post<MadeWebhook>(`/webhooks/${id}/secret`));
    await eventually(async () => {
      const [row] = await bed.grid.sql(
        `select count(*)::int as n from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like 'UPDATE "webhook"%'`,
      );
      return row.n === 2;
    }, 'both to have read the webhook');
    await other.query('commit');
    await other.end();
    const rotated = await Promise.all(asked);
    await alice.post(`/webhooks/${id}/test`);
    const [message] = await bed.received(1);
    for (const { body } of rotated) verified(message!, body.secret);
  });
});
