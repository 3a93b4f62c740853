import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import {
  ContentDecodingError,
  ConnectionError,
  Session,
  UnrewindableBodyError,
} from '#src/http-client/index.js';
import { echo, startServer, until, type Echo, type LocalServer } from './support/local-server.js';

const TEXT = 'grid '.repeat(20_000);
const CODED: Record<string, [string, Buffer]> = {
  gzip: ['gzip', gzipSync(TEXT)],
  'x-gzip': ['x-gzip', gzipSync(TEXT)],
  deflate: ['deflate', deflateSync(TEXT)],
  'raw deflate': ['deflate', deflateRawSync(TEXT)],
  br: ['br', brotliCompressSync(TEXT)],
  'gzip, br': ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
  identity: ['identity', Buffer.from(TEXT)],
};

let server: LocalServer;
let session: Session;
let directory: string;

describe('requests of a session', () => {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'http-session-'));
    server = await startServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      const to = url.searchParams.get('to');
      if (to !== null) {
        request.resume();
        const status = Number(url.searchParams.get('status') ?? 302);
        response.writeHead(status, { Location: to, 'Set-Cookie': 'hop=1; Path=/' }).end('moved');
      } else if (url.pathname === '/coded') {
        const [coding, bytes] = CODED[url.searchParams.get('as') ?? ''] ?? ['', Buffer.alloc(0)];
        response.writeHead(200, { 'Content-Encoding': coding }).end(bytes);
      } else if (url.pathname === '/broken') {
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(TEXT).subarray(0, 50));
      } else if (url.pathname === '/cut') {
        response.writeHead(200, { 'Content-Length': 100 });
        response.write('half', () => response.destroy());
      } else echo(request, response);
    });
  });

  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true });
  });

  beforeEach(() => {
    session = new Session({ trust_env: false });
  });
  afterEach(() => session.close());

  function echoed(response: { json(): unknown }): Echo {
    return response.json() as Echo;
  }

  describe('a request on the wire', () => {
    it('carries method, query, headers and body as prepared', async () => {
      const response = await session.patch(server.url('/p?a=1#f'), {
        params: { b: ['x y', 'z'] },
        json: { n: 2n ** 60n },
        headers: { 'X-Own': 'é' },
      });
      expect(echoed(response)).toEqual({
        method: 'PATCH',
        url: '/p?a=1&b=x+y&b=z',
        headers: {
          host: `localhost:${server.port}`,
          connection: 'keep-alive',
          'user-agent': 'gridgate',
          'accept-encoding': 'gzip, deflate, br',
          accept: '*/*',
          'content-type': 'application/json',
          'content-length': '25',
          'x-own': 'é',
        },
        body: '{"n":1152921504606846976}',
      });
      expect([response.status_code, response.reason, response.ok]).toEqual([200, 'OK', true]);
    });

    it('reuses connections', async () => {
      const before = server.connections();
      for (let i = 0; i < 5; i += 1) await session.get(server.url('/'));
      // undici frees a socket one turn of the event loop after its response, so two take turns.
      expect(server.connections() - before).toBeLessThanOrEqual(2);
    });

    it('closes the connection when asked', async () => {
      const response = await session.get(server.url('/'), { headers: { Connection: 'close' } });
      expect(echoed(response).headers['connection']).toBe('close');
    });

    it('works again after close', async () => {
      await session.get(server.url('/'));
      await session.close();
      expect((await session.get(server.url('/'))).status_code).toBe(200);
    });

    it.each([
      ['an async iterable', () => Readable.from(['one', 'two'])],
      ['an iterable', () => new Set(['one', 'two'])],
      ['a blob', () => new Blob(['onetwo'])],
      ['bytes', () => Buffer.from('onetwo')],
    ])('sends %s', async (_name, data) => {
      expect(echoed(await session.put(server.url('/'), { data: data() })).body).toBe('onetwo');
    });

    it('sends large bodies from memory with their length', async () => {
      const { body, headers } = echoed(await session.post(server.url('/'), { data: TEXT }));
      expect([body === TEXT, headers['content-length']]).toEqual([true, String(TEXT.length)]);
    });

    it('hands on the error of a body that fails', async () => {
      const failure = new Error('disk gone');
      const data = Readable.from(
        (function* () {
          yield 'a';
          throw failure;
        })(),
      );
      await expect(session.post(server.url('/'), { data })).rejects.toBe(failure);
    });

    it('streams files of a multipart body', async () => {
      const path = join(directory, 'input.txt');
      writeFileSync(path, 'content of the file');
      const files = { upload: createReadStream(path) };
      const { body, headers } = echoed(
        await session.post(server.url('/'), { files, data: { a: 1 } }),
      );
      expect(headers['transfer-encoding']).toBe('chunked');
      expect(body).toContain('name="a"\r\n\r\n1\r\n');
      expect(body).toContain('name="upload"; filename="input.txt"\r\n\r\ncontent of the file\r\n');
    });
  });

  describe('content codings', () => {
    it.each(Object.keys(CODED))('%s', async (as) => {
      const url = server.url(`/coded?as=${encodeURIComponent(as)}`);
      expect((await session.get(url)).text === TEXT).toBe(true);
      const streamed = await session.get(url, { stream: true });
      expect((await streamed.read()).toString() === TEXT).toBe(true);
    });

    it('do not matter without a body', async () => {
      expect((await session.head(server.url('/coded?as=gzip'))).content.length).toBe(0);
    });

    it('that are broken end in ContentDecodingError', async () => {
      await expect(session.get(server.url('/broken'))).rejects.toThrow(ContentDecodingError);
      const streamed = await session.get(server.url('/broken'), { stream: true });
      await expect(streamed.read()).rejects.toThrow(ContentDecodingError);
    });
  });

  describe('a broken connection', () => {
    it('is a ConnectionError, also in the middle of a streamed body', async () => {
      await expect(session.get(server.url('/cut'))).rejects.toThrow(ConnectionError);
      const streamed = await session.get(server.url('/cut'), { stream: true });
      await expect(streamed.read()).rejects.toThrow(ConnectionError);
    });

    it('is a ConnectionError when nobody listens', async () => {
      const gone = await startServer(echo);
      await gone.close();
      await expect(session.get(gone.url('/'))).rejects.toThrow(/ECONNREFUSED/);
      await expect(session.get(gone.url('/'))).rejects.toThrow(ConnectionError);
    });
  });

  describe('redirects between hosts', () => {
    const headers = { Authorization: 'Bearer t', DPoP: 'proof', 'X-Api-Key': 'k' };
    const there = (status = 302): string =>
      `${server.url('/', 'localhost')}?status=${status}&to=${encodeURIComponent(server.url('/end', '127.0.0.1'))}`;

    it('drop Authorization and DPoP, and cookies of the first host', async () => {
      const response = await session.get(there(), { headers, cookies: { own: '1' } });
      const seen = echoed(response).headers;
      expect([seen['authorization'], seen['dpop'], seen['cookie'], seen['x-api-key']]).toEqual([
        undefined,
        undefined,
        undefined,
        'k',
      ]);
      expect(session.cookies.get('hop', { url: server.url('/') })).toBe('1');
      expect(response.history.map((r) => r.text)).toEqual(['moved']);
    });

    it('keep both on the same host, with the cookie of the redirect', async () => {
      const seen = echoed(await session.get(server.url('/?to=/end'), { headers })).headers;
      expect([seen['authorization'], seen['dpop'], seen['cookie']]).toEqual([
        'Bearer t',
        'proof',
        'hop=1',
      ]);
    });

    it('send the body again for 307 and 308, without a token in it', async () => {
      const data = { access_token: 'secret', a: '1' };
      expect(echoed(await session.post(there(307), { data })).body).toBe('a=1');
      expect(echoed(await session.post(server.url('/?status=308&to=/end'), { data })).body).toBe(
        'access_token=secret&a=1',
      );
    });

    it('send streams again that start over, files included', async () => {
      const path = join(directory, 'again.txt');
      writeFileSync(path, 'file');
      const url = server.url('/?status=307&to=/end');
      expect(echoed(await session.post(url, { data: new Set(['a', 'b']) })).body).toBe('ab');
      expect(echoed(await session.post(url, { data: createReadStream(path) })).body).toBe('file');
    });

    it('cannot send a generator again', async () => {
      const data = (function* () {
        yield 'once';
      })();
      await expect(session.post(server.url('/?status=307&to=/end'), { data })).rejects.toThrow(
        UnrewindableBodyError,
      );
    });
  });

  describe('stream: true', () => {
    it('hands over the body piece by piece while it arrives', async () => {
      let finish = (): void => undefined;
      const slow = await startServer((_request, response) => {
        response.write('first');
        finish = () => response.end('second');
      });
      const response = await session.get(slow.url('/'), { stream: true });
      const chunks: string[] = [];
      for await (const chunk of response.body) {
        chunks.push(Buffer.from(chunk).toString());
        finish();
      }
      expect(chunks).toEqual(['first', 'second']);
      await slow.close();
    });

    it('drops the connection when the reader stops', async () => {
      let dropped = 0;
      const endless = await startServer((_request, response) => {
        response.on('close', () => (dropped += 1));
        const more = (): void => {
          if (!response.destroyed) response.write(TEXT, () => setImmediate(more));
        };
        more();
      });
      const first = await session.get(endless.url('/'), { stream: true });
      for await (const _chunk of first.body) break;
      (await session.get(endless.url('/'), { stream: true })).close();
      await until(() => dropped === 2);
      await endless.close();
    });
  });
});
