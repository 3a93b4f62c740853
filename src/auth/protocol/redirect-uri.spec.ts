import { redirectUriFault, type Client } from '#src/registry/index.js';
import { isRegisteredRedirect, withParameters } from './redirect-uri.js';

const client: Client = {
  id: 'app',
  name: 'App',
  redirectUris: ['https://app.example/cb?x=1', 'http://127.0.0.1:7000/cb', 'http://[::1]/cb'],
  confidential: false,
  origin: 'file',
};

describe('redirect URIs', () => {
  it.each([
    ['https://app.example/cb?x=1', true],
    ['https://app.example/cb', false],
    ['https://app.example/cb?x=1&y=2', false],
    ['https://app.example:443/cb?x=1', false],
    ['https://APP.example/cb?x=1', false],
    ['http://127.0.0.1:9/cb', true],
    ['http://127.0.0.1/cb', true],
    ['http://127.0.0.1:9/cb/../cb', false],
    ['http://127.0.0.1:9/CB', false],
    ['http://127.0.0.1:9\\@evil.example/cb', false],
    ['http://127.0.0.1:9@evil.example/cb', false],
    ['http://127.0.0.1.evil.example/cb', false],
    ['http://localhost:9/cb', false],
    ['https://127.0.0.1:9/cb', false],
    ['http://[::1]:8080/cb', true],
    ['http://127.0.0.1:99999/cb', false],
  ])('%s is registered: %s', (uri, expected) => {
    expect(isRegisteredRedirect(client, uri)).toBe(expected);
  });

  it('gives confidential applications no freedom of port', () => {
    const confidential = { ...client, confidential: true };
    expect(isRegisteredRedirect(confidential, 'http://127.0.0.1:9/cb')).toBe(false);
    expect(isRegisteredRedirect(confidential, 'http://127.0.0.1:7000/cb')).toBe(true);
  });

  it.each(['#x', '\\x', ' ', '\x7f'])('gives loopback URIs that end in %j no freedom', (end) => {
    const odd = { ...client, redirectUris: [`http://127.0.0.1:7000/cb${end}`] };
    expect(isRegisteredRedirect(odd, `http://127.0.0.1:7000/cb${end}`)).toBe(true);
    expect(isRegisteredRedirect(odd, `http://127.0.0.1:9/cb${end}`)).toBe(false);
  });

  it.each([
    ['http://localhost:7000/cb', 'http://localhost:9/cb', true],
    ['http://localhost/cb', 'http://127.0.0.1/cb', false],
    ['http://127.0.0.1:1', 'http://127.0.0.1:65535', true],
    ['http://127.0.0.1:1', 'http://127.0.0.1:1/', false],
    ['http://127.0.0.1:1?a', 'http://127.0.0.1:2?a', true],
    ['http://127.0.0.1:1/a', 'http://127.0.0.1:/a', false],
    ['http://127.0.0.1:1/a', 'xhttp://127.0.0.1:2/a', false],
    ['http://127.0.0.1:1/a', 'http://127.0.0.1:000002/a', false],
    ['http://127.0.0.1:1/a', 'http://127x0.0.1:2/a', false],
    ['myapp:/cb', 'other:/cb', false],
  ])('registered as %s: %s is %s', (registered, uri, expected) => {
    const native = { ...client, redirectUris: [registered] };
    expect(isRegisteredRedirect(native, uri)).toBe(expected);
  });

  it.each([
    ['https://a.example/cb', undefined],
    ['org.example.app:/cb', undefined],
    ['http://localhost:1/cb', undefined],
    ['/cb', 'is not an absolute URI'],
    ['https://a.example/#x', 'has a fragment'],
    ['https://u:p@a.example/', 'holds a user name or password'],
    ['https://a.example/ x', 'holds a blank or control character'],
  ])('%s may be registered unless it %s', (uri, fault) => {
    expect(redirectUriFault(uri)).toBe(fault);
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'http://a.example/'])(
    'refuses to register %s',
    (uri) => expect(redirectUriFault(uri)).toBeDefined(),
  );

  it('adds parameters to the query that is there', () => {
    const parameters = { code: 'a b', state: undefined, iss: 'https://i' };
    const added = 'code=a+b&iss=https%3A%2F%2Fi';
    expect(withParameters('https://a/cb', parameters)).toBe(`https://a/cb?${added}`);
    expect(withParameters('https://a/cb?x=1', parameters)).toBe(`https://a/cb?x=1&${added}`);
    expect(withParameters('https://a/cb?', parameters)).toBe(`https://a/cb?${added}`);
    expect(withParameters('https://a/cb?x&', parameters)).toBe(`https://a/cb?x&${added}`);
  });
});
