import { InvalidProxyURL } from './errors.js';
import { PreparedRequest } from './messages.js';
import { parseProxyUrl, select_proxy, should_bypass_proxies } from './proxies.js';
import { Session } from '../session/session.js';
import { useCleanEnvironment } from '../testing/clean-environment.js';

useCleanEnvironment();

describe('select_proxy', () => {
  const proxies = {
    http: 'http://http.proxy',
    'http://some.host': 'http://some.host.proxy',
    all: 'http://all.proxy',
    'all://some.host': 'http://some.host.all',
  };
  it.each([
    ['http://u:p@Some.Host/path', proxies, 'http://some.host.proxy'],
    ['http://other.host/', proxies, 'http://http.proxy'],
    ['https://some.host/', proxies, 'http://some.host.all'],
    ['https://other.host/', proxies, 'http://all.proxy'],
    ['http:///path', proxies, 'http://http.proxy'],
    ['https:///path', proxies, 'http://all.proxy'],
    ['file:///etc/motd', proxies, 'http://all.proxy'],
    ['https://other.host/', { http: 'http://p' }, undefined],
    ['https://other.host/', {}, undefined],
    ['http://other.host/', { http: null, all: 'http://p' }, undefined],
  ])('%s', (url, map, expected) => {
    expect(select_proxy(url, map)).toBe(expected);
  });
});

describe('should_bypass_proxies', () => {
  it.each([
    ['192.168.0.0/24', 'http://192.168.0.1/', true],
    ['192.168.0.0/24', 'http://192.168.0.1:5000/', true],
    ['192.168.0.0/24', 'http://192.168.1.1/', false],
    ['172.16.1.1', 'http://172.16.1.1:5000/', true],
    ['10.0.0.5:80', 'http://10.0.0.5:80/', false],
    ['10.0.0.0/33', 'http://10.0.0.1/', false],
    ['10.0.0.0/0', 'http://10.0.0.1/', false],
    ['10.0.0.1/32', 'http://10.0.0.1/', true],
    ['host.test', 'http://host.test/', true],
    ['host.test', 'http://a.host.test:81/', true],
    ['.host.test', 'http://host.test/', true],
    ['.host.test', 'http://a.host.test/', true],
    ['host.test', 'http://prehost.test/', false],
    ['host.test:1234', 'http://host.test:1234/', true],
    ['host.test:1234', 'http://www.host.test:1234/', true],
    ['host.test:1234', 'http://host.test/', false],
    ['host.test:1234', 'http://host.test:1235/', false],
    ['HOST.test', 'http://host.test/', true],
    ['host.test', 'http://Host.Test/', true],
    ['*.host.test', 'http://a.host.test/', true],
    ['*.host.test', 'http://prehost.test/', false],
    ['*', 'http://anything.test/', true],
    ['::1', 'http://[::1]/', true],
    ['[::1]', 'http://[::1]:8080/', true],
    ['fd00::/8', 'http://[fd12::1]/', true],
    ['fd00::/8', 'http://[fe80::1]/', false],
    ['::/0', 'http://[fd12::1]/', false],
    ['', 'http://host.test/', false],
    [',', 'http://host.test/', false],
    [' other.test , host.test ', 'http://host.test/', true],
    ['127.0.0.1', 'http://127.1/', false],
    ['host.test', 'http://u:p@host.test/', true],
    ['good.test', 'http://good.test:@evil.test/', false],
    ['anything', 'file:///etc/motd', true],
  ])('%s covers %s: %s', (list, url, expected) => {
    expect(should_bypass_proxies(url, list)).toBe(expected);
  });

  it('takes the list from the environment, lower case first', () => {
    process.env['NO_PROXY'] = 'upper.test';
    expect(should_bypass_proxies('http://upper.test/')).toBe(true);
    process.env['no_proxy'] = 'lower.test';
    expect(should_bypass_proxies('http://upper.test/')).toBe(false);
    expect(should_bypass_proxies('http://lower.test/')).toBe(true);
    expect(should_bypass_proxies('http://lower.test/', 'argument.test')).toBe(false);
  });
});

describe('proxy URLs', () => {
  it('without a scheme mean http', () => {
    expect(parseProxyUrl('proxy.test:3128').href).toBe('http://proxy.test:3128/');
    expect(parseProxyUrl('//proxy.test').href).toBe('http://proxy.test/');
  });

  it.each(['http:///x:1', 'http://', 'socks5://proxy.test', 'http://[bad'])('refuses %s', (url) => {
    expect(() => parseProxyUrl(url)).toThrow(InvalidProxyURL);
  });
});

describe('rebuild_proxies', () => {
  const secret = `Basic ${Buffer.from('u:p w').toString('base64')}`;
  function prepared(url: string): PreparedRequest {
    return new PreparedRequest({ method: 'GET', url, headers: { 'Proxy-Authorization': 'old' } });
  }

  it('sets Proxy-Authorization for http from the proxy URL', () => {
    const request = prepared('http://h.test/');
    const proxies = new Session().rebuild_proxies(request, { http: 'http://u:p%20w@proxy.test' });
    expect(proxies).toEqual({ http: 'http://u:p%20w@proxy.test' });
    expect(request.headers.toJSON()).toEqual({ 'Proxy-Authorization': secret });
  });

  it('leaves the credentials to CONNECT for https', () => {
    const request = prepared('https://h.test/');
    new Session().rebuild_proxies(request, { https: 'http://u:p@proxy.test' });
    expect(request.headers.toJSON()).toEqual({});
  });

  it('fills in what is missing from the environment', () => {
    process.env['http_proxy'] = 'http://env.test';
    process.env['all_proxy'] = 'http://all.test';
    const session = new Session();
    expect(session.rebuild_proxies(prepared('http://h.test/'))).toEqual({
      http: 'http://env.test',
    });
    expect(session.rebuild_proxies(prepared('https://h.test/'))).toEqual({
      https: 'http://all.test',
    });
    expect(session.rebuild_proxies(prepared('http://h.test/'), { http: 'http://own' })).toEqual({
      http: 'http://own',
    });
  });

  it('does not look at the environment without trust_env', () => {
    process.env['http_proxy'] = 'http://env.test';
    process.env['no_proxy'] = '*';
    const session = new Session({ trust_env: false });
    expect(session.rebuild_proxies(prepared('http://h.test/'), { all: 'http://p' })).toEqual({
      all: 'http://p',
    });
  });

  it('drops the proxies of a URL that no_proxy covers, except those of the call itself', () => {
    process.env['no_proxy'] = 'h.test';
    const session = new Session();
    const request = prepared('http://h.test/');
    expect(session.rebuild_proxies(request, { http: 'http://u:p@proxy.test' })).toEqual({});
    expect(request.headers.has('Proxy-Authorization')).toBe(false);
    const call = { http: 'http://mine.test' };
    expect(session.rebuild_proxies(request, call, call)).toEqual(call);
  });
});
