import { Session } from '../session/session.js';
import { useCleanEnvironment } from '../testing/clean-environment.js';

const URL_ = 'http://h.test/';

describe('merge_environment_settings', () => {
  useCleanEnvironment();

  it('answers the session settings when nothing else speaks', () => {
    const session = new Session({ verify: '/ca.pem', cert: ['/c', '/k'], stream: true });
    expect(session.merge_environment_settings(URL_)).toEqual({
      proxies: {},
      stream: true,
      verify: '/ca.pem',
      cert: ['/c', '/k'],
    });
  });

  it('lets the call win over the session', () => {
    const session = new Session({ verify: false, cert: '/c', stream: true });
    expect(
      session.merge_environment_settings(URL_, { http: 'http://p' }, false, true, '/other'),
    ).toEqual({ proxies: { http: 'http://p' }, stream: false, verify: true, cert: '/other' });
  });

  it('merges proxies per key: call, environment, session', () => {
    process.env['http_proxy'] = 'http://env-http';
    process.env['HTTPS_PROXY'] = 'http://env-https';
    const session = new Session({ proxies: { http: 'http://session', all: 'http://session-all' } });
    expect(session.merge_environment_settings(URL_, { https: 'http://call' }).proxies).toEqual({
      https: 'http://call',
      http: 'http://env-http',
      all: 'http://session-all',
    });
  });

  it('removes a lower layer by null', () => {
    process.env['http_proxy'] = 'http://env';
    const session = new Session({ proxies: { http: 'http://session' } });
    expect(session.merge_environment_settings(URL_, { http: null }).proxies).toEqual({});
  });

  it('keeps only the proxies of the call for a URL that no_proxy covers', () => {
    process.env['http_proxy'] = 'http://env';
    process.env['no_proxy'] = 'h.test';
    const session = new Session({ proxies: { https: 'http://session' } });
    expect(session.merge_environment_settings(URL_).proxies).toEqual({});
    expect(session.merge_environment_settings(URL_, { http: 'http://call' }).proxies).toEqual({
      http: 'http://call',
    });
  });

  it('honours a no_proxy entry among the proxies', () => {
    const session = new Session({ proxies: { http: 'http://session', no_proxy: 'h.test' } });
    expect(session.merge_environment_settings(URL_).proxies).toEqual({});
  });

  it('ignores HTTP_PROXY, but not http_proxy, in a CGI process', () => {
    process.env['HTTP_PROXY'] = 'http://upper';
    process.env['REQUEST_METHOD'] = 'GET';
    expect(new Session().merge_environment_settings(URL_).proxies).toEqual({});
    process.env['http_proxy'] = 'http://lower';
    expect(new Session().merge_environment_settings(URL_).proxies).toEqual({
      http: 'http://lower',
    });
  });

  it.each([
    ['null', null, true, { REQUESTS_CA_BUNDLE: '/r', CURL_CA_BUNDLE: '/c' }, '/r'],
    ['null, false of the session', null, false, { REQUESTS_CA_BUNDLE: '/r' }, false],
    ['null, a path of the session', null, '/session', { CURL_CA_BUNDLE: '/c' }, '/session'],
    ['true', true, false, { CURL_CA_BUNDLE: '/c' }, '/c'],
    ['true, empty bundle', true, true, { REQUESTS_CA_BUNDLE: '', CURL_CA_BUNDLE: '/c' }, '/c'],
    ['false', false, true, { REQUESTS_CA_BUNDLE: '/r' }, false],
    ['a path', '/own', true, { REQUESTS_CA_BUNDLE: '/r' }, '/own'],
    ['null, no bundle', null, '/session', {}, '/session'],
  ])('verify of the call %s', (...[, call, session, env, expected]) => {
    Object.assign(process.env, env);
    const merged = new Session({ verify: session }).merge_environment_settings(
      URL_,
      null,
      null,
      call,
    );
    expect(merged.verify).toBe(expected);
  });

  it('takes nothing from the environment without trust_env', () => {
    Object.assign(process.env, { http_proxy: 'http://env', REQUESTS_CA_BUNDLE: '/r' });
    const session = new Session({ trust_env: false });
    expect(session.merge_environment_settings(URL_)).toEqual({
      proxies: {},
      stream: false,
      verify: true,
      cert: null,
    });
  });
});
