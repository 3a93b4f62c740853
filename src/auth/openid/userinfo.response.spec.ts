import { UserinfoResponse } from './userinfo.response.js';

const alice = {
  name: 'alice',
  sub: 'id-of-alice',
  fullName: 'Alice Example',
  email: 'alice@example.org',
  certificates: [],
  subjects: [],
};

describe('what is said of a user', () => {
  it.each([
    [['openid'], { sub: 'id-of-alice' }],
    [
      ['openid', 'profile'],
      { sub: 'id-of-alice', name: 'Alice Example', preferred_username: 'alice' },
    ],
    [
      ['openid', 'email', 'jobs:read'],
      { sub: 'id-of-alice', email: 'alice@example.org', email_verified: false },
    ],
  ] as const)('with the scopes %j is %j', (scopes, said) => {
    expect(UserinfoResponse.of(alice, new Set(scopes))).toEqual(said);
  });

  it('leaves out what the registry does not know', () => {
    const user = { name: 'bob', sub: 'id-of-bob', certificates: [], subjects: [] };
    const said = UserinfoResponse.of(user, new Set(['openid', 'profile', 'email']));
    expect(said).toEqual({ sub: 'id-of-bob', preferred_username: 'bob' });
  });
});
