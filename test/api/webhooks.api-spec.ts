import pg from 'pg';
import { AuditTrail } from '../support/audit-trail.js';
import { eventually, type Answer, type GridClient } from '../support/testbed.js';
import { WebhookTestbed, type MadeWebhook } from '../support/webhook-testbed.js';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
const UNKNOWN = '404 There is no such webhook of yours in this group and setup';

let bed: WebhookTestbed;
let trail: AuditTrail;
let alice: GridClient;
let bob: GridClient;

beforeAll(async () => {
  bed = await WebhookTestbed.start();
  trail = new AuditTrail(bed.grid);
  [alice, bob] = [await bed.grid.as('alice'), await bed.grid.as('bob')];
});
afterAll(() => bed?.remove());
afterEach(() => bed.reset());

const brief = ({ status, body }: Answer): string => `${status} ${body.detail ?? ''}`;

describe('a webhook', () => {
  it('is made, shown, changed and removed by its owner, and is nothing to anybody else', async () => {
    const filter = { status: ['Done', 'Killed'], allOwners: true };
    const { id, secret } = await bed.add(alice, { filter, description: 'for the wiki' });
    const shown = {
      id,
      ...{ url: bed.url(), source: 'jobs', filter, description: 'for the wiki', enabled: true },
      ...{ user: 'alice', group: 'grid_user', setup: 'Prod', application: 'certificate' },
      ...{ createdAt: TIME, updatedAt: TIME },
    };
    const got = await alice.get(`/webhooks/${id}`);
    expect([got.status, got.body]).toEqual([200, shown]);
    expect((await alice.get('/webhooks')).body).toEqual({ webhooks: [shown] });
    expect(got.bytes.toString()).not.toContain(secret.slice(6));

    const strangers = [
      bob,
      await bed.grid.as('alice', 'grid_share'),
      await bed.grid.as('alice', 'grid_user', 'Test'),
      bed.grid.bearer(
        await bed.grid.token('alice', 'grid_user', 'Prod', 'webhooks catalogue:read'),
      ),
    ];
    for (const client of strangers) {
      expect((await client.get('/webhooks')).body).toEqual({ webhooks: [] });
      const tried = [
        await client.get(`/webhooks/${id}`),
        await client.patch(`/webhooks/${id}`, { json: { description: 'mine' } }),
        await client.delete(`/webhooks/${id}`),
        await client.post(`/webhooks/${id}/secret`),
        await client.post(`/webhooks/${id}/test`),
        await client.get(`/webhooks/${id}/deliveries`),
        await client.post(`/webhooks/${id}/deliveries/${id}/replay`),
      ];
      expect(tried.map(brief)).toEqual(tried.map(() => UNKNOWN));
    }
    const change = { url: bed.url('/new'), filter: {}, description: '', enabled: false };
    const changed = await alice.patch(`/webhooks/${id}`, { json: change });
    const stopped = { ...change, disabledReason: 'by its owner', disabledAt: TIME };
    expect([changed.status, changed.body]).toEqual([200, { ...shown, ...stopped }]);
    expect((await alice.get(`/webhooks/${id}`)).body).toEqual(changed.body);
    const removed = await alice.delete(`/webhooks/${id}`);
    expect([removed.status, removed.body]).toEqual([200, { id, deleted: true }]);
    expect(brief(await alice.get(`/webhooks/${id}`))).toBe(UNKNOWN);
    expect(brief(await alice.get('/webhooks/x'))).toBe(UNKNOWN);
  });

  it('leaves its management in the audit trail, and no secret there or in the database', async () => {
    const made = await alice.post<MadeWebhook>('/webhooks', {
      json: { url: bed.url(), source: 'jobs' },
    });
    const { id, secret } = made.body;
    const rotated = await alice.post(`/webhooks/${id}/secret`);
    const changed = await alice.patch(`/webhooks/${id}`, { json: { description: 'x' } });
    const tested = await alice.post(`/webhooks/${id}/test`);
    const refused = await bob.delete(`/webhooks/${id}`);
    const removed = await alice.delete(`/webhooks/${id}`);
    const actor = { user: 'alice', group: 'grid_user', setup: 'Prod', client: 'certificate' };
    const done = { outcome: 'done', ...actor, webhook: id };
    expect(await trail.lineOf(made, 'webhook.added')).toEqual(done);
    expect(await trail.lineOf(rotated, 'webhook.secret-changed')).toEqual(done);
    expect(await trail.lineOf(changed, 'webhook.changed')).toEqual(done);
    expect(await trail.lineOf(tested, 'webhook.tested')).toEqual(done);
    expect(await trail.lineOf(removed, 'webhook.removed')).toEqual(done);
    expect(await trail.lineOf(refused, 'webhook.removed')).toEqual({
      ...{ ...done, outcome: 'refused', code: 'webhook.not-found', user: 'bob' },
    });
    expect(JSON.stringify(trail.log.lines())).not.toContain(secret.slice(6));
    const kept = await bed.add(alice);
    const [row] = await bed.grid.sql('select secret from webhook');
    expect(row.secret).toMatch(/^v1\./);
    const bytes = Buffer.from(kept.secret.slice(6), 'base64');
    expect(Buffer.from(row.secret.slice(3), 'base64').includes(bytes)).toBe(false);
  });

  it.each<[object, string]>([
    [{}, 'url: is missing; source: is missing'],
    [{ url: 7, source: 'jobs' }, 'url: is not a text'],
    [
      { url: 'http://hooks.test/', source: 'jobs' },
      'url: is not an https URL of at most 2048 characters, without user, fragment, white space and with a port up to 65535',
    ],
    [
      { url: 'https://hooks.test/', source: 'weather' },
      'source: is not one of jobs, filecatalogue',
    ],
    [{ url: 'https://hooks.test/', source: 'jobs', secret: 'x' }, 'secret: is not known here'],
    [{ url: 'https://127.0.0.1/', source: 'jobs', filter: [] }, 'filter: is not a JSON object'],
    ...['__proto__', 'constructor'].map((key): [object, string] => [
      {
        ...{ url: 'https://127.0.0.1/', source: 'jobs' },
        filter: JSON.parse(`{"${key}": "x"}`) as unknown,
      },
      `filter.${key}: is not known here`,
    ]),
    [
      { url: 'https://127.0.0.1/', source: 'jobs', filter: { colour: 'red' } },
      'filter.colour: is not known here',
    ],
    [
      { url: 'https://127.0.0.1/', source: 'jobs', filter: { owner: 'x'.repeat(9_000) } },
      'filter: has more than 8192 characters',
    ],
  ])('is not made of what is wrong (%#)', async (json, detail) => {
    expect(brief(await alice.post('/webhooks', { json }))).toContain(detail);
  });

  it('is not made for, nor moved to, an address that is not public, by number or by name', async () => {
    Object.assign(bed.zone, {
      'inside.test': ['10.1.2.3'],
      'metadata.test': ['169.254.169.254'],
      'half.test': ['127.0.0.1', '192.168.0.1'],
    });
    const { id } = await bed.add(alice);
    const hosts = ['inside.test', 'metadata.test', 'half.test'];
    const numbers = ['127.0.0.2', '2130706434', '[::1]', '[::ffff:10.0.0.1]', '[64:ff9b::a00:1]'];
    const notFound =
      'its name has no address, neither in /etc/hosts of the service nor at its name servers';
    const notAllowed =
      'it leads to an address that webhooks may not reach: only what an administrator has listed in GRID_WEBHOOK_ALLOW may be no public address';
    for (const host of [...hosts, ...numbers, 'nowhere.test']) {
      const problem = host === 'nowhere.test' ? notFound : notAllowed;
      const json = { url: `https://${host}/` };
      const answers = [
        await alice.post('/webhooks', { json: { ...json, source: 'jobs' } }),
        await alice.patch(`/webhooks/${id}`, { json }),
      ];
      for (const { status, body } of answers) {
        expect([status, body.code, body.violations]).toEqual([
          400,
          'request.invalid',
          [{ field: 'url', problem }],
        ]);
      }
    }
  });

  /** Does something to webhooks while a request waits for it; answers the answer. */
  async function meanwhile(statement: string, id: string, ask: () => Promise<Answer>) {
    const other = new pg.Client({ connectionString: bed.grid.database.url });
    await other.connect();
    await other.query('begin');
    await other.query(statement, [id]);
    const asked = ask();
    await eventually(async () => {
      const [row] = await bed.grid.sql(
        `select count(*)::int as n from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock'`,
      );
      return row.n > 0;
    }, 'the request to wait');
    await other.query('commit');
    await other.end();
    return asked;
  }

  it.each<[string, (id: string) => Promise<Answer>]>([
    ['a test of it begins', (id) => alice.post(`/webhooks/${id}/test`)],
    ['it is changed', (id) => alice.patch(`/webhooks/${id}`, { json: { description: 'x' } })],
    ['it gets a new secret', (id) => alice.post(`/webhooks/${id}/secret`)],
  ])('that is removed while %s is not there', async (_what, ask) => {
    const { id } = await bed.add(alice);
    const answer = await meanwhile('delete from webhook where id = $1', id, () => ask(id));
    expect(brief(answer)).toBe(UNKNOWN);
  });

  it('that is disabled while its owner changes it is enabled by him, or says that it is not', async () => {
    const { id } = await bed.add(alice);
    const disabling = `update webhook set enabled = false, disabled_reason = 'x', disabled_at = now() where id = $1`;
    for (const [json, enabled] of [
      [{ description: 'moved' }, false],
      [{ enabled: true }, true],
    ] as const) {
      await alice.patch(`/webhooks/${id}`, { json: { enabled: true } });
      const ask = (): Promise<Answer> => alice.patch(`/webhooks/${id}`, { json });
      const answer = await meanwhile(disabling, id, ask);
      const { body } = await alice.get(`/webhooks/${id}`);
      expect([answer.status, answer.body, body.enabled]).toEqual([200, body, enabled]);
    }
  });

  it('is one of few of a user, and takes the scope that reads what it tells', async () => {
    for (let count = 0; count < 5; count += 1) await bed.add(alice);
    const sixth = await alice.post('/webhooks', { json: { url: bed.url(), source: 'jobs' } });
    expect([brief(sixth), sixth.body.code]).toEqual([
      '409 You have 5 webhooks; remove one first',
      'webhook.limit',
    ]);
    await bed.add(bob);
    const narrow = bed.grid.bearer(await bed.grid.token('alice', 'grid_user', 'Prod', 'webhooks'));
    const refused = await narrow.post('/webhooks', { json: { url: bed.url(), source: 'jobs' } });
    expect(brief(refused)).toBe('403 To be told of jobs the token needs the scope jobs:read, too');
    const reader = bed.grid.bearer(await bed.grid.token('alice', 'grid_user', 'Prod', 'jobs:read'));
    expect((await reader.get('/webhooks')).body.code).toBe('auth.insufficient-scope');
  });
});
