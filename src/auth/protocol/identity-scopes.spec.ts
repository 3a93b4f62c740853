import { identityScopes, mayRefresh } from './identity-scopes.js';

describe('scopes of OpenID Connect', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['jobs:read', []],
    ['openid', ['openid']],
    ['offline_access  email openid phone', ['openid', 'email', 'offline_access']],
    ['profile email', []],
    ['profile offline_access', ['offline_access']],
    ['openid,profile', []],
  ])('of %j are %j', (asked, scopes) => {
    expect(identityScopes(asked)).toEqual(scopes);
  });

  it.each([
    ['jobs:read', true],
    ['jobs:read offline_access', true],
    ['openid jobs:read', false],
    ['openid offline_access', true],
  ])('%j includes a refresh token: %j', (scope, includes) => {
    expect(mayRefresh(scope)).toBe(includes);
  });
});
