import { OAuthProblem } from '#src/kernel/index.js';
import {
  DEMO_REGISTRY,
  RegistrySnapshot,
  type Group,
  type Setup,
  type User,
} from '#src/registry/index.js';
import { chosen, groupsSaid, isHolder, ownScopes, type Preference } from './external-grantee.js';

const group = (name: string, change: Partial<Group> = {}): Group => ({
  name,
  properties: new Set(['NormalUser']),
  members: ['alice'],
  idpScopes: [],
  ...change,
});

const GROUPS = [
  group('plain'),
  group('scoped', { idpScopes: ['wlcg.groups:/vo'] }),
  group('role', { idpRole: 'urn:role' }),
  group('foreign', { members: ['bob'] }),
];
const SETUPS: Setup[] = [
  { name: 'Closed', groups: ['scoped'] },
  { name: 'Prod' },
  { name: 'Test' },
];
const registry = new RegistrySnapshot({ ...DEMO_REGISTRY, groups: GROUPS, setups: SETUPS }, 1);
const alice = registry.userByName('alice') as User;

describe('a token with a confirmation claim', () => {
  it.each<[string, unknown, string | undefined, boolean]>([
    ['none', undefined, undefined, true],
    ['none, and a certificate', undefined, 'thumb', true],
    ['of the certificate', { 'x5t#S256': 'thumb' }, 'thumb', true],
    ['of another certificate', { 'x5t#S256': 'other' }, 'thumb', false],
    ['of a certificate, and none is shown', { 'x5t#S256': 'thumb' }, undefined, false],
    ['of no value, and no certificate', { 'x5t#S256': undefined }, undefined, false],
    ['of a DPoP key', { jkt: 'key' }, 'thumb', false],
    ['of both', { 'x5t#S256': 'thumb', jkt: 'key' }, 'thumb', false],
    ['null', null, 'thumb', false],
    ['text', 'thumb', 'thumb', false],
    ['a list', ['thumb'], 'thumb', false],
  ])('%s', (_what, confirmation, thumbprint, expected) => {
    expect(isHolder(confirmation, thumbprint)).toBe(expected);
  });
});

describe('groups of a token', () => {
  const names = (said: string[]) => groupsSaid(registry, alice, said).map(({ name }) => name);

  it('are those it names, as far as the user is a member', () => {
    expect(names(['scoped', 'foreign', 'nonsense', 'plain'])).toEqual(['plain', 'scoped']);
    expect(names(['foreign'])).toEqual([]);
  });

  it('are those that no provider has a say in when it names none', () => {
    expect(names([])).toEqual(['plain']);
  });
});

function choice(
  preference: Partial<Preference>,
  groups = GROUPS.slice(0, 3),
  providerSetup?: string,
): unknown {
  try {
    const wished = { group: undefined, setup: undefined, ...preference };
    const { group: taken, setup } = chosen(groups, wished, { registry, providerSetup });
    return [taken.name, setup];
  } catch (error) {
    if (error instanceof OAuthProblem) return [error.status, error.error, error.detail];
    throw error;
  }
}

const noGroup = [403, 'access_denied', 'The group is not one that this token allows'];
const noSetup = [403, 'access_denied', 'The setup is not one that this token allows'];

describe('group and setup of a token', () => {
  it('are the first that are open when nothing is wished', () => {
    expect(choice({})).toEqual(['plain', 'Prod']);
    expect(choice({ group: 'scoped' })).toEqual(['scoped', 'Closed']);
  });

  it('are the wished ones; the setup of the provider stands back', () => {
    expect(choice({ group: 'role', setup: 'Test' })).toEqual(['role', 'Test']);
    expect(choice({}, GROUPS, 'Test')).toEqual(['plain', 'Test']);
    expect(choice({ setup: 'Prod' }, GROUPS, 'Test')).toEqual(['plain', 'Prod']);
  });

  it('are refused when the token does not allow them', () => {
    expect(choice({}, [])).toEqual(noGroup);
    expect(choice({ group: 'foreign' })).toEqual(noGroup);
    expect(choice({ setup: 'Closed' })).toEqual(noSetup);
    expect(choice({ setup: 'Nowhere' })).toEqual(noSetup);
    expect(choice({}, GROUPS, 'Closed')).toEqual(noSetup);
  });

  it('are refused to a group without any setup', () => {
    const empty = new RegistrySnapshot({ ...DEMO_REGISTRY, groups: GROUPS, setups: [] }, 2);
    const nothing = { group: undefined, setup: undefined };
    expect(() => chosen(GROUPS, nothing, { registry: empty, providerSetup: undefined })).toThrow(
      'The setup is not one that this token allows',
    );
  });
});

describe('scopes of a token', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['openid jobs:kill profile jobs:read', ['jobs:read', 'jobs:kill']],
    ['jobs:readx', []],
  ])('of %j are %j', (scope, own) => {
    expect(ownScopes(scope)).toEqual(own);
  });
});
