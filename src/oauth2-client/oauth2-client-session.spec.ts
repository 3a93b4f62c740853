import { Session } from '#src/http-client/index.js';
import { OAuth2Client } from './oauth2-client-session.js';
import { EXPIRED, LIVE, NOW, setUp, URL_TOKEN } from './testing/set-up.js';

describe('constructor', () => {
  it.each([
    ['a secret', { client_secret: 's' }, 'client_secret_basic', 'client_secret_basic'],
    ['an empty secret', { client_secret: '' }, 'none', 'none'],
    ['no secret', { client_secret: null }, 'none', 'none'],
    [
      'a method of the token endpoint alone',
      { client_secret: 's', token_endpoint_auth_method: 'client_secret_post' },
      'client_secret_post',
      'client_secret_basic',
    ],
  ])('authentication methods with %s', (_name, options, token, revocation) => {
    const { client } = setUp(options);
    expect(client.token_endpoint_auth_method).toBe(token);
    expect(client.revocation_endpoint_auth_method).toBe(revocation);
  });

  it('has the defaults of the interface', () => {
    const client = new OAuth2Client();
    expect({
      leeway: client.leeway,
      placement: client.token_placement,
      token: client.token,
      timeout: client.default_timeout,
      scope: client.scope,
      metadata: client.metadata,
    }).toEqual({
      leeway: 60,
      placement: 'header',
      token: null,
      timeout: null,
      scope: null,
      metadata: {},
    });
  });

  it('keeps unknown keywords as metadata and settings as attributes', () => {
    const { client } = setUp({
      token_endpoint: URL_TOKEN,
      max_redirects: 3,
      verify: false,
      foo: 1,
    });
    expect(client.metadata).toEqual({ token_endpoint: URL_TOKEN, foo: 1 });
    expect([client.max_redirects, client.verify]).toEqual([3, false]);
  });

  it.each([
    ['an unknown token_placement', { token_placement: 'cookie' as never }],
    ['token_updater', { token_updater: () => undefined }],
  ])('refuses %s', (_name, options) => {
    expect(() => new OAuth2Client(options)).toThrow('configuration_error');
  });

  it('shows neither secret nor token when it is printed', async () => {
    const { inspect } = await import('node:util');
    const { client } = setUp({ token: LIVE });
    expect(`${inspect(client)} ${JSON.stringify(client)}`).not.toMatch(/shh|live/);
  });
});

describe('request', () => {
  it('attaches the token, over a hand-set header', async () => {
    const { client, adapter } = setUp({ token: LIVE });
    await client.get('https://api.test/x', { headers: { Authorization: 'mine' } });
    expect(adapter.last.headers.get('Authorization')).toBe('Bearer live');
  });

  it.each([
    ['withhold_token', { withhold_token: true }, undefined],
    ['an explicit auth', { auth: ['u', 'p'] as const }, 'Basic dTpw'],
  ])('leaves it out with %s', async (_name, options, expected) => {
    const { client, adapter } = setUp({ token: EXPIRED });
    await client.get('https://api.test/x', options);
    expect(adapter.last.headers.get('Authorization')).toBe(expected);
    expect(adapter.requests).toHaveLength(1);
  });

  it('without a token is refused before any I/O', async () => {
    const { client, adapter } = setUp();
    await expect(client.get('https://api.test/x')).rejects.toMatchObject({
      error: 'missing_token',
    });
    expect(adapter.requests).toEqual([]);
  });

  it('answers a 401 as it is', async () => {
    const { client, adapter } = setUp({ token: { ...LIVE, refresh_token: 'r' } }, { status: 401 });
    expect((await client.get('https://api.test/x')).status_code).toBe(401);
    expect(adapter.requests).toHaveLength(1);
  });

  it.each([
    ['missing type', { access_token: 't' }, 'Bearer t'],
    ['null type', { access_token: 't', token_type: null as never }, 'Bearer t'],
    ['any case', { access_token: 't', token_type: 'bEARER' }, 'Bearer t'],
  ])('takes a token with %s for a bearer token', async (_name, token, expected) => {
    const { client, adapter } = setUp({ token });
    await client.get('https://api.test/');
    expect(adapter.last.headers.get('Authorization')).toBe(expected);
  });

  it.each([
    ['mac', { access_token: 't', token_type: 'mac' }, 'unsupported_token_type'],
    ['DPoP without a key', { access_token: 't', token_type: 'DPoP' }, 'unsupported_token_type'],
    ['no access_token', { token_type: 'bearer' }, 'unsupported_token_type'],
    ['a line break', { access_token: 'a\r\nX: y' }, 'token_invalid'],
    ['expired, nothing renews it', { access_token: 'a', expires_at: 1 }, 'token_invalid'],
  ])('refuses a token with %s', async (_name, token, code) => {
    const { client, adapter } = setUp({ token });
    await expect(client.get('https://api.test/')).rejects.toMatchObject({ error: code });
    expect(adapter.requests).toEqual([]);
  });

  it('uses a token that nothing can renew until it really expires', async () => {
    const { client } = setUp({ token: { access_token: 'a', expires_at: NOW + 5 } });
    expect((await client.get('https://api.test/')).ok).toBe(true);
  });

  it('token_auth serves a foreign session', async () => {
    const { client, adapter } = setUp({ token: LIVE });
    const foreign = new Session({ auth: client.token_auth, trust_env: false });
    foreign.mount('https://', adapter);
    await foreign.get('https://api.test/');
    expect(adapter.last.headers.get('Authorization')).toBe('Bearer live');
  });
});
