import { DEMO_REGISTRY, RegistrySnapshot, type RegistryContents } from '#src/registry/index.js';
import { narrowScopes, principalFrom, scopesOf, type Grantee } from './principal.js';

const demo = new RegistrySnapshot(DEMO_REGISTRY, 1);
const alice: Grantee = {
  user: 'alice',
  group: 'grid_user',
  setup: 'Prod',
  clientId: 'certificate',
  scopes: ['jobs:read', 'jobs:kill'],
};

function registryWith(change: Partial<RegistryContents>): RegistrySnapshot {
  return new RegistrySnapshot({ ...DEMO_REGISTRY, ...change }, 2);
}

describe('scopes of a group', () => {
  it.each([
    ['grid_user', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write'],
    ['grid_share', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write'],
    ['grid_mon', 'jobs:read catalogue:read'],
    ['grid_adm', 'jobs:read jobs:kill catalogue:read'],
    ['grid_fc', 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write'],
  ])('%s allows %s', (name, scopes) => {
    expect(scopesOf(demo.group(name)!.properties).join(' ')).toBe(scopes);
  });

  it('narrows to what was asked and is allowed', () => {
    const group = demo.group('grid_mon')!;
    expect(narrowScopes(group, undefined)).toEqual(['jobs:read', 'catalogue:read']);
    expect(narrowScopes(group, 'jobs:submit jobs:read nonsense')).toEqual(['jobs:read']);
    expect(narrowScopes(group, 'jobs:submit')).toEqual([]);
    expect(narrowScopes(group, '  ')).toEqual(['jobs:read', 'catalogue:read']);
  });

  it('allows nothing without a property that grants something', () => {
    expect(scopesOf(new Set(['JobSharing', 'ServiceAdministrator']))).toEqual([]);
  });
});

describe('principal of a token', () => {
  it('is what the registry says now', () => {
    expect(principalFrom(alice, demo)).toEqual({
      user: 'alice',
      dn: '/DC=org/DC=grid/CN=alice',
      group: 'grid_user',
      setup: 'Prod',
      vo: 'vo',
      properties: new Set(['NormalUser']),
      scopes: new Set(['jobs:read', 'jobs:kill']),
      clientId: 'certificate',
      userGroups: ['grid_user', 'grid_share'],
    });
  });

  it('is nobody once the user has left the group', () => {
    const groups = DEMO_REGISTRY.groups.map((group) => ({
      ...group,
      members: group.members.filter((member) => member !== 'alice'),
    }));
    expect(principalFrom(alice, registryWith({ groups }))).toBeUndefined();
  });

  it('is nobody when user, group, setup or application are gone', () => {
    expect(principalFrom({ ...alice, user: 'zoe' }, demo)).toBeUndefined();
    expect(principalFrom({ ...alice, group: 'grid_mon' }, demo)).toBeUndefined();
    expect(principalFrom({ ...alice, setup: 'Other' }, demo)).toBeUndefined();
    expect(principalFrom({ ...alice, clientId: 'gone' }, demo)).toBeUndefined();
    expect(principalFrom({ ...alice, clientId: 'demo-portal' }, demo)?.clientId).toBe(
      'demo-portal',
    );
  });

  it('has no setup that is closed to its group', () => {
    const setups = [{ name: 'Prod', groups: ['grid_mon'] }];
    expect(principalFrom(alice, registryWith({ setups }))).toBeUndefined();
  });

  it('loses scopes that the group does not allow any more', () => {
    const groups = DEMO_REGISTRY.groups.map((group) => ({
      ...group,
      properties: new Set(['JobMonitor'] as const),
    }));
    const scopes = principalFrom(alice, registryWith({ groups }))?.scopes;
    expect(scopes).toEqual(new Set(['jobs:read']));
  });
});
