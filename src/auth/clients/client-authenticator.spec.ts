import { OAuthProblem, sha256 } from '#src/kernel/index.js';
import { labelsOf, type HttpRequest } from '#src/platform/index.js';
import {
  DEMO_REGISTRY,
  RegistrySnapshot,
  type Client,
  type ClientsRepository,
  type RegistryService,
} from '#src/registry/index.js';
import { OAuthParameters } from '../protocol/oauth-parameters.js';
import { ClientAuthenticator } from './client-authenticator.js';
import { ClientsService } from './clients.service.js';

const SECRET = 'p:w+ä %';

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
    ],
  },
  1,
);

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
);

function requestWith(authorization?: string): HttpRequest {
  return { headers: { ...(authorization !== undefined && { authorization }) } } as HttpRequest;
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const encoded = encodeURIComponent(SECRET).replaceAll('%20', '+');

/** The id of the application, or status, error, code, text and challenge of the refusal. */
async function outcome(
  sent: Record<string, string>,
  authorization?: string,
  way: 'authenticate' | 'find' = 'authenticate',
): Promise<unknown> {
  const request = requestWith(authorization);
  const parameters = OAuthParameters.from(Object.entries(sent));
  try {
    const found = await authenticator[way](parameters, request);
    expect(labelsOf(request)).toEqual(found ? { client: found.id } : {});
    return found?.id;
  } catch (error) {
    if (!(error instanceof OAuthProblem)) throw error;
    expect(labelsOf(request)).toEqual({});
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
