import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, afterEach } from '@jest/globals';
import express, { type Express } from 'express';
import { messageClasses, gatheredMessage } from './grid-express.adapter.js';

/** What the application answers at the path; `first` sees the messages before it. */
async function answerOf(
  application: Express,
  path: string,
  first: RequestListener = () => undefined,
): Promise<string> {
  const server = createServer(messageClasses(application));
  server.on('request', first).on('request', application).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const call = request({ port, path, agent: false }).end();
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const body = await text(answer);
  server.close();
  return body;
}

describe('messages of the server', () => {
  it('have the prototypes that the application would set before it sees them', async () => {
    const application = express();
    application.use((_incoming, answer) => void answer.send('seen'));
    let areKnown = false;
    const body = await answerOf(application, '/', (incoming, answer) => {
      areKnown =
        Object.getPrototypeOf(incoming) === application.request &&
        Object.getPrototypeOf(answer) === application.response;
    });
    expect({ body, areKnown }).toEqual({ body: 'seen', areKnown: true });
  });

  it.each([
    ['/nested/x', 'application nested nested application'],
    ['/x', 'application application'],
  ])(
    'have what express gives them, in the application and in a nested one: %s',
    async (path, expected) => {
      const application = express();
      const nested = express();
      const names = new Map([
        [application, 'application'],
        [nested, 'nested'],
      ]);
      application.use((incoming, answer, next) => {
        answer.locals['seen'] = [names.get(incoming.app as Express)];
        next();
      });
      nested.use((incoming, answer, next) => {
        const seen = answer.locals['seen'] as unknown[];
        seen.push(names.get(incoming.app as Express), names.get(answer.app as Express));
        next();
      });
      application.use('/nested', nested);
      application.use((incoming, answer) => {
        const seen = answer.locals['seen'] as unknown[];
        answer.send([...seen, names.get(incoming.app as Express)].join(' '));
      });
      expect(await answerOf(application, path)).toBe(expected);
    },
  );
});

/** What a handler of a server has read, and in how many pieces. */
interface Reading {
  text: string;
  pieces: number;
}

describe('a message', () => {
  let server: Server;
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  async function readingOf(write: (socket: ReturnType<typeof connect>) => void): Promise<Reading> {
    const read = new Promise<Reading>((resolve) => {
      server = createServer({ IncomingMessage: gatheredMessage() }, (request, response) => {
        const pieces: Buffer[] = [];
        request.on('data', (piece: Buffer) => pieces.push(piece));
        request.on('end', () => {
          response.end();
          resolve({ text: Buffer.concat(pieces).toString(), pieces: pieces.length });
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    write(socket);
    const reading = await read;
    socket.destroy();
    return reading;
  }

  const head = 'POST / HTTP/1.1\r\nHost: x\r\n';

  it('gathers a body of tiny chunks, all of it in order', async () => {
    const letters = Array.from({ length: 20_000 }, (_, index) =>
      String.fromCharCode(97 + (index % 26)),
    );
    const chunks = letters.map((letter) => `1\r\n${letter}\r\n`).join('');
    const { text, pieces } = await readingOf((socket) =>
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`),
    );
    expect(text).toBe(letters.join(''));
    expect(pieces).toBeLessThan(50);
  });

  it('lets others have their turn while 60,000 chunks of a byte come', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const body = '1;a=b\r\nx\r\n'.repeat(60_000);
    const { text } = await readingOf((socket) =>
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`),
    );
    isOver = true;
    expect(text.length).toBe(60_000);
    // One for each piece of 64 KiB that the system has; without it five and what was there before and behind.
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it('is read on no faster than it is taken', async () => {
    let waiting = 0;
    const whole = new Promise<string>((resolve) => {
      server = createServer({ IncomingMessage: gatheredMessage() }, (request, response) => {
        let turns = 0;
        const look = (): void => {
          waiting = Math.max(waiting, request.readableLength);
          if ((turns += 1) < 300) {
            setImmediate(look);
            return;
          }
          let text = '';
          request.on('data', (piece: Buffer) => (text += piece.toString()));
          request.on('end', () => {
            response.end();
            resolve(text);
          });
        };
        look();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(
      `${head}Transfer-Encoding: chunked\r\n\r\n${`11\r\n${'y'.repeat(17)}\r\n`.repeat(60_000)}0\r\n\r\n`,
    );
    expect((await whole).length).toBe(60_000 * 17);
    expect(waiting).toBeLessThan(512 * 1_024);
    socket.destroy();
  });

  it('keeps the order of small and large chunks', async () => {
    const parts = ['a', 'b'.repeat(5_000), 'c', 'd', 'e'.repeat(1_024), 'f'];
    const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
    const { text } = await readingOf((socket) =>
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`),
    );
    expect(text).toBe(parts.join(''));
  });

  it('hands on what has come of a body that goes on later', async () => {
    const seen: string[] = [];
    let goOn = (): void => undefined;
    const whole = new Promise<void>((resolve) => {
      server = createServer({ IncomingMessage: gatheredMessage() }, (request, response) => {
        request.on('data', (piece: Buffer) => {
          seen.push(piece.toString());
          goOn();
        });
        request.on('end', () => resolve(void response.end()));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const first = new Promise<void>((resolve) => (goOn = resolve));
    socket.write(`${head}Content-Length: 6\r\n\r\nabc`);
    await first;
    socket.write('def');
    await whole;
    socket.destroy();
    expect(seen).toEqual(['abc', 'def']);
  });

  it('hands on a small body with its end', async () => {
    const { text, pieces } = await readingOf((socket) =>
      socket.write(`${head}Content-Length: 5\r\n\r\nhello`),
    );
    expect([text, pieces]).toEqual(['hello', 1]);
  });
});
