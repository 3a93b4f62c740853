import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { createServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { issueCertificate } from '../../src/x509/issuing/certificate-issuer.js';
import { eventually, type GridClient } from '../support/testbed.js';
import { WebhookTestbed, type MadeWebhook } from '../support/webhook-testbed.js';

const TIMEOUT_SECONDS = 4;
const LATE = `no answer within ${TIMEOUT_SECONDS} s`;

let bed: WebhookTestbed;
let alice: GridClient;
let server: Server;
let plain: Server;
let behave: (socket: Socket) => void;
const open = new Set<Socket>();

function listening(one: Server): Promise<Server> {
  one.on('connection', (socket: Socket) => {
    open.add(socket.on('error', () => undefined).on('close', () => open.delete(socket)));
  });
  return new Promise((resolve) => one.listen(0, '127.0.0.1', () => resolve(one)));
}
const portOf = (one: Server): number => (one.address() as AddressInfo).port;

beforeAll(async () => {
  bed = await WebhookTestbed.start({ GRID_WEBHOOK_TIMEOUT: String(TIMEOUT_SECONDS) });
  alice = await bed.grid.as('alice');
  const { certificatePem: cert, keyPem: key } = await issueCertificate({
    ...{ subject: '/CN=receiver', purpose: 'server', issuer: bed.ca },
    subjectAltNames: ['127.0.0.1'],
  });
  const secure = createServer({ cert, key }, (socket) => {
    socket.on('error', () => undefined);
    behave(socket.resume());
  });
  server = await listening(secure.on('tlsClientError', () => undefined));
  plain = await listening(createTcpServer((socket) => behave(socket.resume())));
});
afterAll(async () => {
  await bed?.remove();
  for (const one of [server, plain]) {
    one?.close();
    for (const socket of open) socket.destroy();
  }
});
afterEach(() => bed.reset());

/** Says the first text when the request has come, and the second again and again for as long as somebody listens. */
function endless(first: string, again: string | Buffer): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(first);
      const more = (): void => {
        while (!socket.destroyed) if (!socket.write(again)) return void socket.once('drain', more);
      };
      more();
    });
  };
}

function once(text: string | Buffer): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => socket.end(text));
  };
}

function dripping(text: string): (socket: Socket) => void {
  return (socket) => {
    let at = 0;
    const timer = setInterval(() => socket.write(text[at++ % text.length]!), 20);
    socket.on('close', () => clearInterval(timer));
  };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const DELIVERED = { delivered: true, status: 200 };
const failed = (error: unknown) => ({ delivered: false, error });
const ANY = expect.any(String);
const HOSTILE: [string, (socket: Socket) => void, object][] = [
  [
    'early hints without an end',
    endless('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500)),
    failed(LATE),
  ],
  [
    'headers without an end',
    endless(OK, `x-more: ${'x'.repeat(1_000)}\r\n`),
    failed('the header of the answer is too large'),
  ],
  ['a status line without an end', endless('HTTP/1.1 200 ', 'O'.repeat(10_000)), failed(ANY)],
  ['header bytes one by one', dripping(`${OK}x: ${'y'.repeat(10_000)}`), failed(LATE)],
  ['chunk extensions without an end', endless(`${CHUNKED}1;`, 'x'.repeat(10_000)), DELIVERED],
  [
    'trailers without an end',
    endless(`${CHUNKED}0\r\n`, `x-more: ${'x'.repeat(1_000)}\r\n`),
    DELIVERED,
  ],
  ['chunks of one byte without an end', endless(CHUNKED, '1\r\nx\r\n'.repeat(5_000)), DELIVERED],
  ['a body without an end', endless(`${OK}\r\n`, Buffer.alloc(1_000_000)), DELIVERED],
  ['a length that no body has', once(`${OK}content-length: 9007199254740991\r\n\r\nx`), DELIVERED],
  ['two lengths', once(`${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nx`), failed(ANY)],
  [
    'zeros, compressed a thousandfold',
    once(
      Buffer.concat([
        Buffer.from(`${OK}content-encoding: gzip\r\n\r\n`),
        gzipSync(Buffer.alloc(50_000_000)),
      ]),
    ),
    DELIVERED,
  ],
  [
    'another protocol',
    once('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    failed(ANY),
  ],
  ['no HTTP', once('SSH-2.0-OpenSSH_9.7\r\n'), failed(ANY)],
  [
    'an answer and a second one',
    once(`${OK}content-length: 0\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n`),
    DELIVERED,
  ],
  [
    'an answer before the question',
    (socket) => void socket.end(`${OK}content-length: 0\r\n\r\n`),
    { delivered: expect.any(Boolean) },
  ],
  ['its end at once', (socket) => void socket.destroy(), failed('the connection was cut')],
];

async function test(port: number): Promise<object> {
  const json = { url: `https://127.0.0.1:${port}/`, source: 'jobs' };
  const made = await alice.post<MadeWebhook>('/webhooks', { json });
  return (await alice.post<object>(`/webhooks/${made.body.id}/test`)).body;
}

describe('a receiver that answers with', () => {
  it.each(HOSTILE)('%s does no harm', async (_what, how, expected) => {
    behave = how;
    const answer = await test(portOf(server));
    expect(answer).toMatchObject(expected);
    await eventually(() => Promise.resolve(open.size === 0), 'the connection to be closed');
    const { status } = await alice.get('/webhooks');
    expect(status).toBe(200);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['nothing, without TLS', () => undefined],
    ['plain HTTP', once(`${OK}content-length: 0\r\n\r\n`)],
    ['bytes without an end', endless('', Buffer.alloc(100_000, 22))],
    ['a handshake that comes byte by byte', dripping('\u0016\u0003\u0003\u0040\u0000')],
  ])('%s does no harm', async (_what, how) => {
    behave = how;
    const answer = await test(portOf(plain));
    expect(answer).toMatchObject({ delivered: false });
    await eventually(() => Promise.resolve(open.size === 0), 'the connection to be closed');
  });
});
