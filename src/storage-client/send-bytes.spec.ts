import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { digestsOf, sendBytes } from './send-bytes.js';

const TEXT = Buffer.from('bytes of the file');

describe('bytes that are sent to a storage', () => {
  let server: Server;
  let url: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => unknown;
  let asked: IncomingMessage[];

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request);
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/f`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    asked = [];
    answer = (request, response) => request.resume().on('end', () => response.writeHead(201).end());
  });

  const send = (pieces: Buffer[], size = TEXT.length, signal?: AbortSignal): Promise<void> =>
    sendBytes(
      { url, headers: { Authorization: 'Bearer x' } },
      {
        ...{ size, ca: true, silenceMs: 200 },
        bytes: async function* () {
          for (const piece of pieces) yield await Promise.resolve(piece);
        },
        ...(signal && { signal }),
      },
    );

  it('go with their length and header names as they are usually written', async () => {
    let body: Promise<Buffer> | undefined;
    answer = (request, response) => {
      body = buffer(request);
      void body.then(() => response.writeHead(200).end());
    };
    await send([TEXT.subarray(0, 5), TEXT.subarray(5)]);
    expect(await body).toEqual(TEXT);
    const [request] = asked;
    expect(request?.rawHeaders).toEqual(
      expect.arrayContaining(['Content-Length', '17', 'Authorization', 'Bearer x']),
    );
    expect(request?.headers['transfer-encoding']).toBeUndefined();
  });

  it('go over one connection, but not where the storage answers before it has read them', async () => {
    const ports = () => new Set(asked.map(({ socket }) => socket.remotePort)).size;
    for (let count = 0; count < 3; count += 1) await send([TEXT]);
    expect([asked.length, ports()]).toEqual([3, 1]);
    const large = Buffer.alloc(5_000_000);
    answer = (_, response) => response.writeHead(507).end();
    for (let count = 0; count < 2; count += 1)
      await expect(send([large], large.length)).rejects.toThrow('it is full (507)');
    expect(ports()).toBeGreaterThan(1);
    asked = [];
    answer = (request, response) =>
      request.resume().on('end', () => response.writeHead(201).end('x'.repeat(100_000)));
    for (let count = 0; count < 2; count += 1) await send([TEXT]);
    expect(ports()).toBe(2);
  });

  it('are what was said of them, or none', async () => {
    const fault = { kind: 'other', message: 'the file has changed meanwhile' };
    const whole: Buffer[] = [];
    answer = (request) =>
      void buffer(request).then(
        (body) => whole.push(body),
        () => undefined,
      );
    const large = Buffer.alloc(1_000_000);
    for (const pieces of [[TEXT, Buffer.from('more')], [TEXT.subarray(1)], [large, large]])
      await expect(
        send(pieces, pieces[0] === large ? 1_999_999 : TEXT.length),
      ).rejects.toMatchObject(fault);
    expect(whole).toEqual([]);
  });

  it.each([
    [403, 'closed', /lies there already, or it does not accept/],
    [412, 'closed', /lies there already/],
    [413, 'closed', /too large/],
    [507, 'closed', /full/],
    [500, 'away', /it failed \(500\)/],
    [404, 'away', /it failed \(404\)/],
  ])('are refused by %i: the storage is %s', async (status, kind, message) => {
    // Before it has read anything.
    answer = (_request, response) => response.writeHead(status).end();
    const thrown = await send([TEXT]).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ kind, message: expect.stringMatching(message) });
  });

  it('go elsewhere without the header of the first storage, and not for ever', async () => {
    const other = createServer((request, response) => {
      asked.push(request);
      request.resume().on('end', () => response.writeHead(201).end());
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/g`;
    answer = (request, response) =>
      request.resume().on('end', () => response.writeHead(307, { location }).end());
    await send([TEXT]);
    other.close();
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer x', undefined]);
    answer = (request, response) =>
      request.resume().on('end', () => response.writeHead(308, { location: '/f' }).end());
    await expect(send([TEXT])).rejects.toMatchObject({ kind: 'away' });
  });

  it('are given up when the storage is silent, or nobody wants them any more', async () => {
    answer = () => undefined;
    await expect(send([TEXT])).rejects.toMatchObject({ kind: 'away', message: 'it is silent' });
    const reason = new Error('killed');
    await expect(send([TEXT], TEXT.length, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('are given up when the storage is busy for ever', async () => {
    let busy: NodeJS.Timeout | undefined;
    answer = (request, response) => {
      request.resume();
      busy = setInterval(() => response.writeProcessing(), 50);
    };
    await expect(send([TEXT])).rejects.toMatchObject({ kind: 'away', message: 'it is too slow' });
    clearInterval(busy);
  });

  it('are digested in one pass', async () => {
    const bytes = async function* () {
      yield await Promise.resolve(TEXT);
    };
    const digests = {
      size: 17,
      adler32: expect.stringMatching(/^[0-9a-f]{8}$/),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    };
    expect(await digestsOf(bytes())).toEqual(digests);
    expect(await digestsOf(bytes(), { withMd5: true })).toEqual({
      ...digests,
      md5: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });
});
