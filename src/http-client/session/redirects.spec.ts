import { InvalidURL } from '../message/errors.js';
import { PreparedRequest, Response } from '../message/messages.js';
import { resolveLocation } from './redirects.js';
import { Session } from './session.js';

const session = new Session();

function answered(status: number, headers: Record<string, string> = {}): Response {
  const request = new PreparedRequest({ method: 'GET', url: 'http://h.test/a' });
  return new Response({ status_code: status, url: request.url, headers, request });
}

describe('should_strip_auth', () => {
  it.each([
    ['http://h.test/a', 'http://x.h.test/', true],
    ['https://h.test/a', 'https://sub.h.test/b', true],
    ['https://h.test/a', 'http://h.test/b', true],
    ['http://h.test/a', 'https://h.test/b', false],
    ['http://h.test:80/a', 'https://h.test/b', false],
    ['http://h.test/a', 'https://h.test:443/b', false],
    ['http://h.test:8080/a', 'https://h.test/b', true],
    ['http://h.test/a', 'https://h.test:8443/b', true],
    ['http://h.test:1234/a', 'https://h.test:4321/b', true],
    ['https://h.test:443/a', 'https://h.test/b', false],
    ['https://h.test/a', 'https://h.test:443/b', false],
    ['http://h.test/a', 'http://h.test:80/b', false],
    ['http://h.test:80/a', 'http://h.test/b', false],
    ['https://h.test:8443/a', 'https://h.test:8443/b', false],
    ['https://h.test:8443/a', 'https://h.test/b', true],
    ['http://h.test:443/a', 'https://h.test:443/b', true],
    ['https://h.test:80/a', 'http://h.test:80/b', true],
    ['https://H.TEST/a', 'https://h.test/b', false],
    ['https://h.test./a', 'https://h.test/b', true],
    ['https://u:p@h.test/a', 'https://h.test/b', false],
    ['http://[::1]/a', 'http://[::1]:80/b', false],
    ['https://h.test/a', 'mailto:a@h.test', true],
    ['https://h.test/a', 'no url', true],
  ])('%s → %s: %s', (from, to, strips) => {
    expect(session.should_strip_auth(from, to)).toBe(strips);
  });
});

describe('rebuild_method', () => {
  it.each([
    [301, { GET: 'GET', HEAD: 'HEAD', POST: 'GET', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' }],
    [302, { GET: 'GET', HEAD: 'HEAD', POST: 'GET', PUT: 'GET', PATCH: 'GET', DELETE: 'GET' }],
    [303, { GET: 'GET', HEAD: 'HEAD', POST: 'GET', PUT: 'GET', PATCH: 'GET', DELETE: 'GET' }],
    [307, { GET: 'GET', HEAD: 'HEAD', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' }],
    [308, { GET: 'GET', HEAD: 'HEAD', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' }],
  ])('%i', (status, expected) => {
    const result = Object.fromEntries(
      Object.keys(expected).map((method) => {
        const prepared = new PreparedRequest({ method, url: 'http://h.test/' });
        session.rebuild_method(prepared, answered(status, { Location: '/b' }));
        return [method, prepared.method];
      }),
    );
    expect(result).toEqual(expected);
  });
});

describe('rebuild_auth', () => {
  function moved(to: string, body: string | null = null): PreparedRequest {
    const prepared = new PreparedRequest({
      method: 'POST',
      url: to,
      headers: {
        Authorization: 'Bearer t',
        DPoP: 'proof',
        'X-Api-Key': 'k',
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body,
    });
    session.rebuild_auth(prepared, answered(307, { Location: to }));
    return prepared;
  }

  it('keeps credentials within the origin', () => {
    expect(moved('http://h.test/b').headers.toJSON()).toMatchObject({
      Authorization: 'Bearer t',
      DPoP: 'proof',
    });
  });

  it('drops Authorization and DPoP on the way to another host', () => {
    expect(moved('http://other.test/b').headers.toJSON()).toEqual({
      'X-Api-Key': 'k',
      'Content-Type': 'application/x-www-form-urlencoded',
    });
  });

  it('drops the headers that the session calls secret', () => {
    session.redirect_secret_headers = ['x-api-key'];
    const { headers } = moved('http://other.test/b');
    session.redirect_secret_headers = [];
    expect(headers.has('X-Api-Key')).toBe(false);
  });

  it('takes a token out of a form body that would go to another host', () => {
    const prepared = moved('http://other.test/b', 'a=1&access_token=secret&b=2');
    expect(prepared.body).toBe('a=1&b=2');
    expect(prepared.headers.get('Content-Length')).toBe('7');
  });
});

describe('get_redirect_target', () => {
  it.each([301, 302, 303, 307, 308])('is the Location of a %i', (status) => {
    expect(session.get_redirect_target(answered(status, { Location: '/b' }))).toBe('/b');
  });

  it.each([200, 201, 300, 304, 305, 306])('is null for %i, even with a Location', (status) => {
    expect(session.get_redirect_target(answered(status, { Location: '/b' }))).toBeNull();
  });

  it('is null without or with an empty Location', () => {
    expect(session.get_redirect_target(answered(302))).toBeNull();
    expect(session.get_redirect_target(answered(302, { Location: '' }))).toBeNull();
  });

  it('reads the bytes of the header as UTF-8', () => {
    const location = Buffer.from('/š', 'utf8').toString('latin1');
    expect(session.get_redirect_target(answered(302, { Location: location }))).toBe('/š');
  });
});

describe('the URL that a Location means', () => {
  const base = 'https://h.test/dir/page?q=1';
  it.each([
    ['/x', 'https://h.test/x'],
    ['../x', 'https://h.test/x'],
    ['x', 'https://h.test/dir/x'],
    ['?y=2', 'https://h.test/dir/page?y=2'],
    ['//other.test/p', 'https://other.test/p'],
    ['http://other.test', 'http://other.test/'],
    ['/a b', 'https://h.test/a%20b'],
    ['/%7Euser%2Fx', 'https://h.test/~user%2Fx'],
    ['/100%', 'https://h.test/100%25'],
    ['/š', 'https://h.test/%C5%A1'],
    ['ftp://other.test/p', 'ftp://other.test/p'],
    ['mailto:a@b.test', 'mailto:a@b.test'],
  ])('%s', (location, url) => {
    expect(resolveLocation(location, base, '')).toBe(url);
  });

  it('inherits the latest fragment, or brings its own', () => {
    expect(resolveLocation('/x', base, 'old')).toBe('https://h.test/x#old');
    expect(resolveLocation('/x#new', base, 'old')).toBe('https://h.test/x#new');
  });

  it.each(['http://[bad', 'http://*.h.test/', 'http://.h.test/', 'http://'])(
    'refuses %s',
    (location) => {
      expect(() => resolveLocation(location, base, '')).toThrow(InvalidURL);
    },
  );
});
