import * as grid from '#src/grid.js';
import { HOOK_TYPES } from '#src/oauth2-client/compliance-hooks.js';

/**
 * The tables of the reference of the client component, as data: each name stands on its class with its default. What the
 * operations do is the other specs' matter.
 */
type Row = readonly [name: string, value: unknown];

const SESSION_REQUEST_PARAMS = [
  ...['allow_redirects', 'timeout', 'cookies', 'files', 'proxies', 'hooks'],
  ...['stream', 'verify', 'cert', 'json'],
];

/** 1.1: constants, by the class that has them. */
const CONSTANTS: readonly [name: string, value: unknown, of: 'session' | 'provider'][] = [
  ['EXTRA_AUTHORIZE_PARAMS', ['response_mode', 'nonce', 'prompt', 'login_hint'], 'session'],
  ['SESSION_REQUEST_PARAMS', SESSION_REQUEST_PARAMS, 'session'],
  ['DEFAULT_METADATA', {}, 'provider'],
  ['JWKS_REFRESH_RATE', 86_400, 'provider'],
  ['METADATA_REFRESH_RATE', 86_400, 'provider'],
];

/** 1.2: keywords of the constructor. */
const KEYWORDS: readonly Row[] = [
  ...['client_id', 'client_secret', 'scope', 'state', 'redirect_uri'].map((name): Row => [
    name,
    null,
  ]),
  ...['token', 'update_token', 'default_timeout'].map((name): Row => [name, null]),
  ['token_endpoint_auth_method', 'none'],
  ['revocation_endpoint_auth_method', 'none'],
  ['code_challenge_method', 'S256'],
  ['token_placement', 'header'],
  ['leeway', 60],
];

/** 1.17, 3.6: attributes of the HTTP session. */
const SETTINGS: readonly Row[] = [
  ['auth', null],
  ['cert', null],
  ['max_redirects', 30],
  ['params', {}],
  ['proxies', {}],
  ['stream', false],
  ['trust_env', true],
  ['verify', true],
  ['default_timeout', null],
  ['hooks', { response: [] }],
];

/** 3.6: headers of every request. */
const HEADERS: readonly Row[] = [
  ['User-Agent', 'gridgate'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Accept', '*/*'],
  ['Connection', 'keep-alive'],
];

/** 1.15: the interface's hooks, and those that the reference lacks. */
const HOOKS = [
  ...['access_token_response', 'refresh_token_request', 'refresh_token_response'],
  ...['protected_request', 'revoke_token_request', 'introspect_token_request'],
  ...['exchange_token_request', 'exchange_token_response', 'access_token_request'],
  ...['device_authorization_request', 'revoke_token_response', 'introspect_token_response'],
];

/** 1.16: codes of errors, with the class that has each. */
const ERRORS: readonly [code: string, make: () => grid.OAuthError][] = [
  ['missing_token', () => new grid.MissingTokenError()],
  ['token_invalid', () => new grid.InvalidTokenError()],
  ['unsupported_token_type', () => new grid.UnsupportedTokenTypeError()],
  ['mismatching_state', () => new grid.MismatchingStateError()],
  ['missing_code', () => new grid.MissingCodeError()],
];

const client = new grid.OAuth2Client();
const session = new grid.OAuth2Session();
const provider = new grid.OAuth2IdProvider();
const http = new grid.Session();

const membersOf = (it: object): Record<string, unknown> => it as Record<string, unknown>;

describe('the reference, row by row', () => {
  it.each(CONSTANTS)('constant %s', (name, value, of) => {
    const holders = of === 'session' ? [client, session, provider] : [provider];
    for (const one of holders) {
      expect([membersOf(one)[name], membersOf(one.constructor)[name]]).toEqual([value, value]);
    }
  });

  it.each(KEYWORDS)('keyword %s', (name, value) => {
    for (const one of [client, session]) expect(membersOf(one)[name]).toEqual(value);
  });

  it('keywords of client authentication follow the secret, each for itself', () => {
    const basic = 'client_secret_basic';
    const methodsOf = (options: Record<string, string>): unknown[] => {
      const one = new grid.OAuth2Session(options);
      return [one.token_endpoint_auth_method, one.revocation_endpoint_auth_method];
    };
    expect(methodsOf({ client_secret: 's' })).toEqual([basic, basic]);
    expect(methodsOf({ client_secret: '' })).toEqual(['none', 'none']);
    const post = 'client_secret_post';
    expect(methodsOf({ client_secret: 's', token_endpoint_auth_method: post })).toEqual([
      post,
      basic,
    ]);
  });

  it.each(SETTINGS)('attribute %s', (name, value) => {
    for (const one of [http, client, session, provider]) {
      expect(membersOf(one)[name]).toEqual(value);
    }
  });

  it('attribute headers, and no other', () => {
    expect([...http.headers]).toEqual(HEADERS);
  });

  it('attribute cookies is a jar of each session’s own', () => {
    const [one, other] = [new grid.Session(), new grid.Session()];
    expect([...one.cookies]).toEqual([]);
    expect(one.cookies).not.toBe(other.cookies);
  });

  it('classes that can be exchanged', () => {
    const names = ['client_auth_class', 'token_auth_class', 'oauth_error_class'];
    for (const one of [client, session, provider]) {
      expect(names.map((name) => typeof membersOf(one)[name])).toEqual(names.map(() => 'function'));
      expect(names.map((name) => membersOf(one.constructor)[name])).toEqual(
        names.map((name) => membersOf(one)[name]),
      );
    }
    expect(client.oauth_error_class).toBe(grid.OAuthError);
  });

  it('hooks, all of them', () => {
    expect([...HOOK_TYPES].sort()).toEqual([...HOOKS].sort());
  });

  it.each(ERRORS)('error %s', (code, make) => {
    const error = make();
    expect(error).toBeInstanceOf(grid.OAuthError);
    expect(error.error).toBe(code);
  });

  it('a provider without parameters is nobody and nowhere', async () => {
    const { name, issuer, scope, parameters, metadata } = provider;
    expect({ name, issuer, scope, parameters, metadata }).toEqual({
      ...{ name: '', issuer: '', scope: null, parameters: {}, metadata: {} },
    });
    expect(await provider.get_metadata()).toBeNull();
    expect([provider.getGroupScopes('any'), provider.getScopeGroups('any')]).toEqual([[], []]);
  });
});
