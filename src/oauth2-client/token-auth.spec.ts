import { UnrewindableBodyError, type PreparedRequest } from '#src/http-client/index.js';
import { EXPIRED, LIVE, setUp, URL_TOKEN } from './testing/set-up.js';

describe('token_placement', () => {
  it.each(['uri', 'url', 'query'] as const)('%s: the query', async (token_placement) => {
    const { client, adapter } = setUp({ token: LIVE, token_placement });
    await client.get('https://api.test/x?a=1');
    expect(adapter.last.url).toBe('https://api.test/x?a=1&access_token=live');
    expect(adapter.last.headers.has('Authorization')).toBe(false);
  });

  it.each(['POST', 'PUT', 'PATCH'])('body: the form of a %s', async (method) => {
    const { client, adapter } = setUp({ token: LIVE, token_placement: 'body' });
    await client.request(method, 'https://api.test/x', { data: { a: '1' } });
    expect(adapter.last.body).toBe('a=1&access_token=live');
    expect(adapter.last.headers.get('Content-Length')).toBe('21');
  });

  it('body: an empty POST becomes a form', async () => {
    const { client, adapter } = setUp({ token: LIVE, token_placement: 'body' });
    await client.post('https://api.test/x');
    expect(adapter.last.body).toBe('access_token=live');
    expect(adapter.last.headers.get('Content-Type')).toBe('application/x-www-form-urlencoded');
  });

  it.each([
    ['GET', {}],
    ['POST', { json: { a: 1 } }],
  ])('body: %s with %j is refused', async (method, options) => {
    const { client } = setUp({ token: LIVE, token_placement: 'body' });
    await expect(client.request(method, 'https://api.test/x', options)).rejects.toMatchObject({
      error: 'configuration_error',
    });
  });
});

describe('ensure_active_token', () => {
  const endpoint = { token_endpoint: URL_TOKEN };

  it.each([
    ['not expired', {}, LIVE, true, 0],
    ['unknown expiry', {}, { access_token: 'a' }, true, 0],
    ['expired with refresh token', endpoint, EXPIRED, true, 1],
    ['expired without endpoint', {}, EXPIRED, null, 0],
    ['expired without refresh token', endpoint, { access_token: 'a', expires_at: 1 }, null, 0],
    [
      'expired, client credentials',
      { ...endpoint, grant_type: 'client_credentials' },
      { access_token: 'a', expires_at: 1 },
      true,
      1,
    ],
    [
      'expired, another grant',
      { ...endpoint, grant_type: 'password' },
      { access_token: 'a', expires_at: 1 },
      null,
      0,
    ],
    ['none at all', endpoint, null, null, 0],
  ])('%s', async (...[, options, token, expected, requests]) => {
    const { client, adapter } = setUp({ ...options, token });
    expect(await client.ensure_active_token()).toBe(expected);
    expect(adapter.requests).toHaveLength(requests);
  });

  it('100 parallel requests with an expired token make one refresh; update_token is awaited first', async () => {
    const events: string[] = [];
    const { client, adapter } = setUp({
      ...endpoint,
      token: EXPIRED,
      update_token: async (token, previous) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        events.push(`${token.access_token} for ${previous.refresh_token}`);
      },
    });
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        await client.get('https://api.test/x');
        events.push('answer');
      }),
    );
    const refreshes = adapter.requests.filter((request) => request.url === URL_TOKEN);
    expect(refreshes.map((request) => request.body)).toEqual([
      'grant_type=refresh_token&refresh_token=r1',
    ]);
    expect(events[0]).toBe('new for r1');
    expect(events).toHaveLength(101);
  });

  it('renews client credentials as they were obtained, and tells update_token the old token', async () => {
    const updates: unknown[] = [];
    const { client, adapter } = setUp(
      { ...endpoint, update_token: (...update) => void updates.push(update) },
      { body: { access_token: 'first', expires_in: 0 } },
      { body: { access_token: 'second', expires_in: 600 } },
    );
    await client.fetch_token(null, { grant_type: 'client_credentials', audience: 'x' });
    await client.get('https://api.test/x');
    expect(adapter.requests[1]?.body).toBe('grant_type=client_credentials&audience=x');
    expect(updates).toEqual([
      [expect.objectContaining({ access_token: 'second' }), { access_token: 'first' }],
    ]);
  });

  it('a refused renewal reaches every waiting request, and the old token stays', async () => {
    const { client, adapter } = setUp(
      { ...endpoint, token: EXPIRED },
      { status: 400, body: { error: 'invalid_grant' } },
    );
    const failures = await Promise.allSettled([1, 2, 3].map(() => client.get('https://api.test/')));
    expect(failures.map((one) => (one as { reason: { error: string } }).reason.error)).toEqual([
      'invalid_grant',
      'invalid_grant',
      'invalid_grant',
    ]);
    expect(adapter.requests).toHaveLength(1);
    expect(client.token?.access_token).toBe('old');
  });
});

describe('DPoP (RFC 9449)', () => {
  const bound = { access_token: 'bound', token_type: 'DPoP' };
  const wanted = {
    status: 401,
    headers: { 'DPoP-Nonce': 'n1', 'WWW-Authenticate': 'DPoP error="use_dpop_nonce"' },
  };
  const claimsOf = (request: PreparedRequest): Record<string, unknown> => {
    const [, claims = ''] = (request.headers.get('DPoP') ?? '').split('.');
    return JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  };

  it('every one of parallel requests is repeated once with the nonce that the server wants', async () => {
    const { client, adapter } = setUp({ dpop: true, token: bound }, wanted, wanted, {
      status: 200,
    });
    const answers = await Promise.all([1, 2].map((n) => client.get(`https://api.test/${n}`)));
    expect(answers.map((answer) => answer.status_code)).toEqual([200, 200]);
    const nonces = adapter.requests.map((request) => claimsOf(request)['nonce']);
    expect(nonces).toEqual([undefined, undefined, 'n1', 'n1']);
  });

  it('a request that was made with the nonce is not repeated', async () => {
    const { client, adapter } = setUp({ dpop: true, token: bound }, wanted);
    expect((await client.get('https://api.test/')).status_code).toBe(401);
    expect(adapter.requests).toHaveLength(2);
  });

  it('a body that can be read only once leaves the 401 as it is', async () => {
    const { client, adapter } = setUp({ dpop: true, token: bound }, wanted);
    client.mount('https://api.test/', {
      // what the adapter for http does with a spent body
      send: (prepared, options) =>
        adapter.requests.length > 0
          ? Promise.reject(new UnrewindableBodyError('spent'))
          : adapter.send(prepared, options),
      close: () => undefined,
    });
    expect((await client.post('https://api.test/', { data: 'x' })).status_code).toBe(401);
  });

  it('token requests in parallel are repeated too', async () => {
    const { client, adapter } = setUp(
      { dpop: true },
      { status: 400, body: { error: 'use_dpop_nonce' }, headers: { 'DPoP-Nonce': 'n1' } },
      { status: 400, body: { error: 'use_dpop_nonce' }, headers: { 'DPoP-Nonce': 'n1' } },
      { body: { access_token: 'a', token_type: 'DPoP' } },
    );
    const grant = { grant_type: 'client_credentials' };
    const tokens = await Promise.all([1, 2].map(() => client.fetch_token(URL_TOKEN, grant)));
    expect(tokens.map((token) => token.access_token)).toEqual(['a', 'a']);
    expect(adapter.requests).toHaveLength(4);
  });

  it('each hop of a redirect has a proof of its own, and none on another origin', async () => {
    const to = (Location: string, status = 303) => ({ status, headers: { Location } });
    const { client, adapter } = setUp(
      { dpop: true, token: bound },
      to('/2?q=1'),
      to('https://other.test/3'),
      {},
    );
    await client.post('https://api.test/1');
    const [first, second, third] = adapter.requests as [PreparedRequest, ...PreparedRequest[]];
    expect(claimsOf(first)).toMatchObject({ htm: 'POST', htu: 'https://api.test/1' });
    expect(claimsOf(second as PreparedRequest)).toMatchObject({
      htm: 'GET',
      htu: 'https://api.test/2',
      ath: claimsOf(first)['ath'],
    });
    expect(claimsOf(second as PreparedRequest)['jti']).not.toBe(claimsOf(first)['jti']);
    expect([third?.headers.get('DPoP'), third?.headers.get('Authorization')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
