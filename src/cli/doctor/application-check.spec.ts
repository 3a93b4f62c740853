import type { Client } from '../../registry/index.js';
import { checkApplications } from './application-check.js';

const client = (id: string, change: Partial<Client> = {}): Client => ({
  id,
  name: id,
  redirectUris: [],
  confidential: false,
  origin: 'file',
  ...change,
});
const applications = [
  client('one'),
  client('two', { profile: 'interface' }),
  client('strict', { profile: 'oauth2.1' }),
  client('secret', { confidential: true }),
];
const good = { check: 'applications', state: 'ok', text: 'PKCE is demanded of every public one' };

describe('the applications that doctor names', () => {
  it('are the public ones without PKCE', () => {
    expect(checkApplications({ requirePkce: 'off' }, applications)).toEqual({
      check: 'applications',
      state: 'warning',
      text: 'no PKCE is demanded of the public one, two',
      advice: 'Set GRID_REQUIRE_PKCE=public, or register them with the profile oauth2.1',
    });
  });

  it.each([
    ['public', applications],
    ['all', applications],
    ['off', applications.slice(2)],
    ['off', []],
  ] as const)('are none with %s', (requirePkce, some) => {
    expect(checkApplications({ requirePkce }, some)).toEqual(good);
  });
});
