import {
  mergeOptions,
  REQUEST_KEYWORDS,
  requestOptions,
  verbOptions,
} from './request-arguments.js';
import type { Verb } from './request-arguments.js';

const KEYWORDS = [
  ...['headers', 'params', 'data', 'json', 'files', 'auth', 'cookies', 'hooks', 'timeout'],
  ...['allow_redirects', 'proxies', 'stream', 'verify', 'cert'],
  ...['signal', 'max_response_bytes', 'deadline', 'use_netrc'],
];

describe('arguments of request', () => {
  it('have the names of the interface, and no others', () => {
    expect([...REQUEST_KEYWORDS].sort()).toEqual([...KEYWORDS].sort());
    const all = Object.fromEntries(KEYWORDS.map((name) => [name, null]));
    expect(requestOptions([all], REQUEST_KEYWORDS)).toEqual(all);
    expect(() => requestOptions([{ timeuot: 1 }], REQUEST_KEYWORDS)).toThrow(/^request\b.*timeuot/);
    expect(() => requestOptions(['x'], REQUEST_KEYWORDS)).toThrow(TypeError);
  });
});

describe('arguments of the verbs', () => {
  it.each<[Verb, unknown[], object]>([
    ['GET', [{ timeout: 5 }], { timeout: 5 }],
    ['OPTIONS', [{ timeout: 5 }], { timeout: 5 }],
    ['DELETE', [{ timeout: 5 }], { timeout: 5 }],
    ['HEAD', [], { allow_redirects: false }],
    ['HEAD', [{ allow_redirects: true }], { allow_redirects: true }],
    ['PUT', ['d', { timeout: 5 }], { data: 'd', timeout: 5 }],
    ['PATCH', ['d', { timeout: 5 }], { data: 'd', timeout: 5 }],
    ['POST', ['d'], { data: 'd' }],
    ['POST', [null, { a: 1 }], { data: null, json: { a: 1 } }],
    ['POST', ['', { a: 1 }], { data: '', json: { a: 1 } }],
    ['POST', [{ data: 'd', json: 3 }], { data: 'd', json: 3 }],
    ['POST', ['d', null, { timeout: 5 }], { data: 'd', json: null, timeout: 5 }],
  ])('%s%j is %j', (verb, given, options) => {
    expect(verbOptions(verb, given, REQUEST_KEYWORDS)).toEqual(options);
  });

  it.each<[Verb, unknown[]]>([
    ['GET', ['d']],
    ['DELETE', ['d']],
    ['PUT', ['d', 'j']],
    ['PATCH', ['d', 'j']],
    ['POST', ['d', { a: 1 }, 'x']],
  ])('%s refuses %j, of which something would not be sent', (verb, given) => {
    const attempt = () => verbOptions(verb, given, REQUEST_KEYWORDS);
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow(new RegExp(`^${verb.toLowerCase()}\\b`));
  });

  it('refuse JSON beside data, of which only one is sent', () => {
    expect(() => verbOptions('POST', ['d', { a: 1 }], REQUEST_KEYWORDS)).toThrow(
      new TypeError('post: json is not sent beside data'),
    );
  });
});

describe('arguments of merge_environment_settings', () => {
  it('stand in their order, each of its kind', () => {
    const proxies = { https: 'http://p' };
    expect(mergeOptions([proxies, true, '/ca', ['/c', '/k']])).toEqual({
      proxies,
      stream: true,
      verify: '/ca',
      cert: ['/c', '/k'],
    });
    expect(mergeOptions([proxies, false, false, '/c'])).toEqual({
      proxies,
      stream: false,
      verify: false,
      cert: '/c',
    });
    expect(mergeOptions([])).toEqual({});
  });

  it.each([
    [['p']],
    [[null, 'yes']],
    [[null, null, 3]],
    [[null, null, null, 3]],
    [[null, null, null, null, 'x']],
  ])('refuse %j', (given) => {
    expect(() => mergeOptions(given)).toThrow(TypeError);
    expect(() => mergeOptions(given)).toThrow(/^merge_environment_settings: /);
  });
});
