import { Readable } from 'node:stream';
import { InvalidHeader, InvalidJSONError, InvalidURL, MissingSchema } from '../message/errors.js';
import { PreparedRequest } from '../message/messages.js';
import { Request } from './request.js';
import { Session } from './session.js';
import { useCleanEnvironment } from '../testing/clean-environment.js';
import type { RequestContent, SessionSettings } from '../message/types.js';

useCleanEnvironment();

function prepare(
  content: RequestContent & { method?: string; url?: string },
  settings: SessionSettings = {},
): Promise<PreparedRequest> {
  const { method = 'POST', url = 'http://h.test/', ...rest } = content;
  return new Session(settings).prepare_request(new Request(method, url, rest));
}

async function headersOf(content: RequestContent & { method?: string }): Promise<object> {
  const { headers } = await prepare(content);
  for (const name of ['User-Agent', 'Accept-Encoding', 'Accept', 'Connection'])
    headers.delete(name);
  return headers.toJSON();
}

describe('headers', () => {
  it('are the four defaults unless somebody says otherwise', async () => {
    expect((await prepare({ method: 'get' })).headers.toJSON()).toEqual({
      'User-Agent': 'gridgate',
      'Accept-Encoding': 'gzip, deflate, br',
      Accept: '*/*',
      Connection: 'keep-alive',
    });
  });

  it("are the session's first, then the request's, whose spelling and value win", async () => {
    const settings = { headers: { 'X-A': 's', 'X-B': 's' } };
    const { headers } = await prepare({ headers: { 'x-b': 'r', 'X-C': 'r' } }, settings);
    expect([...headers.keys()].slice(4)).toEqual(['X-A', 'x-b', 'X-C', 'Content-Length']);
    expect(headers.get('X-B')).toBe('r');
  });

  it('are left out when null, in the request in any case, or in the session', async () => {
    const session = new Session({ headers: { 'X-A': 'a' } });
    session.headers.set('Accept', null);
    const request = { method: 'GET', url: 'http://h.test/', headers: { 'x-a': null } };
    expect([...(await session.prepare_request(request)).headers.keys()]).toEqual([
      'User-Agent',
      'Accept-Encoding',
      'Connection',
    ]);
  });

  it.each([
    ['X-A', 'a\r\nX-B: b'],
    ['X-A', 'a\nb'],
    ['X-A', ' a'],
    ['X-A', '\ta'],
    ['X-A', 'a\0'],
    ['X-A', 'š'],
    ['X-A\r\n', 'a'],
    ['X A', 'a'],
    ['', 'a'],
    ['X-A', 7 as unknown as string],
  ])('%j: %j is refused', async (name, value) => {
    await expect(prepare({ headers: { [name]: value } })).rejects.toThrow(InvalidHeader);
  });
});

describe('URL', () => {
  it.each([
    ['  http://h.test', 'http://h.test/'],
    ['http://H.Test:80/%7ea/./b/../c d?x=š#f', 'http://h.test/~a/c%20d?x=%C5%A1#f'],
    ['http://bücher.test/', 'http://xn--bcher-kva.test/'],
    ['http://[::1]:8080/x', 'http://[::1]:8080/x'],
    ['mailto:someone@h.test', 'mailto:someone@h.test'],
    ['localhost:3128/x', 'localhost:3128/x'],
  ])('%s', async (url, expected) => {
    expect((await prepare({ url, method: 'GET' })).url).toBe(expected);
  });

  it.each([
    ['h.test/path', MissingSchema],
    ['/path', MissingSchema],
    ['//h.test/path', MissingSchema],
    ['', MissingSchema],
    ['http://', InvalidURL],
    ['http:///path', InvalidURL],
    ['http:h.test', InvalidURL],
    ['http://:80/', InvalidURL],
    ['http://u:p@/', InvalidURL],
    ['http://*.h.test/', InvalidURL],
    ['http://.h.test/', InvalidURL],
    ['http://h.test:port/', InvalidURL],
    ['http://h\u0000.test/', InvalidURL],
  ])('%j is refused', async (url, error) => {
    await expect(prepare({ url, method: 'GET' })).rejects.toThrow(error);
  });

  it.each(['http+unix://%2Frun%2Fd.sock/info', 'httpx:any', 'ftp://h.test/a b'])(
    '%s is left to the adapter of its scheme',
    async (url) => {
      expect((await prepare({ url })).url).toBe(url);
    },
  );

  it('is never repeated in an error', async () => {
    const failure = await prepare({ url: 'http://u:secret@:x' }).catch((error: unknown) => error);
    expect(JSON.stringify(failure) + String(failure)).not.toContain('secret');
  });
});

describe('params', () => {
  const url = 'http://h.test/p?own=1#frag';
  it.each([
    [{ a: ['1', 2, null], b: true, c: null, d: undefined }, {}, 'own=1&a=1&a=2&b=true'],
    [{ a: 'x' }, { a: 's', b: ['1', '2'] }, 'own=1&a=x&b=1&b=2'],
    [{ A: 'x', b: null }, { a: 's', b: 't' }, 'own=1&a=s&A=x'],
    [null, { a: 's' }, 'own=1&a=s'],
    ['raw=%20x', { a: 's' }, 'own=1&raw=%20x'],
    [
      [
        ['k', 'v'],
        ['k', 'w'],
      ] as [string, string][],
      { a: 's' },
      'own=1&k=v&k=w',
    ],
    [new URLSearchParams('q=a b'), { a: 's' }, 'own=1&q=a+b'],
    [{ q: "a&b=c+d e/š'()*~" }, {}, 'own=1&q=a%26b%3Dc%2Bd+e%2F%C5%A1%27%28%29%2A~'],
    [{ n: 2n ** 60n }, {}, 'own=1&n=1152921504606846976'],
  ])('%j over %j', async (params, session, query) => {
    const prepared = await prepare({ url, params }, { params: session });
    expect(prepared.url).toBe(`http://h.test/p?${query}#frag`);
  });
});

describe('body', () => {
  const FORM = 'application/x-www-form-urlencoded';
  it.each([
    ['a map', { data: { a: 'b c', l: ['1', '2'], n: null } }, 'a=b+c&l=1&l=2', FORM],
    [
      'pairs',
      {
        data: [
          ['a', '1'],
          ['a', '2'],
        ] as [string, string][],
      },
      'a=1&a=2',
      FORM,
    ],
    ['URLSearchParams', { data: new URLSearchParams('a=1&a=2') }, 'a=1&a=2', FORM],
    ['text', { data: 'täxt' }, 'täxt', undefined],
    [
      'json',
      { json: { a: [1, null], b: 2n ** 60n } },
      '{"a":[1,null],"b":1152921504606846976}',
      'application/json',
    ],
    ['json false', { json: false }, 'false', 'application/json'],
    ['json beside empty data', { data: {}, json: [] }, '[]', 'application/json'],
    ['data before json', { data: { a: '1' }, json: [] }, 'a=1', FORM],
  ])('%s', async (_name, content, body, type) => {
    const prepared = await prepare(content);
    expect(prepared.body).toBe(body);
    expect(prepared.headers.get('Content-Type')).toBe(type);
    expect(prepared.headers.get('Content-Length')).toBe(String(Buffer.byteLength(body)));
  });

  it('of bytes goes as it is', async () => {
    const data = Uint8Array.of(1, 2, 3);
    expect((await prepare({ data })).body).toBe(data);
    expect(await headersOf({ data })).toEqual({ 'Content-Length': '3' });
    expect(await headersOf({ data: data.buffer })).toEqual({ 'Content-Length': '3' });
  });

  it('of a blob has its length and type', async () => {
    const data = new Blob(['abc'], { type: 'text/css' });
    expect(await headersOf({ data })).toEqual({
      'Content-Type': 'text/css',
      'Content-Length': '3',
    });
  });

  it('of an iterable is chunked, unless its length is given', async () => {
    expect(await headersOf({ data: new Set(['a']) })).toEqual({ 'Transfer-Encoding': 'chunked' });
    expect(await headersOf({ data: new Set(['a']), headers: { 'Content-Length': '1' } })).toEqual({
      'Content-Length': '1',
    });
  });

  it.each([
    ['GET', {}],
    ['HEAD', {}],
    ['OPTIONS', { 'Content-Length': '0' }],
    ['POST', { 'Content-Length': '0' }],
    ['PUT', { 'Content-Length': '0' }],
    ['PATCH', { 'Content-Length': '0' }],
    ['DELETE', { 'Content-Length': '0' }],
  ])('is absent: %s', async (method, expected) => {
    expect(await headersOf({ method })).toEqual(expected);
  });

  it('keeps a Content-Type set by hand', async () => {
    const { headers } = await prepare({ json: {}, headers: { 'content-type': 'text/x' } });
    expect(headers.get('Content-Type')).toBe('text/x');
  });

  it.each([NaN, Infinity, -Infinity, () => 1])('refuses %p as json', async (value) => {
    const json = typeof value === 'number' ? { deep: [{ value }] } : value;
    await expect(prepare({ json })).rejects.toThrow(InvalidJSONError);
  });

  it('refuses circular json', async () => {
    const json: Record<string, unknown> = {};
    json['self'] = json;
    await expect(prepare({ json })).rejects.toThrow(InvalidJSONError);
  });
});

describe('files', () => {
  async function multipart(content: RequestContent): Promise<string> {
    const prepared = await prepare(content);
    const type = prepared.headers.get('Content-Type') ?? '';
    const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(type)?.[1] ?? '?';
    const chunks: Buffer[] = [];
    const body = prepared.body as Buffer | AsyncIterable<string>;
    if (Buffer.isBuffer(body)) {
      expect(prepared.headers.get('Content-Length')).toBe(String(body.length));
      chunks.push(body);
    } else {
      expect(prepared.headers.get('Transfer-Encoding')).toBe('chunked');
      for await (const chunk of body) chunks.push(Buffer.from(chunk));
    }
    return Buffer.concat(chunks).toString().replaceAll(boundary, 'B').replaceAll('\r\n', '\n');
  }

  it('follow the fields of data, lists repeated', async () => {
    expect(await multipart({ files: { f: 'one' }, data: { x: ['1', 2], y: null } })).toBe(
      '--B\nContent-Disposition: form-data; name="x"\n\n1\n' +
        '--B\nContent-Disposition: form-data; name="x"\n\n2\n' +
        '--B\nContent-Disposition: form-data; name="f"; filename="f"\n\none\n--B--\n',
    );
  });

  it('carry name, type and headers, with dangerous characters escaped', async () => {
    expect(
      await multipart({
        files: [['f', ['a"\r\nX: y.txt', Buffer.from('one'), 'text/plain', { 'X-Part': '1' }]]],
      }),
    ).toBe(
      '--B\nContent-Disposition: form-data; name="f"; filename="a%22%0D%0AX: y.txt"\n' +
        'Content-Type: text/plain\nX-Part: 1\n\none\n--B--\n',
    );
  });

  it('without a name are plain fields', async () => {
    expect(await multipart({ files: { f: [null, 'one'] } })).toBe(
      '--B\nContent-Disposition: form-data; name="f"\n\none\n--B--\n',
    );
  });

  it('that are streams or files are streamed', async () => {
    const content = Readable.from(['on', 'e']);
    const file = new File(['two'], 'g.css', { type: 'text/css' });
    expect(await multipart({ files: { f: content, g: file } })).toBe(
      '--B\nContent-Disposition: form-data; name="f"; filename="f"\n\none\n' +
        '--B\nContent-Disposition: form-data; name="g"; filename="g.css"\n' +
        'Content-Type: text/css\n\ntwo\n--B--\n',
    );
  });

  it('refuse data that is no form, and part headers with line breaks', async () => {
    await expect(prepare({ files: { f: 'x' }, data: 'text' })).rejects.toThrow(TypeError);
    await expect(prepare({ files: { f: ['n', 'x', 'a\r\nb'] } })).rejects.toThrow(InvalidHeader);
  });
});

describe('auth', () => {
  it('callables run last, may be async, and Content-Length follows what they do', async () => {
    const { body, headers, url } = await prepare({
      data: { a: '1' },
      auth: async (prepared) => {
        await Promise.resolve();
        prepared.body = `${prepared.body as string}&access_token=t`;
        prepared.url += '?signed=1';
      },
    });
    expect([body, headers.get('Content-Length'), url]).toEqual([
      'a=1&access_token=t',
      '18',
      'http://h.test/?signed=1',
    ]);
  });

  it('may answer another request, or be an object that attaches itself', async () => {
    const other = new PreparedRequest({ method: 'PUT', url: 'http://other.test/' });
    expect((await prepare({ auth: () => other })).method).toBe('PUT');
    const auth = { attach: (p: PreparedRequest) => void p.headers.set('X-Auth', 'yes') };
    expect((await prepare({}, { auth })).headers.get('X-Auth')).toBe('yes');
  });
});

describe('cookies', () => {
  async function cookieOf(content: RequestContent, session = new Session()): Promise<unknown> {
    session.cookies.set('s', '1', { url: 'http://h.test/' }).set('both', 'session');
    const prepared = await session.prepare_request({
      method: 'GET',
      url: 'http://h.test/',
      ...content,
    });
    return prepared.headers.get('Cookie');
  }

  it("of the request win over the session's and are not stored", async () => {
    const session = new Session();
    expect(await cookieOf({ cookies: { both: 'request', own: '2' } }, session)).toBe(
      's=1; both=request; own=2',
    );
    expect([...session.cookies]).toEqual([
      ['both', 'session'],
      ['s', '1'],
    ]);
  });

  it('leave a Cookie header set by hand alone', async () => {
    expect(await cookieOf({ headers: { cookie: 'mine=1' } })).toBe('mine=1');
  });

  it('may be a map or a jar', () => {
    const session = new Session({ cookies: { a: '1' } });
    expect(session.cookies.get('a')).toBe('1');
    session.cookies = { b: '2' };
    expect([...session.cookies]).toEqual([['b', '2']]);
    const { cookies } = session;
    session.cookies = cookies;
    expect(session.cookies).toBe(cookies);
    expect(() => {
      session.cookies = 'a=b' as unknown as null;
    }).toThrow(TypeError);
  });
});
