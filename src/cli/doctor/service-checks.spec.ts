import type { Config } from '#src/config/index.js';
import type { Client, Group } from '../../registry/index.js';
import { checkApplications, checkBorders } from './service-checks.js';

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

const group = (name: string, vo?: string, properties: Group['properties'] = NORMAL): Group => ({
  name,
  ...(vo !== undefined && { vo }),
  ...{ properties, members: [], idpScopes: [] },
});
const NORMAL: Group['properties'] = new Set(['NormalUser']);
const OFFICE: Group['properties'] = new Set(['JobAdministrator']);
const config = { globalJobs: 'vo', catalogueGlobalRead: false } as unknown as Config;
const borders = 'virtual organisations';
const apart = { check: borders, state: 'ok', text: 'every group of NormalUser has its own' };

describe('what doctor says of virtual organisations', () => {
  it.each([
    ['one', [group('a', 'a'), group('free')]],
    ['none', [group('free')]],
    ['several', [group('a', 'a'), group('b', 'b'), group('office', undefined, OFFICE)]],
  ])('is nothing with %s', (_how, groups) => {
    expect(checkBorders(config, groups)).toEqual(apart);
  });

  it('names groups of NormalUser beside several', () => {
    const groups = [group('a', 'a'), group('free'), group('b', 'b'), group('loose')];
    expect(checkBorders(config, groups)).toEqual({
      ...{ check: borders, state: 'warning' },
      text: 'beside several, the groups free, loose have NormalUser and belong to none',
      advice:
        'Give them a `vo`: what their members submit belongs to none, and with another property they see that of all',
    });
  });

  it('names settings that open the borders', () => {
    const open = { ...config, globalJobs: 'true' } as Config;
    expect(checkBorders(open, [group('a', 'a'), group('b', 'b')])).toEqual({
      ...{ check: borders, state: 'warning' },
      text: 'GRID_GLOBAL_JOBS=true: users see what belongs to other virtual organisations',
      advice: 'Leave them out, or set them to `vo`',
    });
    expect(checkBorders(open, [group('a', 'a'), group('free')])).toEqual(apart);
  });
});
