import { jest } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { answerClientErrors } from './client-errors.js';
import { Connections, type ConnectionLimits, type CutReason } from './connections.js';

const LIMITS: ConnectionLimits = { maxConnections: 50, progressMs: 300, leastBytes: 1024 };

interface Stand {
  server: Server;
  connections: Connections;
  port: number;
  cuts: CutReason[];
}

const opened: (Stand | Socket)[] = [];

async function stand(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  limits: Partial<ConnectionLimits> = {},
): Promise<Stand> {
  const server = createServer({ maxHeaderSize: 8192 }, handler);
  const connections = new Connections(server, { ...LIMITS, ...limits }, (problem, _, response) => {
    response.writeHead(problem.status, problem.headers).end(problem.code);
  });
  const cuts: CutReason[] = [];
  connections.onCut = (reason) => cuts.push(reason);
  answerClientErrors(server, () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const result = { server, connections, port: (server.address() as AddressInfo).port, cuts };
  opened.push(result);
  return result;
}

/** A raw connection that keeps what it receives. */
async function client(port: number): Promise<Socket & { text: string; ended: Promise<void> }> {
  const socket = connect(port, '127.0.0.1') as Socket & { text: string; ended: Promise<void> };
  opened.push(socket);
  socket.text = '';
  socket.setEncoding('latin1').on('data', (text: string) => (socket.text += text));
  socket.on('error', () => undefined);
  socket.ended = new Promise((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  return socket;
}

async function until(condition: () => boolean, meanwhile = (): void => undefined): Promise<void> {
  const end = performance.now() + 25_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error('waited in vain');
    meanwhile();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets time pass, and what is on its way arrive, until something has happened. */
async function pass(isOver: () => boolean): Promise<void> {
  await until(isOver, () => jest.advanceTimersByTime(10));
}

/** As handlers read a body. */
async function readWhole(request: IncomingMessage): Promise<void> {
  await text(request);
}

/** Time passes where the test says so: what a busy machine takes longer for is nobody's fault. */
function holdTime(): void {
  beforeEach(() => {
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'],
    });
  });
  afterEach(() => jest.useRealTimers());
}

afterEach(async () => {
  for (const one of opened.splice(0)) {
    if ('connections' in one) await one.connections.drain({ graceMs: 0, idleMs: 0 });
    else one.destroy();
  }
});

describe('the address of a connection', () => {
  it('is known when it is gone', async () => {
    let address: string | undefined;
    const { port } = await stand((request) => {
      request.on('error', () => undefined);
      request.socket.once('close', () => (address = request.socket.remoteAddress ?? 'forgotten'));
    });
    const socket = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n', () => socket.resetAndDestroy());
    await until(() => address !== undefined);
    expect(address).toBe('127.0.0.1');
  });
});

describe('a client that is too slow', () => {
  holdTime();

  it('is answered 408 when its body does not arrive, however often it sends a byte', async () => {
    let received = (): number => 0;
    const { port, cuts } = await stand((request) => {
      received = () => request.socket.bytesRead;
      void readWhole(request).catch(() => undefined);
    });
    const socket = await client(port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n');
    await until(() => received() > 0);
    for (let waitedMs = 0; cuts.length === 0; waitedMs += 50) {
      expect(waitedMs).toBeLessThan(2 * LIMITS.progressMs);
      const before = received();
      socket.write('x');
      await until(() => received() > before);
      jest.advanceTimersByTime(50);
    }
    await socket.ended;
    expect(socket.text).toMatch(/^HTTP\/1.1 408 [\s\S]*Connection: close[\s\S]*request.timeout/);
    expect(cuts).toEqual(['slow-body']);
  });

  it('is cut off when it takes no more of its answer', async () => {
    const { port, cuts } = await stand((_, response) => response.end(Buffer.alloc(50_000_000)));
    const socket = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    await pass(() => cuts.length > 0);
    expect(cuts).toEqual(['slow-reader']);
  });

  it('is cut off when it takes no more of the answers to a pipeline of requests', async () => {
    const { port, cuts } = await stand((_, response) => response.end(Buffer.alloc(500_000)));
    const socket = await client(port);
    socket.pause();
    for (let i = 0; i < 100; i += 1) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await pass(() => cuts.length > 0);
    expect(cuts).toEqual(['slow-reader']);
  });

  it('is left alone while its body moves fast enough', async () => {
    let received = 0;
    const { port, cuts } = await stand((request, response) => {
      request.on('data', (piece: Buffer) => (received += piece.length));
      request.once('end', () => response.end('thanks'));
    });
    const socket = await client(port);
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\nConnection: close\r\n\r\n',
    );
    for (let sent = 2_000; sent <= 60_000; sent += 2_000) {
      socket.write('x'.repeat(2_000));
      await until(() => received === sent);
      jest.advanceTimersByTime(100);
    }
    await socket.ended;
    expect(socket.text).toMatch(/thanks$/);
    expect(cuts).toEqual([]);
  });

  it('is left alone while the server itself takes its time', async () => {
    let isLate = false;
    const { port, cuts } = await stand((request, response) => {
      request.resume();
      setTimeout(() => {
        isLate = true;
        response.end('late');
      }, 5 * LIMITS.progressMs);
    });
    const socket = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await pass(() => isLate);
    await socket.ended;
    expect(socket.text).toMatch(/late$/);
    expect(cuts).toEqual([]);
  });
});

describe('drain', () => {
  holdTime();

  it('finishes the request under way, says Connection: close and refuses new connections', async () => {
    let answer: ServerResponse | undefined;
    const { port, connections } = await stand((_, response) => {
      answer = response;
    });
    const socket = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => answer !== undefined);
    const drained = connections.drain({ graceMs: 10_000, idleMs: 50 });
    const late = connect(port, '127.0.0.1');
    opened.push(late);
    await expect(once(late, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    answer?.end('done');
    await pass(() => socket.closed);
    await drained;
    expect(socket.text).toMatch(/^HTTP\/1.1 200 [\s\S]*done$/);
  });

  it('answers a request that comes on an idle connection, then closes it', async () => {
    const { port, connections } = await stand((_, response) => response.end('here'));
    const socket = await client(port);
    const drained = connections.drain({ graceMs: 10_000, idleMs: 2_000 });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await socket.ended;
    await drained;
    expect(socket.text).toMatch(/^HTTP\/1.1 200 [\s\S]*Connection: close[\s\S]*here$/);
  });

  it('closes connections that stay idle, and cuts the rest after the grace', async () => {
    let isUnderWay = false;
    const { port, connections } = await stand(() => (isUnderWay = true));
    const idle = await client(port);
    const stuck = await client(port);
    stuck.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => isUnderWay);
    const drained = connections.drain({ graceMs: 600, idleMs: 50 });
    jest.advanceTimersByTime(599);
    await idle.ended;
    await until(() => connections.count === 1);
    jest.advanceTimersByTime(1);
    await Promise.all([stuck.ended, drained]);
    expect(stuck.text).toBe('');
  });

  it('asks clients to leave as soon as the server retires', async () => {
    const { port, connections } = await stand((_, response) => response.end('ok'));
    connections.retire();
    const socket = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await socket.ended;
    expect(socket.text).toMatch(/Connection: close/);
  });
});

describe('limits of a connection', () => {
  it('drops connections above the bound', async () => {
    const { port } = await stand((_, response) => response.end('ok'), { maxConnections: 1 });
    const first = await client(port);
    const second = await client(port);
    await second.ended;
    first.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await first.ended;
    expect(first.text).toMatch(/ok$/);
  });

  it.each([
    ['a giant header', `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['a broken request line', 'HELLO\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 400],
  ])('answers %s as a problem', async (_, text, status) => {
    const { port } = await stand((__, response) => response.end('ok'));
    const socket = await client(port);
    socket.write(text);
    await socket.ended;
    const [head = '', body = ''] = socket.text.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/Content-Type: application\/problem\+json/);
    const requestId = /X-Request-Id: (\S+)/.exec(head)?.[1];
    expect(JSON.parse(body)).toMatchObject({
      status,
      instance: `urn:gridgate:request:${requestId}`,
    });
  });

  it('ends the answers of every pipelined request when the connection goes', async () => {
    const answers: ServerResponse[] = [];
    let closed = 0;
    const { port } = await stand((_request, response) => {
      answers.push(response);
      response.once('close', () => (closed += 1));
    });
    const socket = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: grid\r\n\r\n'.repeat(5));
    await until(() => answers.length === 5);
    socket.destroy();
    await until(() => closed === 5);
    expect(answers.map(({ destroyed }) => destroyed)).toEqual(Array(5).fill(true));
    expect(() => answers[4]?.end('too late')).not.toThrow();
  });
});
