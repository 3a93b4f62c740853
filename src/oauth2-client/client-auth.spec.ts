import { CapturingAdapter } from './testing/capturing-adapter.js';
import { ANSWER, EXPIRED, LIVE, NOW, setUp, URL_TOKEN } from './testing/set-up.js';

describe('client authentication', () => {
  const grant = { grant_type: 'client_credentials' };

  it.each([
    ['form-encoded', {}, 'my%3Aid:a+b%25%C3%A9'],
    ['raw', { rawBasic: true }, 'my:id:a b%é'],
  ])('Basic is %s', async (_name, options, expected) => {
    const { client, adapter } = setUp({ client_id: 'my:id', client_secret: 'a b%é', ...options });
    await client.fetch_token(URL_TOKEN, grant);
    const header = adapter.last.headers.get('Authorization') ?? '';
    expect(Buffer.from(header.slice(6), 'base64').toString()).toBe(expected);
  });

  it('client_secret_post names the client once, also where the form names it already', async () => {
    const { client, adapter } = setUp({ token_endpoint_auth_method: 'client_secret_post' });
    await client.fetch_token(URL_TOKEN, { ...grant, body: 'client_id=me' });
    expect(adapter.last.body).toBe(
      'client_id=me&grant_type=client_credentials&client_secret=shh-secret',
    );
  });

  it('a registered method may replace a built-in one', async () => {
    const { client, adapter } = setUp();
    client.register_client_auth_method([
      'client_secret_basic',
      (...[own, , uri, headers, body]) => [
        `${uri}?c=${own.client_id}`,
        { ...headers, X: '1' },
        body,
      ],
    ]);
    await client.fetch_token(URL_TOKEN, grant);
    expect(adapter.last.url).toBe(`${URL_TOKEN}?c=me`);
    expect(adapter.last.headers.get('X')).toBe('1');
  });

  it('an explicit auth replaces it: a pair, or what client_auth answers', async () => {
    const { client, adapter } = setUp();
    await client.fetch_token(URL_TOKEN, { ...grant, auth: ['u', 'p'] });
    expect(adapter.last.headers.get('Authorization')).toBe('Basic dTpw');
    await client.fetch_token(URL_TOKEN, {
      ...grant,
      auth: client.client_auth('client_secret_post'),
    });
    expect(adapter.form).toMatchObject({ client_id: 'me', client_secret: 'shh-secret' });
  });

  it('assertions name the issuer alone, live 60 s and are fresh each time', async () => {
    const { client, adapter } = setUp({
      issuer: 'https://as.test',
      token_endpoint_auth_method: 'client_secret_jwt',
    });
    const claims = async (): Promise<Record<string, unknown>> => {
      await client.fetch_token(URL_TOKEN, grant);
      const [, part = ''] = (adapter.form['client_assertion'] as string).split('.');
      return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
    };
    const [first, second] = [await claims(), await claims()];
    expect(first).toEqual({
      iss: 'me',
      sub: 'me',
      aud: 'https://as.test',
      iat: NOW,
      exp: NOW + 60,
      jti: expect.any(String),
    });
    expect(second['jti']).not.toBe(first['jti']);
    expect(adapter.form['client_id']).toBe('me');
  });

  it.each([
    ['of the session', { cert: ['c', 'k'] as const }, {}, 'mtls.test'],
    ['of the call', {}, { cert: ['c', 'k'] as const }, 'mtls.test'],
    [
      'at a server that binds tokens',
      {
        cert: ['c', 'k'] as const,
        token_endpoint_auth_method: null,
        tls_client_certificate_bound_access_tokens: true,
      },
      {},
      'mtls.test',
    ],
    [
      'that does not matter',
      { cert: ['c', 'k'] as const, token_endpoint_auth_method: null },
      {},
      'as.test',
    ],
  ])('a client certificate %s', async (...[, options, call, host]) => {
    const { client, adapter } = setUp({
      token_endpoint: URL_TOKEN,
      token_endpoint_auth_method: 'tls_client_auth',
      mtls_endpoint_aliases: { token_endpoint: 'https://mtls.test/token' },
      ...options,
    });
    await client.fetch_token(null, { ...grant, ...call });
    expect(new URL(adapter.last.url).host).toBe(host);
  });

  it('revocation by certificate goes to the alias whatever the token endpoint wants', async () => {
    const { client, adapter } = setUp({
      cert: ['c', 'k'],
      revocation_endpoint_auth_method: 'tls_client_auth',
      revocation_endpoint: 'https://as.test/revoke',
      mtls_endpoint_aliases: { revocation_endpoint: 'https://mtls.test/revoke' },
    });
    await client.revoke_token(null, { token: 'a' });
    expect(adapter.last.url).toBe('https://mtls.test/revoke');
  });

  it('assertions without a known issuer are refused', async () => {
    const { client } = setUp({ token_endpoint_auth_method: 'client_secret_jwt' });
    await expect(client.fetch_token(URL_TOKEN, grant)).rejects.toMatchObject({
      error: 'configuration_error',
    });
  });
});

describe('register_compliance_hook', () => {
  const grant = { grant_type: 'client_credentials' };

  it('runs hooks in order, each once; nothing answered means unchanged', async () => {
    const { client, adapter } = setUp({ token: EXPIRED });
    const first = (url: string, headers: Record<string, string>, body: string) =>
      [url, headers, `${body}&n=1`] as [string, Record<string, string>, string];
    client.register_compliance_hook('refresh_token_request', first);
    client.register_compliance_hook('refresh_token_request', () => undefined);
    client.register_compliance_hook('refresh_token_request', async (url, headers, body) => {
      await Promise.resolve();
      return [url, { ...headers, 'X-Hook': 'yes' }, `${body}&n=2`];
    });
    client.register_compliance_hook('refresh_token_request', first);
    await client.refresh_token(URL_TOKEN);
    expect(adapter.last.body).toBe('grant_type=refresh_token&refresh_token=r1&n=1&n=2');
    expect(adapter.last.headers.get('X-Hook')).toBe('yes');
  });

  it('protected_request sees the placed token', async () => {
    const { client, adapter } = setUp({ token: LIVE });
    client.register_compliance_hook('protected_request', (url, headers, body) => [
      `${url}?seen=${encodeURIComponent(headers['Authorization'] ?? '')}`,
      headers,
      body,
    ]);
    await client.get('https://api.test/x');
    expect(adapter.last.url).toBe('https://api.test/x?seen=Bearer%20live');
  });

  it('access_token_response may replace the response', async () => {
    const { client, adapter } = setUp({}, { body: { wrapped: ANSWER } });
    client.register_compliance_hook('access_token_response', (response) => {
      const { wrapped } = response.json() as { wrapped: object };
      const other = new CapturingAdapter({ body: wrapped });
      return other.send(response.request);
    });
    expect(await client.fetch_token(URL_TOKEN, grant)).toMatchObject(ANSWER);
    expect(adapter.requests).toHaveLength(1);
  });

  it('refuses unknown types', () => {
    const { client } = setUp();
    expect(() => client.register_compliance_hook('nonsense' as never, () => undefined)).toThrow(
      'configuration_error',
    );
  });
});
