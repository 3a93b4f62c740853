import { jest } from '@jest/globals';
import { ANSWER, EXPIRED, LIVE, NOW, setUp, URL_TOKEN } from './testing/set-up.js';

describe('fetch_token', () => {
  const CALLBACK = 'https://me.test/cb';

  it('redeems the code of an answer', async () => {
    const { client, adapter } = setUp({ redirect_uri: CALLBACK, scope: 'not sent', state: 's' });
    const token = await client.fetch_token(URL_TOKEN, {
      authorization_response: `${CALLBACK}?code=c&state=s`,
      code_verifier: 'v',
    });
    expect(adapter.form).toEqual({
      grant_type: 'authorization_code',
      redirect_uri: CALLBACK,
      code: 'c',
      code_verifier: 'v',
    });
    expect(adapter.last.headers.get('Accept')).toBe('application/json');
    expect(adapter.last.headers.get('Authorization')).toBe('Basic bWU6c2hoLXNlY3JldA==');
    expect({ ...token }).toEqual({ ...ANSWER, expires_at: NOW + 600 });
    expect(client.token).toBe(token);
  });

  it.each([
    ["the session's scope", {}, 'a b'],
    ["the call's scope", { scope: ['c', 'd'] }, 'c d'],
    ['no scope', { scope: null }, undefined],
  ])('client credentials send %s', async (_name, options, scope) => {
    const { client, adapter } = setUp({ scope: 'a b' });
    await client.fetch_token(URL_TOKEN, { grant_type: 'client_credentials', ...options });
    expect(adapter.form).toEqual({ grant_type: 'client_credentials', ...(scope ? { scope } : {}) });
  });

  it('adds to a given body and repeats lists', async () => {
    const { client, adapter } = setUp();
    await client.fetch_token(URL_TOKEN, {
      grant_type: 'client_credentials',
      body: 'a=1&a=2',
      resource: ['x', 'y'],
      empty: '',
      timeout: 5,
    });
    expect(adapter.last.body).toBe('a=1&a=2&grant_type=client_credentials&resource=x&resource=y');
  });

  it.each([
    ['no grant', {}, 'configuration_error'],
    ['user and password alone', { username: 'u', password: 'p' }, 'configuration_error'],
    [
      'the password grant',
      { grant_type: 'password', username: 'u', password: 'p' },
      'configuration_error',
    ],
    ['PUT', { grant_type: 'client_credentials', method: 'PUT' }, 'configuration_error'],
    [
      'a token in a fragment without the state',
      { authorization_response: `${CALLBACK}#access_token=a&token_type=b` },
      'mismatching_state',
    ],
    [
      'an error',
      { authorization_response: `${CALLBACK}?error=access_denied&state=s` },
      'access_denied',
    ],
    [
      'another state',
      { authorization_response: `${CALLBACK}?code=c&state=x` },
      'mismatching_state',
    ],
    ['no state', { authorization_response: `${CALLBACK}?code=c` }, 'mismatching_state'],
    [
      'something like a code',
      { authorization_response: `${CALLBACK}?xcode=c&state=s` },
      'missing_code',
    ],
    [
      'two codes',
      { authorization_response: `${CALLBACK}?code=c&code=d&state=s` },
      'invalid_response',
    ],
    [
      'another issuer',
      { authorization_response: `${CALLBACK}?code=c&state=s&iss=x` },
      'invalid_response',
    ],
    ['the code grant without a code', { grant_type: 'authorization_code' }, 'missing_code'],
    [
      'a body that is no form',
      { grant_type: 'client_credentials', body: '{"a": 1}' },
      'configuration_error',
    ],
    [
      'a field that is an object',
      { grant_type: 'client_credentials', x: {} },
      'configuration_error',
    ],
  ])('%s is refused without a request', async (_name, options, code) => {
    const { client, adapter } = setUp({ state: 's', issuer: 'https://as.test' });
    await expect(client.fetch_token(URL_TOKEN, options)).rejects.toMatchObject({ error: code });
    expect(adapter.requests).toEqual([]);
  });

  it('an unknown endpoint and an unknown method are configuration errors', async () => {
    const { client } = setUp({ token_endpoint_auth_method: 'psychic' });
    const grant = { grant_type: 'client_credentials' };
    await expect(client.fetch_token(null, grant)).rejects.toMatchObject({
      error: 'configuration_error',
    });
    await expect(client.fetch_token(URL_TOKEN, grant)).rejects.toThrow('psychic');
    await expect(setUp().client.fetch_token('http://as.test/', grant)).rejects.toMatchObject({
      error: 'insecure_transport',
    });
  });

  it.each([
    ['of its own', 4, { timeout: 3 }, { timeout: 3, deadline: 3 }],
    ["by the session's default_timeout", 4, {}, { timeout: 4, deadline: 4 }],
    ['10 s otherwise', null, {}, { timeout: [5, 10], deadline: 10 }],
  ])('takes no longer than %s', async (...[, default_timeout, options, expected]) => {
    const { client, adapter } = setUp({ default_timeout });
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    const call = { grant_type: 'client_credentials', ...options };
    await client.fetch_token(URL_TOKEN, call).finally(() => clock.mockRestore());
    expect(adapter.options).toMatchObject(expected);
  });

  it('an error never repeats a secret, in whichever encoding the server sends it back', async () => {
    const client_secret = 'p@ss w/rd+ é';
    const { client, adapter } = setUp({
      client_secret,
      token_endpoint_auth_method: 'client_secret_post',
    });
    const raw = encodeURIComponent(client_secret);
    const form = new URLSearchParams([['', client_secret]]).toString().slice(1);
    for (const echo of [client_secret, raw, form, form.toLowerCase()]) {
      adapter.reply({ status: 400, body: { error: 'invalid_client', error_description: echo } });
      await expect(
        client.fetch_token(URL_TOKEN, { grant_type: 'client_credentials' }),
      ).rejects.toThrow(/^invalid_client: \[redacted\]$/);
    }
  });

  it.each([
    ['a code', `${CALLBACK}?code=c&state=s`],
    ['a token', `${CALLBACK}#access_token=a&token_type=b&state=s`],
  ])('%s with a state is refused when none was sent', async (_name, authorization_response) => {
    const { client, adapter } = setUp();
    for (const state of [undefined, null, '']) {
      await expect(
        client.fetch_token(URL_TOKEN, { authorization_response, state }),
      ).rejects.toMatchObject({ error: 'mismatching_state' });
    }
    expect([adapter.requests, client.token]).toEqual([[], null]);
  });

  it('GET, tokens in fragments and, when asked for, the password grant work', async () => {
    const { client, adapter } = setUp({ legacyFlows: true, client_secret: null });
    await client.fetch_token(`${URL_TOKEN}?a=1`, {
      method: 'GET',
      grant_type: 'password',
      username: 'u',
      password: 'p',
    });
    expect(adapter.last.url).toBe(
      `${URL_TOKEN}?a=1&grant_type=password&username=u&password=p&client_id=me`,
    );
    const plain = setUp().client;
    const token = await plain.fetch_token(null, {
      authorization_response: `${CALLBACK}#access_token=a&token_type=Bearer&expires_in=10&state=z`,
      state: 'z',
    });
    expect({ ...token }).toEqual({
      access_token: 'a',
      token_type: 'Bearer',
      expires_in: '10',
      expires_at: NOW + 10,
      state: 'z',
    });
  });
});

describe('token_from_fragment', () => {
  it.each([
    ['error=access_denied', 'access_denied'],
    ['token_type=b', 'missing_token'],
    ['access_token=a', 'missing_token_type'],
    ['access_token=a&token_type=b&state=x', 'mismatching_state'],
    ['access_token=a&token_type=b', 'mismatching_state'],
    ['access_token=a&token_type=b&state=s&error=e', 'e'],
  ])('%s is %s', (fragment, code) => {
    const { client } = setUp();
    expect(() => client.token_from_fragment(`https://me.test/#${fragment}`, 's')).toThrow(
      new RegExp(`^${code}(:|$)`),
    );
  });
});

describe('refresh_token', () => {
  it("sends the token's refresh token and no scope, and keeps it when the answer has none", async () => {
    const { client, adapter } = setUp(
      { token: EXPIRED, scope: 'a' },
      { body: { access_token: 'n', expires_in: 5 } },
    );
    const token = await client.refresh_token(URL_TOKEN);
    expect(adapter.form).toEqual({ grant_type: 'refresh_token', refresh_token: 'r1' });
    expect(token).toMatchObject({ access_token: 'n', refresh_token: 'r1' });
  });

  it.each([
    ['no token', null, {}],
    ['none in the token', { access_token: 'a' }, {}],
    ['an explicit null', EXPIRED, { refresh_token: null }],
  ])('%s is a local error', async (_name, token, options) => {
    const { client, adapter } = setUp({ token });
    await expect(client.refresh_token(URL_TOKEN, options)).rejects.toMatchObject({
      error: 'missing_token',
    });
    expect(adapter.requests).toEqual([]);
  });
});

describe('revoke_token and introspect_token', () => {
  it.each([
    ['the refresh token', EXPIRED, {}, 'r1'],
    ['the access token', LIVE, {}, 'live'],
    ['a given one', LIVE, { token: 'x', token_type_hint: 'access_token' }, 'x'],
  ])('by default %s', async (_name, token, options, sent) => {
    const { client, adapter } = setUp({ token });
    await client.revoke_token('https://as.test/revoke', options);
    expect(adapter.form).toMatchObject({ token: sent });
    expect(client.token === null).toBe(sent !== 'x');
  });

  it('without any token is a local error', async () => {
    const { client } = setUp();
    await expect(client.revoke_token(URL_TOKEN)).rejects.toMatchObject({ error: 'missing_token' });
    await expect(client.introspect_token(URL_TOKEN)).rejects.toMatchObject({
      error: 'missing_token',
    });
  });

  it('introspect_token answers the parsed object', async () => {
    const { client } = setUp({ token: LIVE }, { body: { active: true, sub: 'j' } });
    expect(await client.introspect_token(URL_TOKEN)).toEqual({ active: true, sub: 'j' });
  });
});
