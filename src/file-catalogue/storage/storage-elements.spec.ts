import { text } from 'node:stream/consumers';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt, UnsecuredJWT } from 'jose';
import type { AddressedElement } from '#src/registry/index.js';
import { PlayedStorage } from '../../../test/support/storage/played-storage.js';
import { ElementFault } from './element-fault.js';
import type { S3Addresses } from './s3-addresses.js';
import { StorageElements } from './storage-elements.js';

const TEXT = 'bytes of the file';
const PATH = '/vo/in/f1';

/** Mints tokens that say what was wished. */
const tokens = {
  ofService: (wishes: object) =>
    Promise.resolve(new UnsecuredJWT({ ...wishes }).encode().replace(/\.$/, '.signature')),
};
/** Signs addresses by their end. */
const s3 = {
  sign: (_element: AddressedElement, { urls: [url = ''] }: { urls: string[] }) =>
    Promise.resolve(new Map([[url, { presigned: `${url}?X-Amz-Signature=secret` }]])),
};

describe('what the service asks storage elements', () => {
  const [here, elsewhere] = [new PlayedStorage(TEXT), new PlayedStorage(TEXT)];
  let element: AddressedElement;
  let elements: StorageElements;

  beforeAll(async () => {
    await elsewhere.start();
    element = { name: 'SE-A', url: await here.start(), kind: 'webdav', vos: ['vo'] };
    elements = new StorageElements(
      ...([tokens, s3 as unknown as S3Addresses] as [never, S3Addresses]),
      { storageCa: undefined, storageTimeout: 1 },
      { now: () => Date.now() },
    );
  });
  beforeEach(() => {
    here.play();
    here.adler32 = 'ABCdef1';
    elsewhere.play();
  });
  afterAll(async () => {
    await elements?.onApplicationShutdown();
    await Promise.all([here.stop(), elsewhere.stop()]);
  });

  const read = async (options: Parameters<StorageElements['open']>[2] = {}) => {
    const opened = await elements.open(element, PATH, options);
    return opened && [opened.size, await text(opened.bytes)];
  };
  it('say nothing of whom they open to while they are busy', async () => {
    here.play((response, { headers, url }) => {
      const isOwn = JSON.stringify(decodeJwt(String(headers.authorization).slice(7))).includes(
        `"${url}"`,
      );
      response.writeHead(isOwn ? 404 : 503).end();
    });
    expect(await faultOf(elements.opensByLetters(element, '/vo/in'))).toMatchObject({
      ...{ kind: 'away', detail: 'SE-A answers 503' },
    });
    here.play((response) => response.writeHead(404).end());
    expect(await elements.opensByLetters(element, '/vo/in')).toBe(true);
  });

  const faultOf = async (work: Promise<unknown>): Promise<ElementFault> => {
    const fault = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(fault).toBeInstanceOf(ElementFault);
    return fault as ElementFault;
  };

  it('is the size and checksum of a file, by a token for it alone', async () => {
    expect(await elements.stat(element, PATH)).toEqual({ size: 17, adler32: '0abcdef1' });
    expect(here.asked.map(({ method, url }) => [method, url])).toEqual([['HEAD', PATH]]);
    expect(here.asked[0]?.rawHeaders).toContain('Authorization'); // xrootd 5.5.3 knows no other case
    expect(here.claims).toEqual([{ audience: here.origin, rights: ['read'], path: PATH }]);
    await elements.stat(element, '/vo/in/a b/f');
    expect(here.claims[1]).toMatchObject({ path: '/vo/in' });
  });

  it('is the size alone where it knows no checksum', async () => {
    here.adler32 = undefined;
    expect(await elements.stat(element, PATH)).toEqual({ size: 17 });
    const unlessWanted =
      (refuse: (response: ServerResponse) => void) =>
      (response: ServerResponse, request: IncomingMessage): void => {
        if (request.headers['want-digest'] === undefined) here.serve(response, request);
        else refuse(response);
      };
    here.play(unlessWanted((response) => response.writeHead(500).end()));
    expect(await elements.stat(element, PATH)).toEqual({ size: 17 });
    const digest = { digest: 'md5=x,adler32=01020304', 'content-length': 0 };
    here.play(unlessWanted((response) => response.writeHead(200, digest).end()));
    expect(await elements.stat(element, PATH)).toEqual({ size: 17, adler32: '01020304' });
    here.play((response) => response.writeHead(404).end());
    expect(await elements.stat(element, PATH)).toBeUndefined();
  });

  it('are the bytes, or a part of them', async () => {
    expect(await read()).toEqual([17, TEXT]);
    expect(await read({ range: { start: 9, end: 11 } })).toEqual([17, 'the']);
    expect(await read({ range: { start: 17, end: 20 } })).toEqual([17, '']);
    here.play((response) => response.writeHead(404).end('<html>'));
    expect(await read()).toBeUndefined();
  });

  it('is to remove a file, which may be gone', async () => {
    await elements.remove(element, '/vo/in/a b');
    expect(here.asked.map(({ method }) => method)).toEqual(['DELETE']);
    expect(here.claims).toMatchObject([{ rights: ['read', 'modify'], path: '/vo/in/a b' }]);
    here.play((response) => response.writeHead(404).end());
    await elements.remove(element, PATH);
    here.play((response) => response.writeHead(409).end());
    expect((await faultOf(elements.remove(element, PATH))).kind).toBe('odd');
  });

  it('goes to S3 by signed addresses, without a token', async () => {
    const bucket = { ...element, kind: 's3' as const, url: `${here.origin}/bucket` };
    expect(await elements.stat(bucket, PATH)).toMatchObject({ size: 17 });
    expect((await elements.open(bucket, PATH))?.size).toBe(17);
    await elements.remove(bucket, PATH);
    expect(
      here.asked.map(({ method, url, headers }) => [method, url, headers.authorization]),
    ).toEqual(
      ['HEAD', 'GET', 'DELETE'].map((method) => [
        ...[method, '/bucket/in/f1?X-Amz-Signature=secret', undefined],
      ]),
    );
  });

  it('follows a redirect, without the token where it leads elsewhere', async () => {
    const to = (location: string) => (response: ServerResponse, request: IncomingMessage) => {
      if (request.url === PATH) response.writeHead(307, { location }).end();
      else here.serve(response, request);
    };
    here.play(to('/pool/f1'));
    expect(await read()).toEqual([17, TEXT]);
    expect(here.claims).toHaveLength(2);
    here.play(to(`${elsewhere.origin}/pool/f1?key=x`));
    expect(await read({ range: { start: 0, end: 4 } })).toEqual([17, 'bytes']);
    expect(elsewhere.asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/pool/f1?key=x', undefined],
    ]);
    for (const nowhere of ['ftp://localhost/f', 'http://', PATH]) {
      here.play(to(nowhere));
      expect((await faultOf(read())).detail).toBe(
        'SE-A answers with a redirect that is not followed',
      );
    }
  });

  it.each<[string, string, string, PlayedStorage['answer']]>([
    ['401', 'refused', 'answers 401', (response) => response.writeHead(401).end('no')],
    ['403', 'refused', 'answers 403', (response) => response.writeHead(403).end('no')],
    ['500', 'odd', 'answers 500', (response) => response.writeHead(500).end('boom')],
    ['503', 'away', 'answers 503', (response) => response.writeHead(503).end()],
    ['another range', 'odd', 'answers 200', (response) => response.end(TEXT)],
    ['no size', 'odd', 'answers 206', (response) => response.writeHead(206).end('byt')],
    ['a cut', 'away', 'does not answer (UND_ERR_SOCKET)', (response) => response.destroy()],
    ['nothing', 'away', 'does not answer (UND_ERR_HEADERS_TIMEOUT)', () => undefined],
  ])('is a fault of the element where it answers %s', async (_what, kind, detail, answer) => {
    here.play(answer);
    const fault = await faultOf(read({ range: { start: 0, end: 2 } }));
    expect([fault.element, fault.kind, fault.detail]).toEqual(['SE-A', kind, `SE-A ${detail}`]);
    expect(fault.cause).toBeUndefined();
  });

  it('is a fault of the element where the bytes end too soon, or stop', async () => {
    const begin = (response: ServerResponse, then?: () => void): void => {
      response.writeHead(200, { 'content-length': TEXT.length }).write('bytes', then);
    };
    here.play((response) => begin(response, () => response.destroy()));
    expect((await faultOf(read())).detail).toBe('SE-A does not answer (UND_ERR_SOCKET)');
    here.play((response) => begin(response));
    expect((await faultOf(read())).detail).toBe('SE-A does not answer (UND_ERR_BODY_TIMEOUT)');
    const gone = new AbortController();
    const opened = await elements.open(element, PATH, { signal: gone.signal });
    gone.abort(new Error('gone'));
    await expect(opened && text(opened.bytes)).rejects.toThrow('gone');
  });

  it('is a fault of the settings where its CAs cannot be read', async () => {
    const others = new StorageElements(
      ...([tokens, s3 as unknown as S3Addresses] as [never, S3Addresses]),
      { storageCa: '/nothing.pem', storageTimeout: 1 },
      { now: () => Date.now() },
    );
    await expect(others.stat(element, PATH)).rejects.toThrow('(GRID_STORAGE_CA) cannot be read');
    await others.onApplicationShutdown();
  });
});
