import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConnectTimeout,
  InvalidProxyURL,
  ProxyError,
  Session,
  SSLError,
} from '#src/http-client/index.js';
import { useCleanEnvironment } from '#src/http-client/testing/clean-environment.js';
import { makeAuthority } from './support/certificates.js';
import { echo, listen, startServer, type Echo, type LocalServer } from './support/local-server.js';
import { startProxy, type LocalProxy } from './support/proxy.js';

const CREDENTIALS = 'user:p w';
const USERINFO = 'user:p%20w';
const BASIC = `Basic ${Buffer.from(CREDENTIALS).toString('base64')}`;

describe('requests through proxies', () => {
  useCleanEnvironment();

  let plain: LocalServer;
  let secure: LocalServer;
  let proxy: LocalProxy;
  let guarded: LocalProxy;
  let session: Session;
  let directory: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'http-proxy-'));
    const authority = await makeAuthority('Test CA');
    writeFileSync(join(directory, 'ca.pem'), authority.cert);
    plain = await startServer((request, response) => {
      const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
      if (to === null) echo(request, response);
      else response.writeHead(302, { Location: to }).end();
    });
    secure = await startServer(echo, await authority.issue('localhost', ['localhost']));
    proxy = await startProxy();
    guarded = await startProxy(CREDENTIALS);
  });

  afterAll(async () => {
    for (const started of [plain, secure, proxy, guarded]) await started.close();
    rmSync(directory, { recursive: true });
  });

  beforeEach(() => {
    session = new Session({ verify: join(directory, 'ca.pem'), use_netrc: false });
    proxy.seen.length = 0;
    guarded.seen.length = 0;
  });

  afterEach(() => session.close());

  const echoed = (response: { json(): unknown }): Echo => response.json() as Echo;

  describe('a forwarding proxy for http', () => {
    it('gets the whole URL and its own credentials, which go no further', async () => {
      const url = plain.url('/path?q=1#f');
      const response = await session.get(url, { proxies: { http: guarded.url(USERINFO) } });
      const seen = echoed(response);
      expect([seen.url, seen.headers['host']]).toEqual(['/path?q=1', `localhost:${plain.port}`]);
      expect(guarded.seen).toEqual([
        { line: `GET http://localhost:${plain.port}/path?q=1`, authorization: BASIC },
      ]);
    });

    it('that refuses answers 407', async () => {
      const response = await session.get(plain.url('/'), { proxies: { http: guarded.url() } });
      expect([response.status_code, response.text]).toEqual([407, 'credentials needed']);
    });

    it('that is away is a ProxyError', async () => {
      const gone = await startProxy();
      await gone.close();
      await expect(session.get(plain.url('/'), { proxies: { http: gone.url() } })).rejects.toThrow(
        ProxyError,
      );
    });
  });

  describe('a tunnel for https', () => {
    it('is opened with the credentials, which the server never sees', async () => {
      const proxies = { https: guarded.url(USERINFO) };
      const headers = { 'Proxy-Authorization': 'set by hand', Authorization: 'Bearer t' };
      const seen = echoed(await session.get(secure.url('/'), { proxies, headers }));
      expect(guarded.seen).toEqual([
        { line: `CONNECT localhost:${secure.port}`, authorization: BASIC },
      ]);
      expect(seen.headers['proxy-authorization']).toBeUndefined();
      expect(seen.headers['authorization']).toBe('Bearer t');
    });

    it('that is refused is a ProxyError with the status', async () => {
      const proxies = { https: guarded.url() };
      await expect(session.get(secure.url('/'), { proxies })).rejects.toThrow(ProxyError);
      await expect(session.get(secure.url('/'), { proxies })).rejects.toThrow(/answered 407/);
    });

    it('still has the certificate of the server checked', async () => {
      const proxies = { https: proxy.url() };
      await expect(session.get(secure.url('/'), { proxies, verify: true })).rejects.toThrow(
        SSLError,
      );
      const url = secure.url('/', '127.0.0.1');
      await expect(session.get(url, { proxies })).rejects.toThrow(SSLError);
    });

    it('through a proxy that is away is a ProxyError, through a mute one a ConnectTimeout', async () => {
      const gone = await startProxy();
      await gone.close();
      const proxies = { https: gone.url() };
      await expect(session.get(secure.url('/'), { proxies })).rejects.toThrow(ProxyError);
      const mute = await listen(createServer());
      await expect(
        session.get(secure.url('/'), {
          proxies: { https: `http://127.0.0.1:${mute.port}` },
          timeout: [0.1, null],
        }),
      ).rejects.toThrow(ConnectTimeout);
      await mute.close();
    });
  });

  describe('the choice of a proxy', () => {
    it.each([
      ['of the session', () => (session.proxies = { all: proxy.url() })],
      ['of the environment', () => (process.env['http_proxy'] = proxy.url())],
      ['of the environment for all', () => (process.env['ALL_PROXY'] = proxy.url())],
    ])('%s is used', async (_name, choose) => {
      choose();
      await session.get(plain.url('/'));
      expect(proxy.seen.length).toBe(1);
    });

    it.each(['localhost', '.localhost', `localhost:PORT`, '*', '127.0.0.0/8,localhost'])(
      'is none under no_proxy=%s, except that of the call',
      async (list) => {
        process.env['http_proxy'] = proxy.url();
        process.env['no_proxy'] = list.replace('PORT', String(plain.port));
        await session.get(plain.url('/'));
        expect(proxy.seen.length).toBe(0);
        await session.get(plain.url('/'), { proxies: { http: proxy.url() } });
        expect(proxy.seen.length).toBe(1);
      },
    );

    it('is made anew for every redirect', async () => {
      process.env['http_proxy'] = guarded.url(USERINFO);
      process.env['no_proxy'] = '127.0.0.1';
      const to = encodeURIComponent(plain.url('/direct', '127.0.0.1'));
      const response = await session.get(plain.url(`/?to=${to}`));
      expect(guarded.seen.length).toBe(1);
      expect(echoed(response).headers['proxy-authorization']).toBeUndefined();
    });

    it.each(['http://', 'socks5://127.0.0.1:1'])('refuses %s', async (http) => {
      await expect(session.get(plain.url('/'), { proxies: { http } })).rejects.toThrow(
        InvalidProxyURL,
      );
    });
  });
});
