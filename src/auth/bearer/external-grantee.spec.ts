import { OAuthProblem } from '#src/kernel/index.js';
import {
  DEMO_REGISTRY,
  RegistrySnapshot,
  type Group,
  type Setup,
  type User,
} from '#src/registry/index.js';
import {
  capabilitiesIn,
  chosen,
  exchangeableScopes,
  groupsClaimed,
  groupsSaid,
  isWlcgConform,
  wordsClaimed,
  type Preference,
} from './external-grantee.js';

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

describe('scopes for which a provider’s token is exchanged', () => {
  const root = group('root', { properties: new Set(['NormalUser', 'ServiceAdministrator']) });

  it.each<[string[] | undefined, string[] | undefined]>([
    [['admin', 'jobs:read'], undefined],
    [['admin', 'jobs:read'], ['jobs:read']],
    [undefined, ['jobs:read', 'admin']],
  ])('of %j within %j are none of administration', (asked, capabilities) => {
    const token = { group: root, groups: [root], capabilities };
    expect(exchangeableScopes(asked, token)).toEqual(['jobs:read']);
  });

  it('come from no word for administration that a provider says', () => {
    expect(capabilitiesIn(['admin', 'openid'])).toBeUndefined();
    expect(capabilitiesIn(['admin', 'compute.read'])).toEqual(['compute.read']);
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
    [undefined, undefined],
    ['', undefined],
    ['openid wlcg wlcg.groups:/vo/x offline_access jobs:readx', undefined],
    ['openid jobs:kill profile jobs:read', ['jobs:read', 'jobs:kill']],
    ['openid storage.read:/a compute.create', ['storage.read:/a', 'compute.create']],
    ['openid storage.write:/a', []],
    ['compute.admin compute.read', ['compute.read']],
  ])('of %j are %j', (scope, own) => {
    expect(capabilitiesIn(wordsClaimed(scope) ?? [])).toEqual(own);
  });

  it.each([
    [{}, true],
    [{ scope: 'openid storage.read:/a', 'wlcg.ver': '1.0' }, true],
    [{ 'wlcg.ver': '1.13' }, true],
    [{ 'wlcg.ver': '2.0' }, false],
    [{ 'wlcg.ver': '1' }, false],
    [{ 'wlcg.ver': 1 }, false],
    [{ scope: 'jobs:read storage.read' }, false],
    [{ scope: 'storage.read:' }, false],
    [{ scope: 'storage.modify:/a/../b' }, false],
    [{ scope: 'storage.other:x storage.readers' }, true],
    [{ scope: ['storage.read:/a', 'openid'] }, true],
    [{ scope: ['storage.read'] }, false],
    [{ scope: [7] }, false],
    [{ scope: 7 }, false],
    [{ 'wlcg.groups': [] }, true],
    [{ 'wlcg.groups': '/vo' }, false],
    [{ ver: '2.0' }, true],
    [{ ver: 'scitokens:2.0' }, false],
  ])('%j keep to the profile: %s', (claims, expected) => {
    expect(isWlcgConform(claims)).toBe(expected);
  });

  it('name groups of the user as the profile does', () => {
    const [plain, scoped] = ['plain', 'scoped'].map((name) => group(name, { vo: 'vo' }));
    const known = new RegistrySnapshot({ ...DEMO_REGISTRY, groups: [plain!, scoped!] }, 3);
    const names = (claimed: unknown) =>
      groupsClaimed(known, alice, { 'wlcg.groups': claimed })?.map(({ name }) => name);
    expect(names(undefined)).toBeUndefined();
    expect(names('/vo/plain')).toBeUndefined();
    expect(names(['/vo/scoped', '/vo', '/other/plain', 'plain', 7, '/vo/plain'])).toEqual([
      ...['scoped', 'plain'],
    ]);
    expect(names([])).toEqual([]);
  });
});
