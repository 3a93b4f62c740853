import { setUp } from './testing/set-up.js';

describe('create_authorization_url', () => {
  const AUTH = 'https://as.test/auth?x=1';

  it('keeps the query of the URL first and generates a state', async () => {
    const { client } = setUp({ redirect_uri: 'https://me.test/cb', scope: ['a', 'b+c'] });
    const [url, state] = await client.create_authorization_url(AUTH);
    expect(state).toMatch(/^[A-Za-z0-9]{30}$/);
    expect(url).toBe(
      `${AUTH}&response_type=code&client_id=me&redirect_uri=https%3A%2F%2Fme.test%2Fcb&scope=a+b%2Bc&state=${state}`,
    );
  });

  it.each([
    ['an empty state is left out', { state: '' }, 'response_type=code&client_id=me'],
    [
      'extras: null drops, 0 and empty stay',
      { state: 's', max_age: 0, a: null, b: '' },
      'response_type=code&client_id=me&state=s&max_age=0&b=',
    ],
    [
      'lists repeat the key',
      { state: 's', resource: ['a', 'b'] },
      'response_type=code&client_id=me&state=s&resource=a&resource=b',
    ],
    [
      'another response_type',
      { state: 's', response_type: 'code id_token' },
      'response_type=code+id_token&client_id=me&state=s',
    ],
  ])('%s', async (_name, options, query) => {
    const { client } = setUp();
    const [url] = await client.create_authorization_url('https://as.test/auth', options);
    expect(url).toBe(`https://as.test/auth?${query}`);
  });

  it('adds the S256 challenge of RFC 7636 appendix B', async () => {
    const { client } = setUp();
    const [url] = await client.create_authorization_url('https://as.test/auth', {
      state: 's',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    });
    expect(url).toContain('code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
    expect(url).toContain('code_challenge_method=S256');
  });

  it.each([
    ['taken from the metadata', {}, '&prompt=login'],
    ['suppressed by null', { prompt: null }, ''],
  ])('prompt is %s', async (_name, options, tail) => {
    const { client } = setUp({ prompt: 'login' });
    const [url] = await client.create_authorization_url('https://as.test/a', {
      state: 's',
      ...options,
    });
    expect(url).toBe(`https://as.test/a?response_type=code&client_id=me&state=s${tail}`);
  });

  it.each([
    ['plain http', 'http://as.test/auth', {}, 'insecure_transport'],
    [
      'a false loopback',
      'http://localhost:80@evil.test/',
      { allowInsecureLoopback: true },
      'insecure_transport',
    ],
    ['no URL', '/auth', {}, 'insecure_transport'],
    ['a fragment', 'https://as.test/auth#x', {}, 'configuration_error'],
  ])('refuses %s', async (_name, url, options, code) => {
    const { client } = setUp(options);
    await expect(client.create_authorization_url(url)).rejects.toMatchObject({ error: code });
  });

  it.each(['http://localhost:1/', 'http://127.0.0.1/', 'http://[::1]:9/'])(
    'admits %s with allowInsecureLoopback',
    async (url) => {
      const { client } = setUp({ allowInsecureLoopback: true });
      expect((await client.create_authorization_url(url, { state: 's' }))[1]).toBe('s');
    },
  );

  it('pushes the request where the server requires it', async () => {
    const { client, adapter } = setUp(
      {
        require_pushed_authorization_requests: true,
        pushed_authorization_request_endpoint: 'https://as.test/par',
      },
      { status: 201, body: { request_uri: 'urn:x', expires_in: 60 } },
    );
    const [url] = await client.create_authorization_url('https://as.test/auth', { state: 's' });
    expect(url).toBe('https://as.test/auth?client_id=me&request_uri=urn%3Ax');
    expect(adapter.form).toEqual({ response_type: 'code', client_id: 'me', state: 's' });
  });
});
