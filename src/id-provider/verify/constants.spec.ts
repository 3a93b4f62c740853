import {
  DEFAULT_METADATA,
  EXTRA_AUTHORIZE_PARAMS,
  JWKS_REFRESH_RATE,
  METADATA_REFRESH_RATE,
  SESSION_REQUEST_PARAMS,
} from './constants.js';

describe('constants of the client component', () => {
  it('are those of the interface', () => {
    expect([JWKS_REFRESH_RATE, METADATA_REFRESH_RATE]).toEqual([86_400, 86_400]);
    expect(DEFAULT_METADATA).toEqual({});
    expect(EXTRA_AUTHORIZE_PARAMS).toEqual(['response_mode', 'nonce', 'prompt', 'login_hint']);
    expect(SESSION_REQUEST_PARAMS).toEqual([
      ...['allow_redirects', 'timeout', 'cookies', 'files', 'proxies', 'hooks'],
      ...['stream', 'verify', 'cert', 'json'],
    ]);
  });

  it('cannot be changed by whoever imports them', () => {
    const lists = [DEFAULT_METADATA, EXTRA_AUTHORIZE_PARAMS, SESSION_REQUEST_PARAMS];
    expect(lists.every((constant) => Object.isFrozen(constant))).toBe(true);
  });
});
