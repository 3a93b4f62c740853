import { DEMO_REGISTRY, RegistrySnapshot, type RegistryContents } from '#src/registry/index.js';
import { actorOf, borderOf, principalFrom, type Grantee, type Property } from './principal.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';

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

describe('the border of a virtual organisation', () => {
  it.each<[string | undefined, Property[], string | undefined]>([
    ['vo', ['JobAdministrator'], 'vo'],
    ['vo', [], 'vo'],
    ['vo', ['JobAdministrator', 'ServiceAdministrator'], undefined],
    [undefined, ['JobAdministrator'], undefined],
  ])('of a group of %s with %j is %s', (vo, properties, border) => {
    const caller = { ...(vo !== undefined && { vo }), properties: new Set(properties) };
    expect(borderOf(caller)).toBe(border);
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

  it('is written in the audit trail with group, setup and application', () => {
    const principal = principalFrom({ ...alice, clientId: CERTIFICATE_CLIENT }, demo)!;
    const actor = { user: 'alice', group: 'grid_user', setup: 'Prod', client: 'certificate' };
    expect(actorOf(principal)).toEqual(actor);
  });

  it('has no DN without a certificate, and no virtual organisation that its group has not', () => {
    const users = DEMO_REGISTRY.users.map((user) => ({ ...user, certificates: [] }));
    const fred = { ...alice, user: 'fred', group: 'grid_fc' };
    const principal = principalFrom(fred, registryWith({ users }))!;
    expect(principal.dn).toBe('');
    expect(Object.keys(principal)).not.toContain('vo');
  });

  it('may have come through an application of the service itself', () => {
    const principal = principalFrom({ ...alice, clientId: 'gridgate-cli' }, demo);
    expect(principal?.clientId).toBe('gridgate-cli');
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
