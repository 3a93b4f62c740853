import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { signatureHeaders } from '../../src/webhooks/signature/signature.js';
import { AuditTrail } from '../support/audit-trail.js';
import { blocksOf } from '../support/documentation.js';
import { submit } from '../support/jobs.js';
import { describeWith, has } from '../support/missing.js';
import { eventually, type Answer, type GridClient } from '../support/testbed.js';
import { verified, type ReceivedMessage } from '../support/webhook-receiver.js';
import { WebhookTestbed } from '../support/webhook-testbed.js';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);

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
const forJob = (jid: number) => (message: ReceivedMessage) => message.body.data['jid'] === jid;
const stateOf = ({ body }: ReceivedMessage): unknown => body.data['status'];

async function manifest(client: GridClient): Promise<number> {
  const [jid = 0] = await submit(client, [{ Executable: '/bin/true' }]);
  return jid;
}

describe('deliveries', () => {
  it('tell of every move of own jobs in order, signed as the standard wants it', async () => {
    const { id, secret } = await bed.add(alice);
    await manifest(bob);
    const jid = await manifest(alice);
    await alice.delete(`/jobs/${jid}`);
    const messages = await bed.received(4, forJob(jid));
    expect(messages.map(stateOf)).toEqual(['Received', 'Checking', 'Waiting', 'Killed']);
    for (const message of messages) {
      expect(verified(message, secret)).toEqual({
        type: 'job.changed',
        timestamp: TIME,
        data: {
          ...{ jid, status: expect.any(String), minorStatus: expect.any(String) },
          ...{ appStatus: 'Unknown', site: 'ANY', lastUpdate: TIME },
        },
      });
      expect(() => verified(message, `whsec_${randomBytes(32).toString('base64')}`)).toThrow();
      expect(() => verified({ ...message, text: `${message.text} ` }, secret)).toThrow();
    }
    expect(bed.receiver.messages.every((message) => forJob(jid)(message))).toBe(true);
    const shown = await eventually(async () => {
      const all = await bed.deliveries(alice, id);
      return all.every(({ state }) => state === 'delivered') && all;
    }, 'deliveries');
    expect(shown[0]).toEqual({
      id: messages[3]!.headers['webhook-id'],
      ...{ type: 'job.changed', subject: `job ${jid}`, state: 'delivered', attempts: 1 },
      ...{ createdAt: TIME, finishedAt: TIME, status: 204, payload: messages[3]!.body },
    });
    expect(shown.map((one) => one.payload.data['status'])).toEqual([
      'Killed',
      'Waiting',
      'Checking',
      'Received',
    ]);
  });

  it('are for what the filter lets through', async () => {
    await bed.add(alice, { filter: { status: 'Killed', allOwners: true } });
    const [hers, his] = [await manifest(alice), await manifest(bob)];
    await bob.delete(`/jobs/${his}`);
    await alice.delete(`/jobs/${hers}`);
    await bed.received(2);
    const seen = bed.receiver.messages.map((message) => [
      message.body.data['jid'],
      stateOf(message),
    ]);
    expect(seen.sort()).toEqual([
      [hers, 'Killed'],
      [his, 'Killed'],
    ]);
  });

  it('are tried again, the same message each time, and later ones of the job wait for them', async () => {
    const { id, secret } = await bed.add(alice, { filter: { status: ['Waiting', 'Killed'] } });
    const [bad, good] = [await manifest(alice), await manifest(alice)];
    let failures = 2;
    bed.receiver.answer((message, response) => {
      const fails = forJob(bad)(message) && failures > 0;
      if (fails) failures -= 1;
      response.writeHead(fails ? 503 : 200).end();
    });
    await alice.delete(`/jobs/${bad}`);
    await alice.delete(`/jobs/${good}`);
    await bed.received(2, forJob(good));
    await eventually(async () => {
      await bed.due(id);
      return bed.receiver.messages.filter(forJob(bad)).length >= 4;
    }, 'the fourth attempt');
    const messages = bed.receiver.messages.filter(forJob(bad));
    expect(messages.map(stateOf)).toEqual(['Waiting', 'Waiting', 'Waiting', 'Killed']);
    expect(new Set(messages.slice(0, 3).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(messages.slice(0, 3).map(({ text }) => text)).size).toBe(1);
    for (const message of messages) verified(message, secret);
    const [first] = (await bed.deliveries(alice, id)).filter(({ attempts }) => attempts === 3);
    expect(first).toMatchObject({ state: 'delivered', status: 200, subject: `job ${bad}` });
  });

  it('wait no longer than the one of their job before them, and are said to', async () => {
    const { id } = await bed.add(alice, { filter: { status: ['Waiting', 'Killed'] } });
    bed.receiver.answer((_message, response) => void response.writeHead(503).end());
    const jid = await manifest(alice);
    await alice.delete(`/jobs/${jid}`);
    const first = await eventually(async () => {
      const [after, before] = await bed.deliveries(alice, id, { state: 'waiting' });
      return before?.attempts !== 0 && after?.nextAttempt === before?.nextAttempt && before;
    }, 'both to wait equally long');
    bed.receiver.answer((_message, response) => void response.writeHead(204).end());
    bed.receiver.messages.length = 0;
    await bed.grid.sql(`update webhook_delivery set next_attempt = now() + interval '1 hour'`);
    await alice.post(`/webhooks/${id}/deliveries/${first.id}/replay`);
    expect((await bed.received(2)).map(stateOf)).toEqual(['Waiting', 'Killed']);
  });

  it('are noted again when the database undoes that for somebody who holds what it needs', async () => {
    const { id } = await bed.add(alice, { filter: { status: ['Waiting', 'Killed'] } });
    const answers: (() => void)[] = [];
    bed.receiver.answer((_message, response) => {
      answers.push(() => void response.writeHead(503).end());
    });
    await alice.delete(`/jobs/${await manifest(alice)}`);
    const [later, first] = await eventually(async () => {
      const all = await bed.deliveries(alice, id);
      return answers.length === 1 && all.length === 2 && all.map((one) => one.id);
    }, 'the first attempt');
    const lock = 'select from webhook_delivery where id = $1 for update';
    const waiting = `select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock'`;
    const waitingAre = (count: number) =>
      eventually(async () => (await bed.grid.sql(waiting)).length === count, `${count} to wait`);
    const [one, other] = [await bed.grid.connection(), await bed.grid.connection()];
    await one.query('begin');
    await one.query(lock, [first]);
    answers[0]!();
    await waitingAre(1);
    await other.query(`begin; set local deadlock_timeout = '1h'`); // so that it is the other that is undone
    await other.query(lock, [later]);
    const held = other.query(lock, [first]);
    await waitingAre(2);
    await one.end();
    await held;
    await other.end();
    const [, noted] = await eventually(async () => {
      const all = await bed.deliveries(alice, id);
      return all[1]?.attempts === 1 && all;
    }, 'the attempt to be noted');
    expect(noted).toMatchObject({ id: first, state: 'waiting', status: 503 });
  });

  it('that fail for three days disable the webhook; enabled again it loses nothing', async () => {
    const { id } = await bed.add(alice, { filter: { status: ['Waiting', 'Killed'] } });
    bed.receiver.answer((_message, response) => void response.writeHead(500).end());
    const jid = await manifest(alice);
    await eventually(
      async () => (await bed.deliveries(alice, id))[0]?.attempts === 1,
      'an attempt',
    );
    await bed.due(id, '3 days');
    const disabled = await eventually(async () => {
      const { body } = await alice.get(`/webhooks/${id}`);
      return body.enabled === false && body;
    }, 'the end of patience');
    expect(disabled).toMatchObject({
      disabledReason: 'deliveries have failed for three days: answered 500',
      disabledAt: TIME,
    });
    const line = await trail.log.line((one) => one['event'] === 'webhook.disabled');
    expect(line).toMatchObject({ webhook: id, user: 'alice', reason: disabled.disabledReason });
    await alice.delete(`/jobs/${jid}`);
    bed.receiver.messages.length = 0;
    bed.receiver.answer((_message, response) => void response.writeHead(204).end());
    const [waiting] = await bed.deliveries(alice, id);
    expect(brief(await alice.post(`/webhooks/${id}/deliveries/${waiting!.id}/replay`))).toBe(
      '409 The webhook is disabled; enable it first',
    );
    const enabled = await alice.patch(`/webhooks/${id}`, { json: { enabled: true } });
    expect(enabled.body.enabled).toBe(true);
    expect((await bed.received(2)).map(stateOf)).toEqual(['Waiting', 'Killed']);
  });

  it('that are answered 410 disable the webhook at once', async () => {
    const { id } = await bed.add(alice);
    bed.receiver.answer((_message, response) => void response.writeHead(410).end());
    await manifest(alice);
    await eventually(async () => {
      const { body } = await alice.get(`/webhooks/${id}`);
      return body.disabledReason === 'the receiver answered 410: it is gone for good';
    }, 'the webhook to be disabled');
  });

  it('go where the name leads at that moment, or nowhere', async () => {
    bed.zone['hooks.test'] = ['127.0.0.1'];
    const { id } = await bed.add(alice, { url: `https://hooks.test:${bed.receiver.port}/` });
    bed.zone['hooks.test'] = ['127.0.0.2'];
    const before = bed.receiver.connections();
    await manifest(alice);
    const [first] = await eventually(async () => {
      const all = await bed.deliveries(alice, id);
      return all.some(({ attempts }) => attempts === 1) && all.reverse();
    }, 'an attempt');
    expect(first).toMatchObject({
      state: 'waiting',
      error:
        'it leads to an address that webhooks may not reach: only what an administrator has listed in GRID_WEBHOOK_ALLOW may be no public address',
    });
    expect(bed.receiver.connections()).toBe(before);
    expect(bed.receiver.messages).toEqual([]);
    bed.zone['hooks.test'] = ['127.0.0.1'];
    await bed.due(id);
    await bed.received(3);
  });

  it('are signed by both secrets for a day after a change', async () => {
    const { id, secret } = await bed.add(alice);
    const rotated = await alice.post(`/webhooks/${id}/secret`);
    expect([rotated.status, rotated.body]).toEqual([
      200,
      { id, secret: expect.stringMatching(/^whsec_/), previousUntil: TIME },
    ]);
    const { secret: fresh, previousUntil } = rotated.body;
    expect(Date.parse(previousUntil) - Date.now()).toBeGreaterThan(86_000_000);
    expect((await alice.get(`/webhooks/${id}`)).body.previousSecretUntil).toBe(previousUntil);
    await alice.post(`/webhooks/${id}/test`);
    const [both] = await bed.received(1);
    expect([verified(both!, secret), verified(both!, fresh)]).toHaveLength(2);
    await bed.grid.sql('update webhook set previous_until = now()');
    await alice.post(`/webhooks/${id}/test`);
    const [, one] = await bed.received(2);
    expect(verified(one!, fresh).type).toBe('webhook.test');
    expect(() => verified(one!, secret)).toThrow('No matching signature found');
    expect((await alice.get(`/webhooks/${id}`)).body.previousSecretUntil).toBeUndefined();
  });

  it('of tests say at once what came of them, also while the webhook is disabled', async () => {
    const { id, secret } = await bed.add(alice);
    const good = await alice.post(`/webhooks/${id}/test`);
    expect([good.status, good.body]).toEqual([200, { id: UUID, delivered: true, status: 204 }]);
    const [message] = await bed.received(1);
    expect(verified(message!, secret)).toEqual({
      type: 'webhook.test',
      timestamp: TIME,
      data: { webhook: id, text: 'This is a test of the webhook.' },
    });
    await alice.patch(`/webhooks/${id}`, { json: { enabled: false } });
    bed.receiver.answer(() => undefined);
    const slow = await alice.post(`/webhooks/${id}/test`);
    const error = 'no answer within 2 s';
    expect(slow.body).toEqual({ id: UUID, delivered: false, error });
    const [latest] = await bed.deliveries(alice, id);
    expect(latest).toMatchObject({ id: slow.body.id, state: 'failed', error, attempts: 1 });
  });

  it('are listed page by page, and sent again on demand', async () => {
    const { id } = await bed.add(alice, { filter: { status: 'Waiting' } });
    const jids = await submit(
      alice,
      Array.from({ length: 5 }, () => ({ Executable: '/bin/true' })),
    );
    await bed.received(5);
    await eventually(
      async () => (await bed.deliveries(alice, id, { state: 'delivered' })).length === 5,
      '5',
    );
    const seen: unknown[] = [];
    let path: string | undefined = `/webhooks/${id}/deliveries?limit=2&state=delivered`;
    const sizes: number[] = [];
    while (path !== undefined) {
      const answer: Answer = await alice.get(path);
      sizes.push(answer.body.deliveries.length);
      for (const one of answer.body.deliveries) seen.push(one.payload.data.jid);
      const link = /^<(.*)>; rel="next"$/.exec(String(answer.headers['link'] ?? ''))?.[1];
      path = link?.slice(link.indexOf('/webhooks/'));
    }
    expect([sizes, seen]).toEqual([[2, 2, 1], [...jids].reverse()]);
    expect(brief(await alice.get(`/webhooks/${id}/deliveries`, { query: { after: 'x' } }))).toBe(
      '400 after: is not a cursor of this list',
    );
    const [newest] = await bed.deliveries(alice, id);
    const replayed = await alice.post(`/webhooks/${id}/deliveries/${newest!.id}/replay`);
    expect([replayed.status, replayed.body]).toMatchObject([200, { id: newest!.id }]);
    const again = await bed.received(6);
    expect(again[5]!.headers['webhook-id']).toBe(newest!.id);
    expect(again[5]!.text).toBe(again.find(forJob(jids[4]!))!.text);
    expect(brief(await alice.post(`/webhooks/${id}/deliveries/${id}/replay`))).toBe(
      '404 There is no such delivery of this webhook',
    );
  });

  it.each<[string, string[]]>([
    ['the rights of the owner', [`update webhook set client_id = 'app-that-was-removed'`]],
    [
      'their application, whoever has its client_id now',
      [
        `insert into registry_application (id, position, name, redirect_uris, confidential, origin)
           values ('second', 60, 'Second', '{}', false, 'command')`,
        `update webhook set client_id = 'second', updated_at = now() - interval '1 day'`,
      ],
    ],
  ])('end with %s', async (_what, statements) => {
    const { id } = await bed.add(alice, { filter: { allOwners: true } });
    for (const statement of statements) await bed.grid.sql(statement);
    await manifest(alice);
    const { body } = await eventually(async () => {
      const answer = await alice.get(`/webhooks/${id}`);
      return answer.body.enabled === false && answer;
    }, 'the webhook to be disabled');
    expect(body.disabledReason).toMatch(/^alice is not in the registry any more, or not in /);
    expect(bed.receiver.messages).toEqual([]);
    const enabled = await alice.patch(`/webhooks/${id}`, { json: { enabled: true } });
    expect(enabled.body).toMatchObject({ enabled: true, application: 'certificate' });
    await bed.received(3);
  });
});

describe('receivers as docs/how-to/webhooks.md has them', () => {
  const blocks = blocksOf('docs/how-to/webhooks.md');
  const textOf = (wanted: string): string =>
    blocks.find(({ language }) => language === wanted)?.text ?? '';

  /** Programs that run the page's function on the messages of CALLS and print what it says of each. */
  function inNode(): [string, string[]] {
    const main = `const out = JSON.parse(process.env.CALLS).map(({ secret, headers, text }) => {
      try { return verify(secret, headers, text)?.type ?? null; } catch { return 'refused'; } });
      console.log(JSON.stringify(out));`;
    const text = textOf('js').replace('export function', 'function');
    return [process.execPath, ['--input-type=module', '-e', `${text}\n${main}`]];
  }

  function inPython(): [string, string[]] {
    const main = [
      'import os',
      'def judge(call):',
      '    try: message = verify(call["secret"], call["headers"], call["text"])',
      '    except ValueError: return "refused"',
      '    return message and message["type"]',
      'print(json.dumps([judge(call) for call in json.loads(os.environ["CALLS"])]))',
    ].join('\n');
    return ['python3', ['-c', `${textOf('python')}\n${main}`]];
  }

  async function expectExact([program, words]: [string, string[]]): Promise<void> {
    const { id, secret } = await bed.add(alice);
    const { secret: fresh } = (await alice.post(`/webhooks/${id}/secret`)).body;
    await alice.post(`/webhooks/${id}/test`);
    await alice.post(`/webhooks/${id}/test`);
    const [first, second] = await bed.received(2);
    const late = signatureHeaders(
      { id: 'm', timestamp: new Date(Date.now() - 600_000), body: '{"type":"x"}' },
      [Buffer.from(secret.slice(6), 'base64')],
    );
    const calls = [
      { ...first, secret },
      { ...first, secret }, // a replay
      { ...second, secret: fresh },
      { ...second, secret: `whsec_${randomBytes(32).toString('base64')}` },
      { ...second, secret, text: second!.text.replace('test', 'text') },
      { ...second, secret, headers: { ...second!.headers, 'webhook-id': 'other' } },
      { ...second, secret, headers: { ...second!.headers, 'webhook-signature': 'v1,AAAA v2,x' } },
      { secret, headers: late, text: '{"type":"x"}' },
    ];
    const refused = Array.from({ length: 5 }, () => 'refused');
    const env = { ...process.env, CALLS: JSON.stringify(calls) };
    const printed = execFileSync(program, words, { encoding: 'utf8', env });
    expect(JSON.parse(printed)).toEqual(['webhook.test', null, 'webhook.test', ...refused]);
  }

  it('take what is good once, and nothing else (js)', () => expectExact(inNode()));

  describeWith({ met: has('python3'), name: 'python3' })('in another language', () => {
    it('take what is good once, and nothing else (python)', () => expectExact(inPython()));
  });
});
