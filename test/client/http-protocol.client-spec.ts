import { createServer } from 'node:net';
import { ConnectionError, InvalidHeader, InvalidURL, Session } from '#src/http-client/index.js';
import { listen, startServer } from './support/local-server.js';

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
    ['with too long headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`],
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
