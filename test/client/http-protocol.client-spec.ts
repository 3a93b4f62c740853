import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { ConnectionError, InvalidHeader, InvalidURL, Session } from '#src/http-client/index.js';
import { listen, startServer } from './support/local-server.js';

const turn = promisify(setImmediate);
const session = new Session({ trust_env: false });
afterAll(() => session.close());

/** Sends a request to a server that answers with exactly these bytes and hangs up. */
async function answered<T>(reply: string, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((socket) => void socket.once('data', () => socket.end(reply)));
  const { port, close } = await listen(server);
  try {
    return await use(`http://127.0.0.1:${port}/`);
  } finally {
    await close();
  }
}

describe('an answer', () => {
  it.each([
    ['that is no HTTP', 'nonsense\r\n\r\n'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc'],
    ['with too long headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(300_000)}\r\n\r\n`],
    ['that is empty', ''],
    ['that is cut', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'],
    ['that switches protocols', 'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
  ])('%s is a ConnectionError', async (_name, reply) => {
    await answered(reply, (url) => expect(session.get(url)).rejects.toThrow(ConnectionError));
  });

  it('keeps repeated headers and every cookie', async () => {
    const reply =
      'HTTP/1.1 200 Fine\r\nX-A: 1\r\nX-A: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n';
    const response = await answered(reply, (url) => session.get(url));
    expect([response.reason, response.headers.get('X-A'), [...response.cookies]]).toEqual([
      'Fine',
      '1, 2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ]);
  });

  it('may have hints before it, and end with the connection', async () => {
    const reply = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuntil the end';
    const response = await answered(reply, (url) => session.get(url));
    expect([response.status_code, response.text]).toEqual([200, 'until the end']);
  });

  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

  it.each([
    ['a 304 with the length of the page', 'HTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\n', 304, ''],
    [
      'a 304 with a length beyond the limit',
      'HTTP/1.1 304 X\r\nContent-Length: 99999\r\n\r\n',
      304,
      '',
    ],
    [
      'a 304 of a compressed page',
      'HTTP/1.1 304 X\r\nContent-Encoding: gzip\r\nContent-Length: 70\r\n\r\n',
      304,
      '',
    ],
    ['a 304 in chunks', 'HTTP/1.1 304 X\r\nTransfer-Encoding: chunked\r\n\r\n', 304, ''],
    ['a 204 with a length', 'HTTP/1.1 204 X\r\nContent-Length: 5\r\n\r\n', 204, ''],
    ['a 204 with the length 0', 'HTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n', 204, ''],
    ['a 100 that was not asked for', `HTTP/1.1 100 Continue\r\n\r\n${OK}`, 200, 'hello'],
    ['a 100 with a length', `HTTP/1.1 100 X\r\nContent-Length: 0\r\n\r\n${OK}`, 200, 'hello'],
    ['a 102', `HTTP/1.1 102 Processing\r\n\r\n${OK}`, 200, 'hello'],
    [
      'a 100, a 103 and an unknown 1xx',
      `HTTP/1.1 100 X\r\n\r\nHTTP/1.1 103 X\r\nLink: x\r\n\r\nHTTP/1.1 199 X\r\n\r\n${OK}`,
      200,
      'hello',
    ],
    [
      'a 100 before a 304',
      `HTTP/1.1 100 X\r\n\r\nHTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\n`,
      304,
      '',
    ],
  ])('%s has its usual meaning, and the connection goes on', async (_name, reply, status, text) => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('data', () => socket.write(reply));
    });
    const { port, close } = await listen(server);
    const own = new Session({ trust_env: false });
    const answers = [];
    for (const stream of [false, true]) {
      const response = await own.get(`http://127.0.0.1:${port}/`, {
        stream,
        timeout: 5,
        max_response_bytes: 1000,
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      answers.push([response.status_code, Buffer.concat(chunks).toString()]);
      // undici takes a connection again a turn of the loop after its answer
      await turn();
      await turn();
    }
    await own.close();
    await close();
    expect(answers).toEqual([
      [status, text],
      [status, text],
    ]);
    expect(connections).toBe(1);
  });

  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n'],
    [
      'of a compressed page',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 70\r\n\r\n',
    ],
    ['behind a 100', 'HTTP/1.1 100 X\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
  ])('to HEAD, %s, has no body', async (_name, reply) => {
    const response = await answered(reply, (url) => session.head(url));
    expect([response.status_code, response.text]).toEqual([200, '']);
  });

  it('that redirects to nowhere is an InvalidURL', async () => {
    const reply = 'HTTP/1.1 302 Found\r\nLocation: http://\r\nContent-Length: 0\r\n\r\n';
    await answered(reply, (url) => expect(session.get(url)).rejects.toThrow(InvalidURL));
  });

  it('that comes before the whole body was sent is taken', async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(413, { Connection: 'close' }).end('too big');
    });
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield await Promise.resolve(Buffer.alloc(65_536));
    }
    const response = await session.post(server.url('/'), { data: endless(), timeout: 5 });
    expect([response.status_code, response.text]).toEqual([413, 'too big']);
    await server.close();
  });
});

describe('a request', () => {
  it.each(['Upgrade', 'Expect'])('with %s is an InvalidHeader', async (name) => {
    await answered('', (url) =>
      expect(session.get(url, { headers: { [name]: 'x' } })).rejects.toThrow(InvalidHeader),
    );
  });

  it('to an unknown host is a ConnectionError', async () => {
    await expect(session.get('http://no-such-host.invalid/')).rejects.toThrow(ConnectionError);
  });
});
