import { OAuthProblem, sha256 } from '#src/kernel/index.js';
import { labelsOf, type HttpRequest } from '#src/http/index.js';
import {
  DEMO_REGISTRY,
  RegistrySnapshot,
  type Client,
  type ClientsRepository,
  type RegistryService,
} from '#src/registry/index.js';
import type { Limit } from '../protocol/rate-limits.js';
import { JWT_BEARER, type ClientAssertions } from './client-assertions.js';
import type { ClientCertificates } from './client-certificates.js';
import { ClientAuthenticator } from './client-authenticator.js';
import { ClientsService } from './clients.service.js';

const SECRET = 'p:w+ä %';
const jwtOf = (claims: object): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
const ASSERTION = jwtOf({ sub: 'jwt' });

const client = (id: string, change: Partial<Client>): Client => ({
  id,
  name: id,
  redirectUris: [],
  confidential: false,
  origin: 'file',
  ...change,
});

const confidential = { confidential: true, secretHash: sha256(SECRET) };
const registry = new RegistrySnapshot(
  {
    ...DEMO_REGISTRY,
    applications: [
      client('public', {}),
      client('secret', confidential),
      client('secret app', confidential),
      client('unset', { confidential: true }),
      client('jwt', { confidential: true, authentication: 'private_key_jwt' }),
      client('tls', { confidential: true, authentication: 'tls_client_auth' }),
      client('strict', { profile: 'oauth2.1' }),
    ],
  },
  1,
);

/** Assertions and certificates have specs of their own: here one of each is good. */
const assertions = {
  isProof: (_client: Client, text: string) => Promise.resolve(text === ASSERTION),
} as unknown as ClientAssertions;
const certificates = {
  isProof: (_client: Client, { headers }: HttpRequest) => headers['client-cert'] === 'good',
} as unknown as ClientCertificates;
const counted: string[] = [];
const guesses: string[] = [];
let claimed: string | undefined;
let blocked: OAuthProblem | undefined;
const authenticator = new ClientAuthenticator(
  new ClientsService(
    {} as ClientsRepository,
    {
      current: () => Promise.resolve(registry),
      renewed: () => Promise.resolve(registry),
    } as unknown as RegistryService,
    { publicUrl: 'https://grid.example' } as never,
    {} as never,
  ),
  assertions,
  certificates,
  {
    countClient: (_limit: Limit, id: string) => Promise.resolve(counted.push(id)),
    requireGuess: (id: string) =>
      blocked ? Promise.reject(blocked) : Promise.resolve(guesses.push(`look ${id}`)),
    countGuess: (id: string) => Promise.resolve(guesses.push(`wrong ${id}`)),
  } as never,
);

function requestWith(headers: Record<string, string>, method: string, url: string): HttpRequest {
  return { headers, method, url } as unknown as HttpRequest;
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const encoded = encodeURIComponent(SECRET).replaceAll('%20', '+');

/** The id of the application, or status, error, code, text and challenge of the refusal. */
async function outcome(
  sent: Record<string, string>,
  authorization?: string,
  way: 'authenticate' | 'find' = 'authenticate',
  { method = 'POST', certificate = '', url = '/oauth2/token' } = {},
): Promise<unknown> {
  const headers = {
    ...(authorization !== undefined && { authorization }),
    ...(certificate !== '' && { 'client-cert': certificate }),
  };
  const request = requestWith(headers, method, url);
  try {
    const found = await authenticator[way](sent, request);
    expect(labelsOf(request)).toEqual(found ? { client: found.id } : {});
    return found?.id;
  } catch (error) {
    if (!(error instanceof OAuthProblem)) throw error;
    const { claimedClient, ...others } = labelsOf(request);
    const isProved = error.detail.startsWith('Send the parameters of this application');
    expect(others).toEqual(isProved ? { client: sent['client_id'] } : {});
    claimed = claimedClient;
    return [error.status, error.error, error.code, error.detail, error.headers];
  }
}

const TEXT = 'The application is unknown or did not prove itself';
const refused = [401, 'invalid_client', 'auth.client-unknown', TEXT, {}];
const challenged = [
  ...[401, 'invalid_client', 'auth.client-unknown', TEXT],
  { 'WWW-Authenticate': 'Basic realm="gridgate"' },
];
const twice = [
  ...[400, 'invalid_request', 'request.invalid'],
  'Authenticate in the header or in the body, not both',
  {},
];
const nameless = [
  ...[400, 'invalid_request', 'request.invalid', 'The parameter client_id is missing', {}],
];

describe('an application in the body of a request', () => {
  it.each<[Record<string, string>, unknown]>([
    [{ client_id: 'public' }, 'public'],
    [{ client_id: 'gridgate-cli' }, 'gridgate-cli'],
    [{ client_id: 'secret', client_secret: SECRET }, 'secret'],
    [{}, nameless],
    [{ client_secret: SECRET }, nameless],
    [{ client_id: 'nobody' }, refused],
    [{ client_id: 'secret' }, refused],
    [{ client_id: 'secret', client_secret: 'wrong' }, refused],
    [{ client_id: 'secret', client_secret: sha256(SECRET) }, refused],
    [{ client_id: 'unset', client_secret: SECRET }, refused],
    [{ client_id: 'public', client_secret: SECRET }, refused],
  ])('%j', async (sent, expected) => {
    expect(await outcome(sent)).toEqual(expected);
  });
});

describe('what is counted against the limit of an application', () => {
  it.each<[Record<string, string>, string | undefined, string[]]>([
    [{ client_id: 'secret', client_secret: SECRET }, undefined, ['secret']],
    [{}, basic(`secret:${encoded}`), ['secret']],
    [{ client_id: 'secret', client_secret: 'wrong' }, undefined, []],
    [{}, basic('secret:wrong'), []],
    [{ client_id: 'public' }, undefined, []],
    [{ client_id: 'nobody' }, undefined, []],
  ])('%j %s: %j', async (sent, authorization, expected) => {
    counted.length = 0;
    await outcome(sent, authorization);
    expect(counted).toEqual(expected);
    await outcome(sent, authorization, 'find');
    expect(counted).toEqual(expected);
  });
});

describe('a secret that is a guess', () => {
  const WRONG = { client_id: 'secret', client_secret: 'wrong' };
  it.each<[Record<string, string>, string | undefined, string[], string | undefined]>([
    [{ client_id: 'secret', client_secret: SECRET }, undefined, ['look secret'], undefined],
    [WRONG, undefined, ['look secret', 'wrong secret'], 'secret'],
    [{}, basic('secret:wrong'), ['look secret', 'wrong secret'], 'secret'],
    [{ client_id: 'secret' }, undefined, [], 'secret'],
    [{ client_id: 'public', client_secret: 'wrong' }, undefined, [], 'public'],
    [{ client_id: 'nobody', client_secret: 'wrong' }, undefined, [], undefined],
    [{ client_id: 'public' }, undefined, [], undefined],
  ])('%j %s: %j, of %s', async (sent, authorization, expected, of) => {
    for (const way of ['authenticate', 'find'] as const) {
      guesses.length = 0;
      claimed = undefined;
      await outcome(sent, authorization, way);
      expect([guesses, claimed]).toEqual([expected, of]);
    }
  });
});

describe('a secret that is not looked at after too many wrong ones', () => {
  afterEach(() => (blocked = undefined));

  it('is refused, the right one too, and names the application', async () => {
    blocked = new OAuthProblem('temporarily_unavailable', 'Too many', { status: 429 });
    for (const word of [SECRET, 'wrong']) {
      guesses.length = 0;
      claimed = undefined;
      const [status] = (await outcome({ client_id: 'secret', client_secret: word })) as number[];
      expect([status, guesses, claimed]).toEqual([429, [], 'secret']);
    }
  });
});

describe('an application in the Basic header', () => {
  it.each<[string, string, unknown]>([
    ['form-encoded', basic(`secret:${encoded}`), 'secret'],
    ['with a blank in its id', basic(`secret+app:${encoded}`), 'secret app'],
    [
      'in any case, with blanks',
      basic(`secret:${encoded}`).replace('Basic ', 'bASIC   '),
      'secret',
    ],
    ['with blanks behind', `${basic(`secret:${encoded}`)}  `, 'secret'],
    ['without a secret that it has not', basic('public:'), 'public'],
    ['not form-encoded', basic(`secret:${SECRET}`), challenged],
    ['with a wrong secret', basic('secret:wrong'), challenged],
    ['without its secret', basic('secret:'), challenged],
    ['without a colon', basic('secret'), challenged],
    ['unknown', basic('nobody:x'), challenged],
    ['another scheme', 'Bearer abc', nameless],
    ['a scheme that ends so', `x${basic(`secret:${encoded}`)}`, nameless],
    ['more than one word', `${basic(`secret:${encoded}`)} x`, nameless],
  ])('%s', async (_how, header, expected) => {
    expect(await outcome({}, header)).toEqual(expected);
  });

  it('may be named in the body too, but not be another or prove itself twice', async () => {
    const header = basic(`secret:${encoded}`);
    expect(await outcome({ client_id: 'secret' }, header)).toBe('secret');
    expect(await outcome({ client_id: 'public' }, header)).toEqual(twice);
    expect(await outcome({ client_secret: SECRET }, header)).toEqual(twice);
  });
});

describe('a request that need not name an application', () => {
  it('is judged when it does, and is of none when it does not', async () => {
    expect(await outcome({}, undefined, 'find')).toBeUndefined();
    expect(await outcome({ client_id: 'public' }, undefined, 'find')).toBe('public');
    expect(await outcome({ client_id: 'nobody' }, undefined, 'find')).toEqual(refused);
  });
});

describe('an application with keys of its own', () => {
  const type = { client_assertion_type: JWT_BEARER };
  const signed = { ...type, client_assertion: ASSERTION };
  const needed = [
    ...[400, 'invalid_request', 'request.invalid'],
    `Send a client_assertion with the client_assertion_type ${JWT_BEARER}`,
    {},
  ];

  it.each<[Record<string, string>, unknown]>([
    [signed, 'jwt'],
    [{ ...signed, client_id: 'jwt' }, 'jwt'],
    [{ ...signed, client_id: 'public' }, refused],
    [{ ...type, client_assertion: jwtOf({ sub: 'jwt', x: 1 }) }, refused],
    [{ ...type, client_assertion: jwtOf({ sub: 'nobody' }) }, refused],
    [{ ...type, client_assertion: jwtOf({ sub: 'public' }) }, refused],
    [{ ...type, client_assertion: jwtOf({ sub: 'secret' }) }, refused],
    [{ ...type, client_assertion: jwtOf({ sub: 'tls' }) }, refused],
    [{ ...type, client_assertion: jwtOf({ sub: 7 }) }, refused],
    [{ ...type, client_assertion: 'no.jwt' }, refused],
    [{ client_assertion: ASSERTION }, needed],
    [{ ...type, client_id: 'jwt' }, needed],
    [{ client_assertion: ASSERTION, client_assertion_type: 'other' }, needed],
    [{ ...signed, client_secret: 'x' }, twice],
    [{ client_id: 'jwt' }, refused],
    [{ client_id: 'jwt', client_secret: SECRET }, refused],
  ])('%j', async (sent, expected) => {
    expect(await outcome(sent)).toEqual(expected);
  });

  it('does not prove itself by the header as well', async () => {
    expect(await outcome(signed, basic('jwt:x'))).toEqual(twice);
  });

  it('proves itself by its certificate alone when it is registered so', async () => {
    const by = (certificate: string, sent = {}) =>
      outcome({ client_id: 'tls', ...sent }, undefined, 'authenticate', { certificate });
    expect(await by('good')).toBe('tls');
    expect(await by('other')).toEqual(refused);
    expect(await by('')).toEqual(refused);
    expect(await by('good', { client_secret: SECRET })).toEqual(refused);
    expect(await by('good', { client_id: 'jwt' })).toEqual(refused);
  });

  it('sends its parameters by POST and not in the query when its profile demands it', async () => {
    const byGet = { method: 'GET', url: '/oauth2/token' };
    const byQuery = { method: 'POST', url: '/oauth2/token?code=x' };
    expect(await outcome({ client_id: 'public' }, undefined, 'find', byGet)).toBe('public');
    expect(await outcome({ client_id: 'public' }, undefined, 'find', byQuery)).toBe('public');
    expect(await outcome({ client_id: 'strict' })).toBe('strict');
    for (const wrong of [byGet, byQuery]) {
      expect(await outcome({ client_id: 'strict' }, undefined, 'find', wrong)).toEqual([
        ...[400, 'invalid_request', 'request.invalid'],
        'Send the parameters of this application by POST, in the form alone',
        {},
      ]);
    }
  });
});
