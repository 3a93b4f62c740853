import { withAdministrator } from './administrators.js';
import { ChangeFault } from './change-fault.js';
import { DEMO_REGISTRY } from './demo-registry.js';
import type { Group, RegistryContents, User } from './registry.types.js';

const EMPTY: RegistryContents = {
  ...{ users: [], groups: [], setups: [], applications: [] },
  ...{ storageElements: [], sites: [], shares: [] },
};
const eve: User = { name: 'eve', certificates: [{ subject: '/CN=Eve' }], subjects: [] };
const group = (name: string, more: Partial<Group> = {}): Group => ({
  ...{ name, members: [], idpScopes: [] },
  properties: new Set(['ServiceAdministrator']),
  ...more,
});

function made(
  contents: Partial<RegistryContents>,
  user: User = eve,
  isOfIssuer: (group: Group) => boolean = () => true,
): unknown {
  try {
    const before = { ...EMPTY, ...contents };
    const after = withAdministrator(before, user, isOfIssuer);
    const again = withAdministrator({ ...before, ...after }, user, isOfIssuer);
    expect({ ...before, ...again }).toEqual({ ...before, ...after });
    return {
      users: after.users.map(({ name }) => name),
      groups: after.groups.map(({ name, members }) => `${name}: ${members.join(' ')}`),
      setups: after.setups.map(({ name }) => name),
    };
  } catch (error) {
    if (!(error instanceof ChangeFault)) throw error;
    return [error.reason, error.message];
  }
}

describe('an administrator', () => {
  it('is the first user of an empty registry, with a group and a setup', () => {
    const { groups } = withAdministrator(EMPTY, eve, () => true);
    expect(groups).toEqual([
      {
        ...{ name: 'grid_adm', members: ['eve'], idpScopes: [] },
        properties: new Set(['JobAdministrator', 'ServiceAdministrator']),
      },
    ]);
    expect(made({})).toEqual({ users: ['eve'], groups: ['grid_adm: eve'], setups: ['Prod'] });
  });

  it('is taken into the first group that allows it, which nobody makes anew', () => {
    const { users, setups } = made(DEMO_REGISTRY) as Record<string, string[]>;
    expect([users?.at(-1), setups]).toEqual(['eve', ['Prod', 'Test']]);
    const closed = [{ name: 'Only', groups: ['b', 'c'] }];
    const groups = [group('a'), group('b', { vo: 'other' }), group('c')];
    expect(made({ groups, setups: closed }, eve, ({ vo }) => vo === undefined)).toEqual({
      ...{ users: ['eve'], groups: ['a: ', 'b: ', 'c: eve'], setups: ['Only'] },
    });
    expect(made({ groups: [group('a')] })).toEqual({
      ...{ users: ['eve'], groups: ['a: eve'], setups: ['Prod'] },
    });
  });

  it('is somebody who is there already, as is said', () => {
    const named = { ...eve, fullName: 'Eve E' };
    const answer = { users: ['eve'], groups: ['grid_adm: eve'], setups: ['Prod'] };
    expect(made({ users: [named] })).toEqual(answer);
    expect(made({ users: [named] }, { ...eve, certificates: [] })).toEqual(answer);
  });

  it.each<[string, Partial<RegistryContents>, User, string, string]>([
    [
      'nobody signs in as',
      {},
      { ...eve, certificates: [] },
      'conflict',
      'nobody signs in as eve: an administrator needs a certificate or a subject at an identity provider',
    ],
    [
      'is disabled',
      { users: [{ ...eve, disabled: true }] },
      eve,
      'conflict',
      'eve is disabled: enable eve first (gridgate user enable eve)',
    ],
    [
      'is there with something else',
      { users: [eve] },
      { ...eve, certificates: [{ subject: '/CN=Other' }], email: 'e@example.org' },
      'user-exists',
      'eve is there already with other certificates, email: change that first (gridgate user change eve), or leave it out here',
    ],
    [
      'has no group, whose name is taken',
      { groups: [group('grid_adm', { properties: new Set() })] },
      eve,
      'group-exists',
      'no group has ServiceAdministrator for which there are tokens, and the name grid_adm is taken: give the property to a group (gridgate group change)',
    ],
    [
      'has no setup',
      { setups: [{ name: 'Only', groups: ['x'] }] },
      eve,
      'conflict',
      'no setup is open to the group grid_adm, so that nobody gets a token for it: name it in the groups of a setup (gridgate registry load)',
    ],
  ])('is nobody who %s', (_what, contents, user, reason, text) => {
    expect(made(contents, user)).toEqual([reason, text]);
  });
});
