import { DEMO_REGISTRY } from './demo-registry.js';
import { faultsOf } from './registry-rules.js';
import { RegistrySnapshot } from '../store/registry-snapshot.js';
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
      { name: 'alice', certificates: [{ subject: '/CN=a' }], subjects: [subject] },
      { name: 'bob', certificates: [{ subject: '/CN=a' }], subjects: [subject] },
    ];
    expect(faults({ users, groups: [] })).toEqual([
      'users.bob.certificates.0: belongs to alice already',
      'users.bob.subjects.0: belongs to alice already',
    ]);
  });

  it('lets a subject of tokens belong to one user, and to no application', () => {
    const user = (name: string, sub: string) => ({ name, sub, certificates: [], subjects: [] });
    const users = [
      ...[user('alice', 'a'), user('bob', 'a'), user('carol', 'demo-portal')],
      user('dave', 'gridgate-storage'),
    ];
    expect(faults({ users, groups: [] })).toEqual([
      'users.bob.sub: belongs to alice already',
      'users.carol.sub: is the id of an application',
      'users.dave.sub: is the id of an application',
    ]);
  });

  it('lets one DN from different CAs belong to different users, but then names a CA everywhere', () => {
    const user = (name: string, ...issuers: (string | undefined)[]) => ({
      name,
      certificates: issuers.map((issuer) => ({
        subject: '/CN=a',
        ...(issuer !== undefined && { issuer }),
      })),
      subjects: [],
    });
    const faultsOfUsers = (...users: ReturnType<typeof user>[]) => faults({ users, groups: [] });
    expect(faultsOfUsers(user('alice', '/CN=A', '/CN=C'), user('bob', '/CN=B'))).toEqual([]);
    expect(faultsOfUsers(user('alice', '/CN=A'), user('bob', '/CN=A'))).toEqual([
      'users.bob.certificates.0: belongs to alice already',
    ]);
    expect(faultsOfUsers(user('alice', '/CN=A'), user('bob', undefined))).toEqual([
      'users.alice.certificates.0: stands elsewhere without an issuer: name one there too',
    ]);
    expect(faultsOfUsers(user('alice', undefined, '/CN=A'))).toEqual([
      'users.alice.certificates.1: stands elsewhere without an issuer: name one there too',
    ]);
  });

  it('needs members, groups, setups and virtual organisations that exist, each once', () => {
    const [group] = DEMO_REGISTRY.groups;
    const groups = [{ ...group!, members: ['alice', 'zoe', 'alice'] }];
    expect(faults({ groups, setups: [{ name: 'Prod', groups: ['grid_user', 'none'] }] })).toEqual([
      'groups.grid_user.members.1: there is no user zoe',
      'groups.grid_user.members.2: stands here twice',
      'setups.Prod.groups.1: there is no group none',
    ]);
    const sites = [{ name: 'S', backend: 'slurm' as const, options: {}, setups: ['None'] }];
    expect(faults({ sites })).toEqual(['sites.S.setups.0: there is no setup None']);
    const ofVos = [
      { name: 'S', backend: 'slurm' as const, options: {}, vos: ['vo', 'none', 'vo'] },
    ];
    expect(faults({ sites: ofVos })).toEqual([
      'sites.S.vos.1: no group is of the virtual organisation none',
      'sites.S.vos.2: stands here twice',
    ]);
    const tagged = [{ name: 'S', backend: 'slurm' as const, options: {}, tags: ['a', 'b', 'a'] }];
    expect(faults({ sites: tagged })).toEqual(['sites.S.tags.2: stands here twice']);
  });

  it('needs virtual organisations that exist at storage elements, and a place for each', () => {
    const address = { url: 'https://x/vo', kind: 'webdav' as const, vos: ['vo', 'none', 'vo'] };
    const storageElements = [
      { name: 'A', ...address },
      { name: 'B', ...address, url: 'https://y/vo', vos: ['vo'] },
      { name: 'C', ...address, url: 'https://y/vo', vos: ['vo'] },
    ];
    expect(faults({ storageElements })).toEqual([
      'storageElements.A.vos.1: no group is of the virtual organisation none',
      'storageElements.A.vos.2: stands here twice',
      'storageElements.C.url: is also that of B; files of two elements may not lie in one place',
    ]);
  });

  it('gives each site with a connection a directory of its own', () => {
    const at = (name: string, workDirectory: string) => ({
      ...{ name, backend: 'slurm' as const, options: {} },
      connection: { url: 'http://a', workDirectory },
    });
    expect(faults({ sites: [at('A', '/w/a'), at('B', '/w/ab'), at('C', '/w/b/')] })).toEqual([]);
    const words = 'needs its own';
    expect(faults({ sites: [at('A', '/w/a/'), at('B', '/w/a'), at('C', '/w')] })).toEqual([
      `sites.B.connection.workDirectory: is also that of A; each site with a connection ${words}`,
      `sites.C.connection.workDirectory: is also that of A; each site with a connection ${words}`,
    ]);
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

  it('keeps names that applications have as owners from users', () => {
    const users = [{ name: 'application:x', certificates: [], subjects: [] }];
    expect(faults({ users: [...DEMO_REGISTRY.users, ...users] })).toEqual([
      'users.application:x: begins with application:, which is for applications that act for themselves',
    ]);
  });

  it('knows the group of an application, and no scope twice', () => {
    const client = {
      ...{ id: 'x', name: 'X', redirectUris: [], confidential: true, secretHash: 'h' },
      ...{ origin: 'file' as const, scopes: ['jobs:read', 'jobs:read'], group: 'nothing' },
    };
    expect(faults({ applications: [client] })).toEqual([
      'applications.x.group: there is no group nothing',
      'applications.x.scopes.1: stands here twice',
    ]);
  });

  it('gives shares to groups that there are', () => {
    const shares = ['grid_user', 'nobody'].map((name) => ({ name, weight: 2 }));
    expect(faults({ shares })).toEqual(['shares.nobody: there is no group nobody']);
  });

  it('needs a secret for confidential applications and refuses one for public ones', () => {
    const client = { id: 'x', name: 'X', redirectUris: [], origin: 'file' as const };
    expect(faults({ applications: [{ ...client, confidential: true }] })).toHaveLength(1);
    const withSecret = { ...client, confidential: false, secretHash: 'h' };
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

  it('finds users by their certificate, from whichever CA when none is named', () => {
    for (const issuer of [undefined, '/CN=A', '/CN=B']) {
      expect(snapshot.userByCertificate('/DC=org/DC=grid/CN=alice', issuer)?.name).toBe('alice');
    }
    expect(snapshot.userByCertificate('/DC=org/DC=grid/CN=stranger', '/CN=A')).toBeUndefined();
  });

  it('finds users from the CA that their entry names, and from no other', () => {
    const users = ['A', 'B'].map((ca) => ({
      name: `user${ca}`,
      certificates: [{ subject: '/CN=same', issuer: `/CN=${ca}` }],
      subjects: [],
    }));
    const bound = new RegistrySnapshot({ ...DEMO_REGISTRY, users }, 1);
    const names = ['/CN=A', '/CN=B', '/CN=C', undefined].map(
      (issuer) => bound.userByCertificate('/CN=same', issuer)?.name,
    );
    expect(names).toEqual(['userA', 'userB', undefined, undefined]);
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
    expect(snapshot.sitesOf({ setup: 'Test' }).map(({ name }) => name)).toEqual(['B']);
  });
});
