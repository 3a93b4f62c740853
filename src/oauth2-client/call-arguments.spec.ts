import { OAuth2IdProvider } from '#src/id-provider/library.js';
import { ConfigurationError } from './oauth-error.js';
import { CapturingAdapter } from './testing/capturing-adapter.js';
import { ANSWER, EXPIRED, NOW, URL_TOKEN } from './testing/set-up.js';

type AnyCall = Record<string, (...given: unknown[]) => Promise<unknown>>;

/** A provider is a session as well: every operation of the interface's rows in one object. */
function setUp(parameters: object = {}) {
  const adapter = new CapturingAdapter({
    body: { ...ANSWER, issued_token_type: 't', active: true },
  });
  const session = new OAuth2IdProvider({
    client_id: 'me',
    client_secret: 'shh',
    trust_env: false,
    clock: { now: () => NOW * 1000 },
    ...parameters,
  });
  session.mount('https://', adapter);
  return { adapter, session, call: session as unknown as AnyCall };
}

const HEADERS = { 'X-Own': '1' };
const EXCHANGE = 'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange';
const TYPE = 'subject_token_type=urn%3Ax';

describe('parameters by their places', () => {
  it.each<[operation: string, given: unknown[], sent: object]>([
    [
      'fetch_token',
      [URL_TOKEN, 'a=1', 'POST', HEADERS, ['u', 'p'], 'client_credentials', 's', { audience: 'x' }],
      { body: 'a=1&grant_type=client_credentials&audience=x', own: '1', basic: 'u:p' },
    ],
    [
      'fetch_access_token',
      [URL_TOKEN, null, 'GET', HEADERS, null, 'client_credentials'],
      { url: `${URL_TOKEN}?grant_type=client_credentials`, own: '1', basic: 'me:shh' },
    ],
    [
      'refresh_token',
      [URL_TOKEN, 'r9', 'a=1', ['u', 'p'], HEADERS, { scope: 'x' }],
      { body: 'a=1&grant_type=refresh_token&refresh_token=r9&scope=x', own: '1', basic: 'u:p' },
    ],
    [
      'exchange_token',
      [URL_TOKEN, 's9', 'urn:x', 'a=1', ['u', 'p'], HEADERS, { audience: ['y', 'z'] }],
      {
        body: `a=1&${EXCHANGE}&subject_token=s9&${TYPE}&audience=y&audience=z`,
        own: '1',
        basic: 'u:p',
      },
    ],
    [
      'revoke_token',
      [URL_TOKEN, 't9', 'access_token', 'a=1', ['u', 'p'], HEADERS],
      { body: 'a=1&token=t9&token_type_hint=access_token', own: '1', basic: 'u:p' },
    ],
    [
      'introspect_token',
      [URL_TOKEN, 't9', 'access_token', 'a=1', ['u', 'p'], HEADERS],
      { body: 'a=1&token=t9&token_type_hint=access_token', own: '1', basic: 'u:p' },
    ],
  ])('%s', async (operation, given, sent) => {
    const { adapter, call } = setUp();
    await call[operation]!(...given);
    const { last } = adapter;
    const basic = Buffer.from((last.headers.get('Authorization') ?? '').slice(6), 'base64');
    expect({
      ...('url' in sent ? { url: last.url } : { body: last.body }),
      own: last.headers.get('X-Own'),
      basic: basic.toString(),
    }).toEqual(sent);
  });

  it.each<[operation: string, given: unknown[], body: string]>([
    [
      'fetch_token',
      [{ url: URL_TOKEN, grant_type: 'client_credentials' }],
      'grant_type=client_credentials',
    ],
    ['fetch_token', [URL_TOKEN, 'a=1', { grant_type: 'x' }], 'a=1&grant_type=x'],
    ['fetch_token', [URL_TOKEN, '', 'POST', { grant_type: 'x', own: 'y' }], 'grant_type=x&own=y'],
    ['fetch_token', [URL_TOKEN, undefined, undefined, null, null, 'x'], 'grant_type=x'],
    ['fetch_token', [new URL(URL_TOKEN), { grant_type: 'x' }], 'grant_type=x'],
    ['refresh_token', [], 'grant_type=refresh_token&refresh_token=r1'],
    ['refresh_token', [null, { scope: 's' }], 'grant_type=refresh_token&refresh_token=r1&scope=s'],
    ['revoke_token', [URL_TOKEN, { token: 't' }], 'token=t'],
    ['revoke_token', [URL_TOKEN, null, null, { token: 't' }], 'token=t'],
    ['introspect_token', [{ token: 't', url: URL_TOKEN }], 'token=t'],
  ])('%s with the object form %#', async (operation, given, body) => {
    const { adapter, call } = setUp({ token: EXPIRED, token_endpoint: URL_TOKEN });
    await call[operation]!(...given);
    expect(adapter.last.body).toBe(body);
  });

  it.each<[given: unknown[], query: string]>([
    [['mystate'], 'state=mystate'],
    [['mystate', null, { max_age: 0 }], 'state=mystate&max_age=0'],
    [[{ state: 's', nonce: 'n' }], 'state=s&nonce=n'],
    [[''], ''],
  ])('create_authorization_url %#', async (given, query) => {
    const { call } = setUp();
    const answer = await call['create_authorization_url']!('https://as.test/auth', ...given);
    const start = 'https://as.test/auth?response_type=code&client_id=me';
    expect(answer).toEqual([
      query === '' ? start : `${start}&${query}`,
      /state=(\w*)/.exec(query)?.[1] ?? '',
    ]);
  });

  it.each([['code'], ['code id_token'], ['token']])(
    'a code_verifier sends its S256 challenge whatever the class (%s)',
    async (response_type) => {
      const { call } = setUp();
      const [url] = (await call['create_authorization_url']!(
        'https://as.test/auth',
        's',
        'v'.repeat(43),
        {
          response_type,
        },
      )) as [string];
      const { searchParams } = new URL(url);
      expect(searchParams.get('code_challenge')).toMatch(/^[\w-]{43}$/);
      expect(searchParams.get('code_challenge_method')).toBe('S256');
      expect(searchParams.has('code_verifier')).toBe(false);
    },
  );

  it('another challenge method cannot be asked for', () => {
    expect(() => setUp({ code_challenge_method: 'plain' })).toThrow(ConfigurationError);
  });
});

describe('an argument that fits nowhere', () => {
  const OPERATIONS = [
    'create_authorization_url',
    'fetch_token',
    'refresh_token',
    'exchange_token',
    'revoke_token',
    'introspect_token',
  ];
  const WRONG = [7, true, Symbol('s'), () => 1, [], ['a'], new Map(), new Date(), Buffer.from('x')];

  it.each(OPERATIONS)('of %s throws and nothing is sent', async (operation) => {
    const { adapter, call } = setUp({ token: EXPIRED });
    for (const wrong of WRONG) {
      await expect(call[operation]!(wrong)).rejects.toThrow(ConfigurationError);
      await expect(call[operation]!('https://as.test/', wrong)).rejects.toThrow(ConfigurationError);
    }
    await expect(
      call[operation]!('https://as.test/', ...Array<string>(12).fill('x')),
    ).rejects.toThrow(ConfigurationError);
    expect(adapter.requests).toEqual([]);
  });

  it.each<[operation: string, given: unknown[]]>([
    ['fetch_token', [URL_TOKEN, 'a=1', { body: 'b=1', grant_type: 'x' }]],
    ['fetch_token', [URL_TOKEN, { grant_type: 'x' }, 'POST']],
    ['fetch_token', [URL_TOKEN, { grant_type: 'x', headers: 'X: y' }]],
    ['fetch_token', [URL_TOKEN, { grant_type: 'x', auth: 'u:p' }]],
    ['fetch_token', [URL_TOKEN, { grant_type: 'x', own: {} }]],
    ['refresh_token', [URL_TOKEN, 'r', { refresh_token: 'q' }]],
  ])('%s given twice, out of order or of another type (%#)', async (operation, given) => {
    const { adapter, call } = setUp();
    await expect(call[operation]!(...given)).rejects.toThrow(ConfigurationError);
    expect(adapter.requests).toEqual([]);
  });

  it('refresh_token that is null, by name or by place, is a local error', async () => {
    const { adapter, call } = setUp({ token: EXPIRED });
    for (const given of [[{ refresh_token: null }], [null]]) {
      await expect(call['refresh_token']!(URL_TOKEN, ...given)).rejects.toMatchObject({
        error: 'missing_token',
      });
    }
    expect(adapter.requests).toEqual([]);
  });
});

describe('request(method, url, withhold_token, auth, {…})', () => {
  it.each<[given: unknown[], authorization: string | undefined]>([
    [[], 'Bearer live'],
    [[false], 'Bearer live'],
    [[true], undefined],
    [[{ withhold_token: true }], undefined],
    [[false, ['u', 'p']], 'Basic dTpw'],
    [[{ auth: ['u', 'p'] }], 'Basic dTpw'],
    [[null, null, { headers: { A: 'b' } }], 'Bearer live'],
  ])('%j', async (given, authorization) => {
    const { adapter, call } = setUp({ token: { access_token: 'live' } });
    await call['request']!('GET', 'https://api.test/', ...given);
    expect(adapter.last.headers.get('Authorization')).toBe(authorization);
  });

  it('refuses what fits nowhere', async () => {
    const { adapter, call } = setUp({ token: { access_token: 'live' } });
    for (const given of [['yes'], [true, 'x'], [{ withold_token: true }], [true, null, 'x']]) {
      await expect(call['request']!('GET', 'https://api.test/', ...given)).rejects.toThrow(
        TypeError,
      );
    }
    expect(adapter.requests).toEqual([]);
  });
});
