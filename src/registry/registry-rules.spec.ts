import { DEMO_REGISTRY } from './demo-registry.js';
import { faultsOf } from './registry-rules.js';
import { RegistrySnapshot } from './registry-snapshot.js';
import type { RegistryContents } from './registry.types.js';

const faults = (change: Partial<RegistryContents>): string[] =>
  faultsOf({ ...DEMO_REGISTRY, ...change }).map(
    ({ path, problem }) => `${path.join('.')}: ${problem}`,
  );

describe('rules of the registry as a whole', () => {
  it('finds nothing wrong with the demo registry', () => {
    expect(faults({})).toEqual([]);
  });

  it('lets a certificate or subject belong to one user', () => {
    const subject = { issuer: 'https://idp', sub: '1' };
    const users = [
      { name: 'alice', certificates: ['/CN=a'], subjects: [subject] },
      { name: 'bob', certificates: ['/CN=a'], subjects: [subject] },
    ];
    expect(faults({ users, groups: [] })).toEqual([
      'users.bob.certificates.0: belongs to alice already',
      'users.bob.subjects.0: belongs to alice already',
    ]);
  });

  it('needs members, groups and setups that exist, each once', () => {
    const [group] = DEMO_REGISTRY.groups;
    const groups = [{ ...group!, members: ['alice', 'zoe', 'alice'] }];
    expect(faults({ groups, setups: [{ name: 'Prod', groups: ['grid_user', 'none'] }] })).toEqual([
      'groups.grid_user.members.1: there is no user zoe',
      'groups.grid_user.members.2: stands here twice',
      'setups.Prod.groups.1: there is no group none',
    ]);
    const sites = [{ name: 'S', backend: 'slurm' as const, options: {}, setups: ['None'] }];
    expect(faults({ sites })).toEqual(['sites.S.setups.0: there is no setup None']);
    const tagged = [{ name: 'S', backend: 'slurm' as const, options: {}, tags: ['a', 'b', 'a'] }];
    expect(faults({ sites: tagged })).toEqual(['sites.S.tags.2: stands here twice']);
  });

  it.each(['', '.', '..', 'a/b', 'a\n', 'x'.repeat(256)])(
    'needs a virtual organisation that can be a directory, unlike %j',
    (vo) => {
      const [group] = DEMO_REGISTRY.groups;
      expect(faults({ groups: [{ ...group!, vo }] })).toEqual([
        'groups.grid_user.vo: is no name of a directory',
      ]);
    },
  );

  it('needs a secret for confidential applications and refuses one for public ones', () => {
    const application = { id: 'x', name: 'X', redirectUris: [], origin: 'file' as const };
    expect(faults({ applications: [{ ...application, confidential: true }] })).toHaveLength(1);
    const withSecret = { ...application, confidential: false, secretHash: 'h' };
    expect(faults({ applications: [withSecret] })).toEqual([
      'applications.x.secretHash: only a confidential application has a secret',
    ]);
  });
});

describe('RegistrySnapshot', () => {
  const snapshot = new RegistrySnapshot(
    {
      ...DEMO_REGISTRY,
      setups: [{ name: 'Prod' }, { name: 'Test', groups: ['grid_share'] }],
      sites: [
        { name: 'A', backend: 'slurm', options: {}, setups: ['Prod'] },
        { name: 'B', backend: 'slurm', options: {} },
      ],
    },
    7,
  );

  it('finds users by any spelling of their DN', () => {
    for (const dn of ['/DC=org/DC=grid/CN=alice', 'CN=alice,DC=grid,DC=org']) {
      expect(snapshot.userByDn(dn)?.name).toBe('alice');
    }
    expect(snapshot.userByDn('/DC=org/DC=grid/CN=stranger')).toBeUndefined();
    expect(snapshot.userByDn('no DN')).toBeUndefined();
  });

  it('answers groups in the order of the registry', () => {
    expect(snapshot.groupsOf('alice').map(({ name }) => name)).toEqual(['grid_user', 'grid_share']);
    expect(snapshot.groupsOf('zoe')).toEqual([]);
  });

  it('opens setups by group', () => {
    expect(snapshot.setupsOf('bob').map(({ name }) => name)).toEqual(['Prod', 'Test']);
    expect(snapshot.setupsOf('carol').map(({ name }) => name)).toEqual(['Prod']);
    expect(snapshot.mayUseSetup('grid_user', 'Test')).toBe(false);
    expect(snapshot.mayUseSetup('grid_share', 'None')).toBe(false);
    expect(snapshot.sitesOf('Test').map(({ name }) => name)).toEqual(['B']);
  });
});
