import { Response, type PreparedRequest } from '#src/http-client/index.js';
import { OAuth2IdProvider } from '../provider/oauth2-id-provider.js';

const ISSUER = 'https://idp.test';
const ANSWERS: Record<string, object> = {
  '/token': { access_token: 'new', issued_token_type: 't', expires_in: 0 },
  '/revoke': {},
  '/par': { request_uri: 'urn:r' },
  '/userinfo': { sub: 'jane' },
  '/introspect': { active: true, sub: 'jane' },
  '/device': { device_code: 'd', user_code: 'u', verification_uri: `${ISSUER}/u`, expires_in: 0 },
  '/.well-known/openid-configuration': { issuer: ISSUER },
  '/keys': { keys: [] },
};

/** The token that every grant gets, as operations of a provider answer it. */
export const ACCEPTED = {
  access_token: 'new',
  issued_token_type: 't',
  expires_in: 0,
  expires_at: 1_800_000_000,
  client_id: 'me',
  provider: '',
};

/**
 * A provider whose server says yes to everything, the forms that it was sent, the paths that were asked for, and the
 * seconds of each pause (which take no time).
 */
export function setUp(parameters: object = {}, answers: Record<string, object> = {}) {
  const waits: number[] = [];
  let now = 1_800_000_000_000;
  const sleep = (milliseconds: number): Promise<void> => {
    waits.push(milliseconds / 1000);
    now += milliseconds;
    return Promise.resolve();
  };
  const clock = { now: () => now, sleep };
  const idp = new OAuth2IdProvider({
    client_id: 'me',
    trust_env: false,
    token_endpoint: `${ISSUER}/token`,
    revocation_endpoint: `${ISSUER}/revoke`,
    introspection_endpoint: `${ISSUER}/introspect`,
    userinfo_endpoint: `${ISSUER}/userinfo`,
    authorization_endpoint: `${ISSUER}/auth`,
    device_authorization_endpoint: `${ISSUER}/device`,
    pushed_authorization_request_endpoint: `${ISSUER}/par`,
    jwks_uri: `${ISSUER}/keys`,
    groups: { g: { IdPRole: 'a b' } },
    clock,
    ...parameters,
  });
  const forms: string[] = [];
  const asked: string[] = [];
  const send = (request: PreparedRequest): Promise<Response> => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    if (typeof request.body === 'string') forms.push(request.body);
    const answer = answers[pathname] ?? ANSWERS[pathname];
    const content = JSON.stringify(answer ?? {});
    const status_code = answer === undefined ? 404 : 200;
    return Promise.resolve(new Response({ status_code, url: request.url, content, request }));
  };
  idp.mount('https://', { send, close: () => undefined });
  return { idp, forms, asked, waits };
}
