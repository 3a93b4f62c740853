import { jest } from '@jest/globals';
import { createServer } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  ConnectionError,
  ConnectTimeout,
  ReadTimeout,
  ResponseTooLarge,
  Session,
  Timeout,
} from '#src/http-client/index.js';
import {
  failureInTime,
  holdTime,
  listen,
  startServer,
  until,
  type LocalServer,
} from './support/local-server.js';

/** 8 MiB of zeros in a few kilobytes. */
const BOMB = Buffer.alloc(8 * 1024 * 1024);
const CAP = 1_000;

let server: LocalServer;
let session: Session;
let drops = 0;
let isDripping = true;

describe('the limits of a request', () => {
  beforeAll(async () => {
    const bombs: Record<string, Buffer> = { gzip: gzipSync(BOMB), br: brotliCompressSync(BOMB) };
    server = await startServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      response.on('close', () => {
        if (!response.writableFinished) drops += 1;
      });
      const as = url.searchParams.get('as') ?? '';
      if (url.pathname === '/silent') return;
      if (url.pathname === '/loop') response.writeHead(302, { Location: '/loop' }).end();
      if (url.pathname === '/bomb')
        response.writeHead(200, { 'Content-Encoding': as }).end(bombs[as]);
      if (url.pathname === '/bytes') response.end(Buffer.alloc(Number(as)));
      if (url.pathname === '/announced')
        response.writeHead(200, { 'Content-Length': 1e9 }).write('x');
      if (url.pathname === '/half') response.write('half');
      if (url.pathname === '/drip') {
        response.write('.');
        const drip = setInterval(() => isDripping && response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      }
      if (url.pathname === '/endless') {
        const more = (): void => {
          if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(more));
        };
        more();
      }
    });
  });

  afterAll(() => server.close());
  beforeEach(() => {
    session = new Session({ trust_env: false });
    drops = 0;
    isDripping = true;
  });
  afterEach(() => session.close());

  /** The error of a promise. */
  async function failure(promise: Promise<unknown>): Promise<unknown> {
    return promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
  }

  /** The same of a call of the server that is late in time: it passes when the request is there. */
  async function lateness(
    promise: Promise<unknown>,
  ): Promise<{ error: unknown; passedMs: number }> {
    const before = server.requests.length;
    await until(() => server.requests.length > before);
    return failureInTime(promise);
  }

  describe('timeout', () => {
    beforeEach(holdTime);
    afterEach(() => jest.useRealTimers());

    it.each(['/silent', '/half'])('ends the silence of %s as ReadTimeout', async (path) => {
      const timeout = [3_600, 0.1] as const;
      const { error, passedMs } = await lateness(session.get(server.url(path), { timeout }));
      expect(error).toBeInstanceOf(ReadTimeout);
      expect(error).toBeInstanceOf(Timeout);
      expect(error).not.toBeInstanceOf(ConnectionError);
      expect(passedMs).toBeGreaterThanOrEqual(100);
      await until(() => drops === 1);
    });

    it('begins anew with every piece of the body', async () => {
      const response = await session.get(server.url('/drip'), { stream: true, timeout: 0.1 });
      const pieces = response.body[Symbol.asyncIterator]();
      for (let piece = 0; piece < 30; piece += 1) {
        const next = pieces.next();
        jest.advanceTimersByTime(20);
        expect((await next).done).toBe(false);
      }
      isDripping = false;
      expect((await failureInTime(pieces.next())).error).toBeInstanceOf(ReadTimeout);
    });

    it('of connecting is a ConnectTimeout, both Timeout and ConnectionError', async () => {
      // Accepts TCP connections and never begins with TLS.
      let state = 'none';
      const mute = await listen(
        createServer((socket) => {
          state = 'open';
          socket.resume().on('close', () => (state = 'dropped'));
        }),
      );
      const url = `https://127.0.0.1:${mute.port}/`;
      const call = session.get(url, { timeout: [0.1, null] });
      await until(() => state === 'open');
      const { error, passedMs } = await failureInTime(call);
      for (const kind of [ConnectTimeout, Timeout, ConnectionError]) {
        expect(error).toBeInstanceOf(kind);
      }
      expect(passedMs).toBeGreaterThanOrEqual(100);
      await until(() => state === 'dropped');
      await mute.close();
    });

    it('of reading does not count for connecting, and the other way round', async () => {
      const response = await session.get(server.url('/bytes?as=3'), { timeout: [null, 5] });
      expect(response.content.length).toBe(3);
      const timeout = [3_600, 0.1] as const;
      const { error } = await lateness(session.get(server.url('/silent'), { timeout }));
      expect(error).toBeInstanceOf(ReadTimeout);
    });

    it('comes from default_timeout unless the call has its own', async () => {
      session.default_timeout = [3_600, 0.1];
      const { error } = await lateness(session.get(server.url('/silent')));
      expect(error).toBeInstanceOf(ReadTimeout);
    });

    it('does not run while the reader of a streamed body pauses', async () => {
      const response = await session.get(server.url('/bytes?as=3000000'), {
        stream: true,
        timeout: 0.5,
      });
      let size = 0;
      for await (const chunk of response.body) {
        if (size === 0) {
          await until(() => jest.getTimerCount() === 0);
          jest.advanceTimersByTime(60_000);
        }
        size += chunk.length;
      }
      expect(size).toBe(3_000_000);
    });
  });

  describe('deadline', () => {
    beforeEach(holdTime);
    afterEach(() => jest.useRealTimers());

    it.each([
      ['a slow body', '/drip', {}],
      ['a streamed slow body', '/drip', { stream: true }],
      ['an endless body', '/endless', { stream: true }],
      ['silence', '/silent', {}],
      ['an endless chain of redirects', '/loop', {}],
    ])('ends %s as Timeout', async (_name, path, options) => {
      session.max_redirects = Infinity;
      const call = session.get(server.url(path), { ...options, deadline: 0.2 });
      const { error, passedMs } = await lateness(call.then((response) => drain(response.body)));
      expect(error).toBeInstanceOf(Timeout);
      expect(passedMs).toBeGreaterThanOrEqual(200);
      expect(passedMs).toBeLessThan(400);
    });

    it('ends a streamed body that nobody reads, without an uncaught error', async () => {
      const response = await session.get(server.url('/drip'), { stream: true, deadline: 0.1 });
      jest.advanceTimersByTime(100);
      await until(() => drops === 1);
      expect(await failure(response.read())).toBeInstanceOf(Timeout);
    });
  });

  describe('signal', () => {
    it('rejects with its reason before, while waiting, and in the body', async () => {
      const reason = new Error('enough');
      const aborted = AbortSignal.abort(reason);
      const url = server.url('/drip');
      const before = server.requests.length;
      expect(await failure(session.get(url, { signal: aborted }))).toBe(reason);
      expect(server.requests.length).toBe(before);
      const waiting = new AbortController();
      const pending = failure(session.get(server.url('/silent'), { signal: waiting.signal }));
      waiting.abort(reason);
      expect(await pending).toBe(reason);
      const reading = new AbortController();
      const response = await session.get(url, { stream: true, signal: reading.signal });
      reading.abort(reason);
      expect(await failure(response.read())).toBe(reason);
    });
  });

  describe('max_response_bytes', () => {
    it('lets a body of exactly that size pass', async () => {
      const limited = { max_response_bytes: CAP };
      expect((await session.get(server.url(`/bytes?as=${CAP}`), limited)).content.length).toBe(CAP);
    });

    it.each([
      ['one byte more', `/bytes?as=${CAP + 1}`],
      ['an endless body', '/endless'],
      ['an announced length', '/announced'],
      ['a gzip bomb', '/bomb?as=gzip'],
      ['a brotli bomb', '/bomb?as=br'],
    ])('refuses %s', async (_name, path) => {
      const url = server.url(path);
      const whole = await failure(session.get(url, { max_response_bytes: CAP }));
      expect(whole).toBeInstanceOf(ResponseTooLarge);
      const streamed = await failure(
        session.get(url, { max_response_bytes: CAP, stream: true }).then((r) => drain(r.body)),
      );
      expect(streamed).toBeInstanceOf(ResponseTooLarge);
    });
  });

  describe('close', () => {
    it('ends what is under way with a ConnectionError', async () => {
      const waiting = failure(session.get(server.url('/silent')));
      const before = server.requests.length;
      await until(() => server.requests.length > before);
      await session.close();
      expect(await waiting).toBeInstanceOf(ConnectionError);
    });
  });

  async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const _chunk of body);
  }
});
