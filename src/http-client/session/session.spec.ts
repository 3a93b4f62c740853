import { InvalidSchema, InvalidURL, SSLError, TooManyRedirects } from '../message/errors.js';
import { PreparedRequest, Response } from '../message/messages.js';
import { Session } from './session.js';
import { useCleanEnvironment } from '../testing/clean-environment.js';
import { ScriptedAdapter, type ScriptedAnswer } from '../testing/scripted-adapter.js';
import type { SessionSettings } from '../message/types.js';

useCleanEnvironment();

function scripted(
  script: Record<string, ScriptedAnswer>,
  settings: SessionSettings = {},
): { session: Session; adapter: ScriptedAdapter } {
  const session = new Session(settings);
  const adapter = new ScriptedAdapter(script);
  session.mount('https://', adapter);
  session.mount('http://', adapter);
  return { session, adapter };
}

const to = (Location: string, status_code = 302): ScriptedAnswer => ({
  status_code,
  headers: { Location },
});

describe('settings', () => {
  it('have the defaults of the interface', () => {
    const { auth, cert, max_redirects, params, proxies, stream, trust_env, verify, hooks } =
      new Session();
    expect({
      auth,
      cert,
      max_redirects,
      params,
      proxies,
      stream,
      trust_env,
      verify,
      hooks,
    }).toEqual({
      auth: null,
      cert: null,
      max_redirects: 30,
      params: {},
      proxies: {},
      stream: false,
      trust_env: true,
      verify: true,
      hooks: { response: [] },
    });
  });

  it('reach the adapter, those of the call first', async () => {
    const { session, adapter } = scripted({}, { verify: '/ca', cert: '/c', default_timeout: 5 });
    const signal = new AbortController().signal;
    await session.get('https://h.test/');
    await session.get('https://h.test/', {
      timeout: [1, null],
      verify: '/other',
      cert: ['/c', '/k'],
      stream: true,
      max_response_bytes: 9,
      signal,
    });
    await session.get('https://h.test/', { timeout: null, verify: true });
    expect(adapter.seen.map((call) => call.options)).toEqual([
      { ...NOTHING, timeout: 5, verify: '/ca', cert: '/c' },
      {
        ...NOTHING,
        timeout: [1, null],
        verify: '/other',
        cert: ['/c', '/k'],
        stream: true,
        max_response_bytes: 9,
        signal,
      },
      { ...NOTHING, cert: '/c' },
    ]);
  });

  it.each([0, -1, NaN, [1, 0] as const])('refuse the timeout %p', async (timeout) => {
    const { session } = scripted({});
    await expect(session.get('http://h.test/', { timeout })).rejects.toThrow(RangeError);
  });

  it('refuse to switch off TLS checks in production, unless that is forced', async () => {
    process.env['NODE_ENV'] = 'production';
    const { session } = scripted({}, { verify: false });
    await expect(session.get('https://h.test/')).rejects.toThrow(SSLError);
    session.allow_insecure_tls = true;
    expect((await session.get('https://h.test/')).status_code).toBe(200);
  });
});

const NOTHING = {
  timeout: null,
  proxies: {},
  stream: false,
  verify: true,
  cert: null,
  signal: null,
  max_response_bytes: null,
  deadline: null,
};

describe('verbs', () => {
  it.each(['get', 'options', 'post', 'put', 'patch', 'delete'] as const)(
    '%s follows redirects',
    async (verb) => {
      const { session, adapter } = scripted({ '/a': to('/b', 307) });
      const response = await session[verb]('http://h.test/a');
      expect(adapter.seen.map((c) => c.method)).toEqual([verb.toUpperCase(), verb.toUpperCase()]);
      expect(response.url).toBe('http://h.test/b');
    },
  );

  it('head does not, unless asked', async () => {
    const { session } = scripted({ '/a': to('/b') });
    expect((await session.head('http://h.test/a')).status_code).toBe(302);
    expect((await session.head('http://h.test/a', { allow_redirects: true })).status_code).toBe(
      200,
    );
  });
});

describe('adapters', () => {
  it('are found by the longest prefix in any case', () => {
    const session = new Session();
    const [a, b, c] = [new ScriptedAdapter(), new ScriptedAdapter(), new ScriptedAdapter()];
    session.mount('https://h.test', a);
    session.mount('HTTPS://h.test/deep/', b);
    session.mount('custom://', c);
    expect(session.get_adapter('https://H.test/x')).toBe(a);
    expect(session.get_adapter('https://h.test.evil.test/')).toBe(a);
    expect(session.get_adapter('https://h.test/DEEP/x')).toBe(b);
    expect(session.get_adapter('custom:///x')).toBe(c);
    session.mount('https://h.test', c);
    expect(session.get_adapter('https://h.test/x')).toBe(c);
  });

  it('are missing for other schemes', async () => {
    const session = new Session();
    expect(() => session.get_adapter('ftp://h.test/')).toThrow(InvalidSchema);
    await expect(session.get('localhost:8080/x')).rejects.toThrow(InvalidSchema);
    await expect(session.get('mailto:x@h.test')).rejects.toThrow(InvalidSchema);
  });

  it('are closed once each with the session', async () => {
    const { session, adapter } = scripted({});
    await session.close();
    expect(adapter.closed).toBe(1);
  });

  it('get only prepared requests', async () => {
    const { session } = scripted({});
    const plain = { method: 'GET', url: 'http://h.test/' } as unknown as PreparedRequest;
    await expect(session.send(plain)).rejects.toThrow(TypeError);
  });
});

describe('redirects', () => {
  it('collect their history, each without itself', async () => {
    const { session } = scripted({ '/1': to('/2'), '/2': to('/3', 301), '/3': to('/4', 303) });
    const response = await session.get('http://h.test/1');
    expect(response.history.map((r) => r.url)).toEqual([
      'http://h.test/1',
      'http://h.test/2',
      'http://h.test/3',
    ]);
    expect(response.history.map((r) => r.history.length)).toEqual([0, 1, 2]);
    expect(response.next).toBeNull();
  });

  it('end after max_redirects with the last response', async () => {
    const { session, adapter } = scripted({ '*': to('/again') });
    const failure = await session.get('http://h.test/').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TooManyRedirects);
    expect((failure as TooManyRedirects).response?.history.length).toBe(30);
    expect(adapter.seen.length).toBe(31);
  });

  it('are all refused by max_redirects 0, but may still be looked at', async () => {
    const { session } = scripted({ '/a': to('/b') }, { max_redirects: 0 });
    await expect(session.get('http://h.test/a')).rejects.toThrow(TooManyRedirects);
    const response = await session.get('http://h.test/a', { allow_redirects: false });
    expect(response.next?.url).toBe('http://h.test/b');
  });

  it.each([
    ['ftp://h.test/', InvalidSchema],
    ['mailto:a@h.test', InvalidSchema],
    ['http://[bad', InvalidURL],
  ])('to %s fail when followed, and are no fault when not', async (location, error) => {
    const { session } = scripted({ '*': to(location) });
    await expect(session.get('http://h.test/')).rejects.toThrow(error);
    const response = await session.get('http://h.test/', { allow_redirects: false });
    expect(response.status_code).toBe(302);
  });

  it('answer the next request instead when they are not followed', async () => {
    const { session } = scripted({ '/a': to('http://other.test/b', 303) });
    const { next } = await session.post('http://h.test/a', {
      data: { a: '1' },
      headers: { Authorization: 'Bearer t' },
      allow_redirects: false,
    });
    expect([next?.method, next?.url, next?.body]).toEqual(['GET', 'http://other.test/b', null]);
    for (const name of ['Authorization', 'Content-Length', 'Content-Type']) {
      expect(next?.headers.has(name)).toBe(false);
    }
    if (next) expect((await session.send(next)).url).toBe('http://other.test/b');
  });

  it('drop the body and its headers except for 307 and 308', async () => {
    for (const [status, body] of [
      [301, null],
      [302, null],
      [303, null],
      [307, 'a=1'],
      [308, 'a=1'],
    ] as const) {
      const { session, adapter } = scripted({ '/a': to('http://other.test/b', status) });
      await session.put('http://h.test/a', { data: { a: '1' } });
      const last = adapter.seen[1];
      expect([last?.body, last?.headers['Content-Type'] !== undefined]).toEqual([
        body,
        body !== null,
      ]);
    }
  });

  it('do not apply params and auth again', async () => {
    const { session, adapter } = scripted({ '/a': to('/b') });
    let calls = 0;
    await session.get('http://h.test/a', { params: { t: '1' }, auth: () => void (calls += 1) });
    expect(adapter.seen.map((c) => c.url)).toEqual(['http://h.test/a?t=1', 'http://h.test/b']);
    expect(calls).toBe(1);
  });

  it('keep fragments, the latest one', async () => {
    const { session } = scripted({ '/1': to('/2'), '/2': to('/3#new'), '/3': to('/4') });
    const response = await session.get('http://h.test/1#old');
    expect([...response.history, response].map((r) => r.url)).toEqual([
      'http://h.test/1#old',
      'http://h.test/2#old',
      'http://h.test/3#new',
      'http://h.test/4#new',
    ]);
  });

  it('store cookies of every hop and rebuild the Cookie header', async () => {
    const { session, adapter } = scripted({
      '/1': { ...to('/2'), set_cookies: ['a=1; Path=/', 'gone=1; Path=/'] },
      '/2': { ...to('http://other.test/3'), set_cookies: ['gone=; Path=/; Max-Age=0'] },
    });
    await session.get('http://h.test/1', { headers: { Cookie: 'by=hand' }, cookies: { own: '1' } });
    expect(adapter.seen.map((c) => c.headers['Cookie'])).toEqual([
      'by=hand',
      'a=1; gone=1; own=1',
      undefined,
    ]);
    expect([...session.cookies]).toEqual([['a', '1']]);
  });

  it.each([
    ['another host', 'https://other.test/2', 'https://other.test/3', [undefined, undefined]],
    ['another port', 'https://h.test:8443/2', 'https://h.test:8443/3', [undefined, undefined]],
    ['plain http', 'http://h.test/2', 'http://h.test/3', [undefined, undefined]],
    [
      'another host and back',
      'https://other.test/2',
      'https://h.test/3',
      [undefined, 's=1; own=2'],
    ],
    ['the same host', 'https://h.test/2', '/3', ['s=1; own=2', 's=1; own=2']],
  ])('keep cookies set by hand from %s', async (_name, second, third, expected) => {
    const { session, adapter } = scripted({ '/1': to(second), '/2': to(third) });
    session.cookies = { s: '1' };
    await session.get('https://h.test/1', { cookies: { own: '2' } });
    expect(adapter.seen.map((c) => c.headers['Cookie'])).toEqual(['s=1; own=2', ...expected]);
  });

  it('choose proxies anew at each hop', async () => {
    Object.assign(process.env, { http_proxy: 'http://env', no_proxy: 'near.test' });
    const { session, adapter } = scripted({
      '/1': to('http://near.test/2'),
      '/2': to('http://far.test/3'),
    });
    await session.get('http://h.test/1');
    await session.get('http://h.test/1', { proxies: { http: 'http://call' } });
    expect(adapter.seen.map((c) => c.options.proxies)).toEqual([
      { http: 'http://env' },
      {},
      { http: 'http://env' },
      ...Array.from({ length: 3 }, () => ({ http: 'http://call' })),
    ]);
  });

  it('can be walked one by one', async () => {
    const { session } = scripted({ '/1': to('/2'), '/2': to('/3') });
    const response = await session.get('http://h.test/1', { allow_redirects: false });
    const urls: string[] = [];
    for await (const hop of session.resolve_redirects(response, response.request)) {
      urls.push(hop.url);
    }
    expect(urls).toEqual(['http://h.test/2', 'http://h.test/3']);
    for await (const request of session.resolve_redirects(response, response.request, {
      yield_requests: true,
    })) {
      expect(request).toBeInstanceOf(PreparedRequest);
    }
  });
});

describe('hooks', () => {
  it('run on every hop in order, see the settings, and may replace the response', async () => {
    const { session } = scripted({ '/a': to('/b') });
    const seen: string[] = [];
    session.hooks = {
      response: [
        async (response, settings) => {
          await Promise.resolve();
          seen.push(`${response.status_code} ${String(settings.timeout)}`);
        },
        (response) =>
          response.status_code === 200
            ? new Response({
                status_code: 201,
                url: response.url,
                request: response.request,
                content: 'mine',
              })
            : undefined,
      ],
    };
    const response = await session.get('http://h.test/a', { timeout: 3 });
    expect(seen).toEqual(['302 3', '200 3']);
    expect([response.status_code, response.text]).toEqual([201, 'mine']);
  });

  it("of the request replace the session's; an empty list means the session's", async () => {
    const seen: string[] = [];
    const { session } = scripted({}, { hooks: { response: () => void seen.push('session') } });
    await session.get('http://h.test/', { hooks: { response: () => void seen.push('request') } });
    await session.get('http://h.test/', { hooks: { response: [] } });
    expect(seen).toEqual(['request', 'session']);
  });

  it('know no other event', () => {
    expect(() => new Session({ hooks: { request: [] } as object })).toThrow(TypeError);
  });
});
