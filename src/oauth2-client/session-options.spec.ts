import { ConfigurationError } from './oauth-error.js';
import {
  EXTRA_AUTHORIZE_PARAMS,
  metadataOf,
  SESSION_REQUEST_PARAMS,
  sessionSettings,
  splitCall,
} from './session-options.js';

const EXTRA = ['response_mode', 'nonce', 'prompt', 'login_hint'];
const REQUEST = [
  ...['allow_redirects', 'timeout', 'cookies', 'files', 'proxies', 'hooks'],
  ...['stream', 'verify', 'cert', 'json'],
];
const SETTINGS = [
  ...['auth', 'cert', 'cookies', 'headers', 'hooks', 'max_redirects', 'params', 'proxies'],
  ...['stream', 'trust_env', 'use_netrc', 'verify', 'default_timeout', 'allow_insecure_tls'],
  'redirect_secret_headers',
];
const OWN = [
  ...['client_id', 'client_secret', 'token_endpoint_auth_method', 'scope', 'state', 'token'],
  ...['revocation_endpoint_auth_method', 'redirect_uri', 'token_placement', 'update_token'],
  ...['leeway', 'code_challenge_method', 'clock', 'legacyFlows', 'allowInsecureLoopback'],
  ...['rawBasic', 'pushed', 'dpop'],
];

const filled = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `its ${name}`]));

describe('names of the interface', () => {
  it('are its two lists, which nobody can change', () => {
    expect([EXTRA_AUTHORIZE_PARAMS, SESSION_REQUEST_PARAMS]).toEqual([EXTRA, REQUEST]);
    expect([EXTRA_AUTHORIZE_PARAMS, SESSION_REQUEST_PARAMS].every(Object.isFrozen)).toBe(true);
  });
});

describe('keywords of a token operation', () => {
  it('are settings of the request, fields of the form, or neither', () => {
    const kept = ['timeout', 'cookies', 'proxies', 'hooks', 'verify', 'cert', 'signal'];
    const neither = ['body', 'headers', 'auth', 'method', 'state', 'code'];
    const options = filled([...REQUEST, 'signal', ...neither, 'audience']);
    expect(splitCall(options, ['code'])).toEqual({
      http: filled(kept),
      fields: { audience: 'its audience' },
    });
    expect(splitCall({ code: 'c' })).toEqual({ http: {}, fields: { code: 'c' } });
  });

  it('hold what a form can hold; an empty text is no field', () => {
    const fields = { text: 'a', number: 0, flag: false, list: ['a', 1, true], none: null };
    expect(splitCall({ ...fields, absent: undefined, empty: '' })).toEqual({
      http: {},
      fields: { ...fields, absent: undefined },
    });
  });

  it.each([[{}], [() => 'x'], [Symbol('x')], [['a', null]], [['a', ['b']]], [[{}]]])(
    'refuse %p as a field',
    (value) => {
      const attempt = () => splitCall({ audience: value });
      expect(attempt).toThrow(ConfigurationError);
      expect(attempt).toThrow('"audience" is no form value');
    },
  );
});

describe('keywords of the session constructor', () => {
  it('are settings of the HTTP session, which leaves .netrc alone unless told otherwise', () => {
    const { use_netrc: _told, ...others } = filled(SETTINGS);
    expect(sessionSettings({ ...filled(SETTINGS), ...filled(OWN), issuer: 'x' })).toEqual(
      filled(SETTINGS),
    );
    expect(sessionSettings({ ...others, verify: undefined })).toEqual({
      ...others,
      use_netrc: false,
      verify: undefined,
    });
    expect(Object.keys(sessionSettings({ verify: undefined }))).toEqual(['use_netrc']);
  });

  it('refuse the old name of update_token', () => {
    const attempt = () => sessionSettings({ token_updater: () => undefined });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow('token_updater is no longer known, use update_token');
  });

  it('are metadata when they are nothing else', () => {
    const known = { ...filled(SETTINGS), ...filled(OWN) } as object;
    const metadata = metadataOf({ ...known, token_endpoint: 'x', absent: undefined, none: null });
    expect(metadata).toEqual({ token_endpoint: 'x', none: null });
    expect(Object.keys(metadata)).toEqual(['token_endpoint', 'none']);
  });
});
