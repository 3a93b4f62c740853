import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sender, type SendResult } from '#src/webhooks/target/sender.js';
import { HostsFile } from '#src/webhooks/target/hosts-file.js';
import { TargetResolver } from '#src/webhooks/target/target-resolver.js';
import type { IssuedCertificate } from '../../src/x509/issuing/certificate-issuer.js';
import { startNameServer, type NameServer } from '../support/name-server.js';
import {
  issueReceiverCa,
  startReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.js';

const NOT_ALLOWED = {
  isDelivered: false,
  error:
    'it leads to an address that webhooks may not reach: only what an administrator has listed in GRID_WEBHOOK_ALLOW may be no public address',
};
const NOT_FOUND = {
  isDelivered: false,
  error: 'its name has no address, neither in /etc/hosts of the service nor at its name servers',
};
const HOSTS = `127.0.0.1 good.hosts
127.0.0.2 inside.hosts half.hosts
127.0.0.1 half.hosts
169.254.169.254 metadata.hosts
`;
const NAMES = ['127.0.0.1', 'good.test', 'good.hosts', 'turning.test', 'both.test', 'six.test'];
const ZONE: Record<string, string[]> = {
  'good.test': ['127.0.0.1'],
  'other.test': ['127.0.0.1'],
  'both.test': ['127.0.0.1', '127.0.0.2'],
  'six.test': ['127.0.0.1', '::1'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mapped.test': ['::ffff:127.0.0.2'],
  'nat64.test': ['64:ff9b::7f00:2'],
};

let directory: string;
let ca: IssuedCertificate;
let names: NameServer;
let receiver: WebhookReceiver;
let forbidden: WebhookReceiver;
let usual: Sender;

function sender(change: { webhookTimeout?: number; webhookCa?: string } = {}): Sender {
  const settings = { webhookAllow: ['127.0.0.1'], webhookResolvers: [names.address] };
  const trust = { webhookCa: join(directory, 'ca.pem'), webhookTimeout: 3_600, ...change };
  const hosts = new HostsFile(join(directory, 'hosts'));
  return new Sender(new TargetResolver(settings, hosts), trust);
}

function send(
  host: string,
  { path = '/', by = usual, signal = new AbortController().signal } = {},
): Promise<SendResult> {
  const url = `https://${host}:${receiver.port}${path}`;
  const headers = { 'content-type': 'application/json' };
  return by.send({ url, headers, body: '{"type":"x"}' }, signal);
}

describe('a message', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-webhooks-'));
    ca = await issueReceiverCa();
    await writeFile(join(directory, 'ca.pem'), ca.certificatePem);
    await writeFile(join(directory, 'hosts'), HOSTS);
    names = await startNameServer((name, turn) => {
      if (name === 'turning.test') return turn === 0 ? ['127.0.0.1'] : ['127.0.0.2'];
      return ZONE[name] ?? [];
    });
    usual = sender();
    receiver = await startReceiver(ca, { names: NAMES });
    // the same port at an address that is not allowed: whoever gets there has been led astray
    forbidden = await startReceiver(ca, { names: NAMES, host: '127.0.0.2', port: receiver.port });
  });
  afterAll(async () => {
    await Promise.all([receiver?.close(), forbidden?.close(), names?.close()]);
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    receiver.messages.length = 0;
    names.asked.length = 0;
    receiver.answer((_message, response) => void response.writeHead(204).end());
  });
  afterEach(() => expect(forbidden.connections()).toBe(0));

  it('reaches an allowed address, by number and by name', async () => {
    expect(await send('127.0.0.1', { path: '/in?a=b' })).toEqual({
      isDelivered: true,
      status: 204,
    });
    expect(await send('good.test')).toEqual({ isDelivered: true, status: 204 });
    const seen = receiver.messages.map(({ path, headers, text }) => [path, headers.host, text]);
    expect(seen).toEqual([
      ['/in?a=b', `127.0.0.1:${receiver.port}`, '{"type":"x"}'],
      ['/', `good.test:${receiver.port}`, '{"type":"x"}'],
    ]);
  });

  it('reaches the address that was checked, whatever the name leads to a moment later', async () => {
    expect(await send('turning.test')).toEqual({ isDelivered: true, status: 204 });
    expect(names.asked).toEqual(['turning.test']);
    expect(await send('turning.test')).toEqual(NOT_ALLOWED);
    expect(receiver.messages).toHaveLength(1);
  });

  it.each([
    'private.test',
    'metadata.test',
    'mapped.test',
    'nat64.test',
    'both.test',
    'six.test',
    'inside.hosts',
    'half.hosts',
    'metadata.hosts',
    '127.0.0.2',
    '2130706434',
    '0x7f000002',
    '0177.0.0.2',
    '127.2',
    '[::1]',
    '[::ffff:127.0.0.2]',
    '[64:ff9b::127.0.0.2]',
    '169.254.169.254',
    '[fd00:ec2::254]',
  ])('does not go to %s', async (host) => {
    expect(await send(host)).toEqual(NOT_ALLOWED);
    expect(receiver.messages).toEqual([]);
  });

  it('goes where the hosts file says, without asking a name server', async () => {
    expect(await send('good.hosts')).toEqual({ isDelivered: true, status: 204 });
    expect(await send('GOOD.hosts')).toEqual({ isDelivered: true, status: 204 });
    await send('inside.hosts');
    expect(names.asked).toEqual([]);
    expect(receiver.messages).toHaveLength(2);
  });

  it('says when nobody knows the name, and when no name server answers', async () => {
    expect(await send('nowhere.test')).toEqual(NOT_FOUND);
    const settings = { webhookAllow: [], webhookResolvers: ['127.0.0.1:1'] };
    const resolver = new TargetResolver(settings, new HostsFile(join(directory, 'hosts')));
    const by = new Sender(resolver, { webhookCa: undefined, webhookTimeout: 3_600 });
    expect(await send('good.test', { by })).toEqual({
      isDelivered: false,
      error: 'its name is not in /etc/hosts of the service, and its name servers have not answered',
    });
  });

  it('follows no redirect', async () => {
    receiver.answer((_message, response) => {
      response.writeHead(307, { location: `https://127.0.0.2:${receiver.port}/` }).end();
    });
    const error = 'answered 307; redirects are not followed';
    expect(await send('127.0.0.1')).toEqual({ isDelivered: false, status: 307, error });
    expect(receiver.messages).toHaveLength(1);
  });

  it.each<[number, Record<string, string>, object]>([
    [200, {}, { isDelivered: true, status: 200 }],
    [299, {}, { isDelivered: true, status: 299 }],
    [400, {}, { isDelivered: false, status: 400, error: 'answered 400' }],
    [
      503,
      { 'retry-after': '120' },
      { isDelivered: false, status: 503, error: 'answered 503', retryAfterSeconds: 120 },
    ],
    [
      503,
      { 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' },
      {
        ...{ isDelivered: false, status: 503, error: 'answered 503' },
        retryAfterSeconds: expect.closeTo((Date.UTC(2099, 0, 1) - Date.now()) / 1_000, -3),
      },
    ],
    [
      503,
      { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' },
      { isDelivered: false, status: 503, error: 'answered 503', retryAfterSeconds: 0 },
    ],
    ...['Thu, 41 Jan 2099 00:00:00 GMT', '-5', 'tomorrow', '2099-01-01'].map(
      (wish): [number, Record<string, string>, object] => [
        503,
        { 'retry-after': wish },
        { isDelivered: false, status: 503, error: 'answered 503' },
      ],
    ),
  ])('that is answered %s %j counts as it should', async (status, headers, result) => {
    receiver.answer((_message, response) => void response.writeHead(status, headers).end());
    expect(await send('127.0.0.1')).toEqual(result);
  });

  it('waits for an answer no longer than it may', async () => {
    receiver.answer(() => undefined);
    const by = sender({ webhookTimeout: 1 });
    const error = 'no answer within 1 s';
    const silence = { isDelivered: false, error, isSilent: true };
    expect(await send('127.0.0.1', { by })).toEqual(silence);
  });

  it('is delivered with the status; what comes slowly or without an end behind it is cut', async () => {
    let sent = 0;
    const closed = new Promise<void>((resolve) => {
      receiver.answer((_message, response) => {
        response.on('close', resolve).writeHead(200);
        pour(response, (bytes) => (sent += bytes));
      });
    });
    expect(await send('127.0.0.1')).toEqual({ isDelivered: true, status: 200 });
    await closed;
    expect(sent).toBeLessThan(64 * 1024 * 1024); // what the kernels hold, not what was offered
    receiver.answer((_message, response) => void response.writeHead(200).write('.'));
    expect(await send('127.0.0.1')).toEqual({ isDelivered: true, status: 200 });
  });

  it('is not delivered when the header of the answer is huge', async () => {
    receiver.answer((_message, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end();
    });
    const error = 'the header of the answer is too large';
    expect(await send('127.0.0.1')).toEqual({ isDelivered: false, error });
  });

  it('is not delivered to somebody for whom nobody vouches, or who is another one', async () => {
    const config = { webhookAllow: ['127.0.0.1'], webhookResolvers: [names.address] };
    const by = new Sender(new TargetResolver(config, new HostsFile(join(directory, 'hosts'))), {
      webhookTimeout: 3_600,
      webhookCa: undefined,
    });
    const untrusted = { isDelivered: false, error: 'its certificate is not trusted' };
    expect(await send('127.0.0.1', { by })).toEqual(untrusted);
    const another = { isDelivered: false, error: 'its certificate is for another name' };
    expect(await send('other.test')).toEqual(another);
    const late = await startReceiver(ca, { notAfter: new Date(Date.now() - 1_000) });
    const url = `https://127.0.0.1:${late.port}/`;
    const { signal } = new AbortController();
    const expired = { isDelivered: false, error: 'its certificate has expired' };
    expect(await usual.send({ url, headers: {}, body: '{}' }, signal)).toEqual(expired);
    await late.close();
    const refused = { isDelivered: false, error: 'the connection was refused' };
    expect(await usual.send({ url, headers: {}, body: '{}' }, signal)).toEqual(refused);
    expect(receiver.messages).toEqual([]);
  });

  it('is interrupted with the reason of its signal', async () => {
    const controller = new AbortController();
    receiver.answer(() => controller.abort(new Error('stopped')));
    await expect(send('127.0.0.1', { signal: controller.signal })).rejects.toThrow('stopped');
  });
});

/** Writes for as long as somebody reads. */
function pour(response: ServerResponse, count: (bytes: number) => void): void {
  const chunk = Buffer.alloc(65_536);
  const more = (): void => {
    while (!response.destroyed) {
      count(chunk.length);
      if (!response.write(chunk)) return void response.once('drain', more);
    }
  };
  more();
}
