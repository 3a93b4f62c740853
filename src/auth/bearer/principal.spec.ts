import {
  DEMO_REGISTRY,
  RegistrySnapshot,
  type Client,
  type RegistryContents,
} from '#src/registry/index.js';
import {
  actorOf,
  applicationPrincipal,
  borderOf,
  principalFrom,
  type Grantee,
  type Property,
} from './principal.js';
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
    [undefined, ['NormalUser', 'JobMonitor'], undefined],
    [undefined, ['NormalUser'], ''],
    [undefined, [], ''],
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

  it('is nobody when another application has the client_id since', () => {
    const registrations = new Map([['demo-portal', 1000]]);
    const later = new RegistrySnapshot(DEMO_REGISTRY, 2, { registrations });
    const nameAt = (givenAt: number | undefined): string | undefined =>
      principalFrom({ ...alice, clientId: 'demo-portal', givenAt }, later)?.user;
    expect([undefined, 1000, 940].map(nameAt)).toEqual(['alice', 'alice', 'alice']);
    expect(nameAt(939)).toBeUndefined();
    const old = { ...alice, givenAt: 1 };
    expect(principalFrom({ ...old, clientId: CERTIFICATE_CLIENT }, later)?.user).toBe('alice');
    expect(principalFrom({ ...old, clientId: 'gridgate-cli' }, later)?.user).toBe('alice');
  });

  it('is nobody with what was given before the membership ended, also when there is one again', () => {
    const departures = [{ user: 'alice', group: 'grid_user', seconds: 1000 }];
    const later = new RegistrySnapshot(DEMO_REGISTRY, 2, { departures });
    const nameAt = (givenAt: number | undefined, group = 'grid_user'): string | undefined =>
      principalFrom({ ...alice, group, givenAt }, later)?.user;
    expect([undefined, 1000, 1001].map((at) => nameAt(at))).toEqual(['alice', 'alice', 'alice']);
    expect([nameAt(999), nameAt(1)]).toEqual([undefined, undefined]);
    expect(nameAt(1, 'grid_share')).toBe('alice');
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

describe('principal of an application that acts for itself', () => {
  const robot: Client = {
    ...{ id: 'robot', name: 'Robot', redirectUris: [], confidential: true, origin: 'file' },
    ...{ group: 'grid_user', scopes: ['jobs:read', 'storage.read:/vo/a', 'wlcg'] },
  };
  const itself: Grantee = {
    ...{ user: 'robot', group: 'grid_user', setup: 'Prod', clientId: 'robot' },
    scopes: ['jobs:read', 'jobs:kill', 'storage.read:/vo/a/b', 'storage.read:/vo', 'openid'],
  };
  const found = (change: Partial<Client> = {}, token: Partial<Grantee> = {}) =>
    applicationPrincipal(
      { ...itself, ...token },
      registryWith({ applications: [{ ...robot, ...change }, ...DEMO_REGISTRY.applications] }),
    );

  it('has what it is registered for now, and a name that no user can have', () => {
    expect(found()).toEqual({
      user: 'application:robot',
      dn: '',
      group: 'grid_user',
      setup: 'Prod',
      vo: 'vo',
      properties: new Set(['NormalUser']),
      scopes: new Set(['jobs:read', 'catalogue:read']),
      paths: expect.objectContaining({ change: [] }),
      clientId: 'robot',
      userGroups: ['grid_user'],
    });
    expect(found({ profile: 'fapi2' })?.isHeaderOnly).toBe(true);
  });

  it('never administers the service', () => {
    const group = 'grid_adm';
    const robots = { group, scopes: ['jobs:read', 'admin'] };
    const scopes = [...found(robots, { group, scopes: ['jobs:read', 'admin'] })!.scopes];
    expect(scopes).toEqual(['jobs:read']);
  });

  it('may have been handed on to another application', () => {
    expect(found({}, { clientId: 'demo-portal' })?.clientId).toBe('demo-portal');
  });

  it.each<[string, Partial<Client>, Partial<Grantee>]>([
    ['another group', { group: 'grid_mon' }, {}],
    ['no group', { group: 'gone' }, { group: 'gone' }],
    ['another setup', {}, { setup: 'Other' }],
    ['an unknown application', {}, { clientId: 'gone' }],
    ['itself gone', {}, { user: 'gone' }],
  ])('is nobody with %s', (_what, change, token) => {
    expect(found(change, token)).toBeUndefined();
  });

  it('is nobody once it may have no tokens for itself', () => {
    const { scopes: _none, ...without } = robot;
    const registry = registryWith({ applications: [without] });
    expect(applicationPrincipal(itself, registry)).toBeUndefined();
  });
});
