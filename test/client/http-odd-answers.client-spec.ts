import { createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { ConnectionError, Session } from '#src/http-client/index.js';
import { listen } from './support/local-server.js';

const turn = promisify(setImmediate);
const session = new Session({ trust_env: false });
afterAll(() => session.close());

/** Answers every request with these bytes over connections that stay; in one piece, or byte by byte. */
async function answered(reply: string, isInPieces = false) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', () => void (isInPieces ? inPieces(socket, reply) : socket.write(reply)));
  });
  const { port, close } = await listen(server);
  const own = new Session({ trust_env: false });
  try {
    const get = async () => {
      const { status_code, headers, text } = await own.get(`http://127.0.0.1:${port}/`, {
        timeout: 20,
      });
      // undici takes a connection again a turn of the loop after its answer
      await turn();
      await turn();
      return { status: status_code, headers: Object.fromEntries(headers.entries()), text };
    };
    const answers = [await get(), await get()];
    expect(answers[1]).toEqual(answers[0]);
    return { ...answers[0], connections };
  } finally {
    await own.close();
    await close();
  }
}

async function inPieces(socket: Socket, reply: string): Promise<void> {
  for (const byte of reply) {
    await new Promise((written) => socket.write(byte, 'latin1', written));
    await turn();
  }
}

/** The sentence of the refusal of an answer. */
async function refusal(reply: string, isInPieces = false): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      if (isInPieces) void inPieces(socket, reply).then(() => socket.end());
      else socket.end(reply, 'latin1');
    });
  });
  const { port, close } = await listen(server);
  try {
    const error: unknown = await session
      .get(`http://127.0.0.1:${port}/`)
      .then(({ text }) => `taken: ${text}`)
      .catch((cause: unknown) => cause);
    if (error instanceof ConnectionError) return error.message.replace(String(port), 'PORT');
    throw new Error(`no ConnectionError: ${String(error)}`);
  } finally {
    await close();
  }
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const LENGTH = { 'content-length': '5' };
const NO_HTTP = 'the answer of 127.0.0.1:PORT is no HTTP/1.1';

describe.each([
  ['in one piece', false],
  ['byte by byte', true],
])('an answer %s', (_how, isInPieces) => {
  it.each([
    ['lengths that are equal', `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`],
    ['lengths', `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`],
    ['lengths in one line', `${OK}Content-Length: 5, 6\r\n\r\nhello`],
    [
      'lengths, two of them equal',
      `${OK}Content-Length: 5\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    ],
    [
      'lengths, one of them in a list',
      `${OK}Content-Length: 5\r\nContent-Length: 5, 6\r\n\r\nhello`,
    ],
  ])('with several %s is refused (RFC 9110 §8.6)', async (_name, reply) => {
    expect(await refusal(reply, isInPieces)).toMatch(/ is no HTTP\/1\.1: .*Content-Length/);
  });

  it('may have folded lines (RFC 9112 §5.2)', async () => {
    const reply = `${OK}X-A: one\r\n  two\r\n three\r\nX-B:\r\n four\r\nContent-Length: 5\r\n\r\nhello`;
    expect(await answered(reply, isInPieces)).toEqual({
      status: 200,
      headers: { 'x-a': 'one  two three', 'x-b': 'four', ...LENGTH },
      text: 'hello',
      connections: 1,
    });
  });

  it('may end its lines with LF (RFC 9112 §2.2)', async () => {
    const reply = 'HTTP/1.1 200 OK\nX-A: one\nContent-Length: 5\n\nhello';
    expect(await answered(reply, isInPieces)).toEqual({
      status: 200,
      headers: { 'x-a': 'one', ...LENGTH },
      text: 'hello',
      connections: 1,
    });
  });

  it('may have blanks behind the size of a chunk', async () => {
    expect(await answered(`${CHUNKED}5  \r\nhello\r\n0 \r\n\r\n`, isInPieces)).toEqual({
      status: 200,
      headers: { 'transfer-encoding': 'chunked' },
      text: 'hello',
      connections: 1,
    });
  });

  it.each([
    [
      'a folded Transfer-Encoding',
      `${OK}Transfer-Encoding: gzip,\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ],
    ['a folded Content-Length', `${OK}X-A: a\r\nContent-Length:\r\n 5\r\n\r\nhello`],
    ['a length of two numbers', `${OK}Content-Length: 1\r\n 2\r\n\r\nhello`],
    ['a fold behind the start line', `${OK} X-A: a\r\nContent-Length: 5\r\n\r\nhello`],
    ['a blank before a colon', `${OK}X-A: a\r\nX-B : b\r\nContent-Length: 5\r\n\r\nhello`],
    ['NUL in a header', `${OK}X-A: a\0b\r\nContent-Length: 5\r\n\r\nhello`],
    ['DEL in a folded header', `${OK}X-A: a\r\n \x7fb\r\nContent-Length: 5\r\n\r\nhello`],
    ['CR alone in a header', `${OK}X-A: a\rb\r\nContent-Length: 5\r\n\r\nhello`],
    [
      'length and chunks',
      `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ],
    [
      'chunks and length',
      `${OK}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ],
    ['a signed length', `${OK}Content-Length: +5\r\n\r\nhello`],
  ])('with %s is refused', async (_name, reply) => {
    expect(await refusal(reply, isInPieces)).toContain(NO_HTTP);
  });

  it.each([
    ['a blank before the size of a chunk', `${CHUNKED} 5\r\nhello\r\n0\r\n\r\n`],
    ['a signed size of a chunk', `${CHUNKED}+5\r\nhello\r\n0\r\n\r\n`],
    ['LF alone behind the size of a chunk', `${CHUNKED}5\nhello\n0\n\n`],
    ['CR alone behind the size of a chunk', `${CHUNKED}5\rhello\r0\r\r`],
  ])('with %s is refused', async (_name, reply) => {
    expect(await refusal(reply, isInPieces)).toContain(NO_HTTP);
  });
});

describe('the headers of an answer', () => {
  it('may be as large as browsers take them', async () => {
    const long = 'a'.repeat(20_000);
    const more = 'b'.repeat(200_000);
    const reply = `${OK}X-A: ${long}\r\nX-B: ${more}\r\nContent-Length: 5\r\n\r\nhello`;
    expect(await answered(reply)).toEqual({
      status: 200,
      headers: { 'x-a': long, 'x-b': more, ...LENGTH },
      text: 'hello',
      connections: 1,
    });
  });

  it('are refused beyond that', async () => {
    expect(await refusal(`${OK}X-A: ${'a'.repeat(300_000)}\r\n\r\n`)).toBe(
      'the headers of the answer of 127.0.0.1:PORT are larger than 256 KiB',
    );
  });
});
