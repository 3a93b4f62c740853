import { DEMO_REGISTRY } from '../model/demo-registry.js';
import { RegistrySnapshot } from './registry-snapshot.js';
import type { Group, Site, User } from '../model/registry.types.js';

const CA = '/DC=org/CN=CA';
const OTHER_CA = '/DC=org/CN=Other CA';

const user = (name: string, change: Partial<User> = {}): User => ({
  name,
  certificates: [],
  subjects: [],
  ...change,
});
const group = (name: string, members: string[]): Group => ({
  name,
  members,
  properties: new Set(['NormalUser']),
  idpScopes: [],
});
const site = (name: string, of: Pick<Site, 'setups' | 'vos'> = {}): Site => ({
  name,
  backend: 'local-process',
  options: {},
  ...of,
});

const anywhere = user('anywhere', { certificates: [{ subject: '/CN=a' }] });
const bound = user('bound', {
  sub: 'id-of-bound',
  certificates: [
    { subject: '/CN=a', issuer: CA },
    { subject: '/CN=b', issuer: CA },
  ],
  subjects: [{ issuer: 'https://idp.example', sub: '7' }],
});
const registry = new RegistrySnapshot(
  {
    ...DEMO_REGISTRY,
    users: [anywhere, bound],
    groups: [group('first', ['bound']), group('second', ['anywhere', 'bound']), group('empty', [])],
    setups: [{ name: 'Ops', groups: ['first'] }, { name: 'Prod' }],
    sites: [
      site('everything'),
      site('ops', { setups: ['Ops'] }),
      site('ours', { vos: ['a', 'b'] }),
    ],
    shares: [{ name: 'second', weight: 3 }],
  },
  3,
);

const names = (items: readonly { name: string }[]): string[] => items.map(({ name }) => name);

describe('the user of a certificate', () => {
  it.each<[string, string | undefined, User | undefined]>([
    ['/CN=a', CA, bound],
    ['/CN=a', OTHER_CA, anywhere],
    ['/CN=a', undefined, anywhere],
    ['/CN=b', CA, bound],
    ['/CN=b', OTHER_CA, undefined],
    ['/CN=b', undefined, undefined],
    ['/CN=b', '', undefined],
    ['/CN=c', CA, undefined],
  ])('%s from %j', (subject, issuer, expected) => {
    expect(registry.userByCertificate(subject, issuer)).toBe(expected);
  });
});

describe('the user whom an identity provider names', () => {
  it.each<[string, string, User | undefined]>([
    ['https://idp.example', '7', bound],
    ['https://other.example', '7', undefined],
    ['https://idp.example', '8', undefined],
  ])('%s %s', (issuer, sub, expected) => {
    expect(registry.userBySubject(issuer, sub)).toBe(expected);
  });
});

describe('a registry at one moment', () => {
  it('finds who is called so in our own tokens', () => {
    expect(registry.userBySub('id-of-bound')).toBe(bound);
    expect([registry.userBySub('bound'), registry.userBySub('')]).toEqual([undefined, undefined]);
  });

  it('finds by name, and nothing under names that there are not', () => {
    expect([registry.version, registry.userByName('bound')]).toEqual([3, bound]);
    expect(registry.group('second')?.members).toEqual(['anywhere', 'bound']);
    expect(registry.setup('Ops')).toEqual({ name: 'Ops', groups: ['first'] });
    expect(registry.site('ops')?.setups).toEqual(['Ops']);
    expect(registry.storageElement('SE-A')).toEqual({ name: 'SE-A' });
    expect(registry.client('demo-portal')?.name).toBe('Demo portal');
    const none = 'toString';
    expect([
      ...[registry.userByName(none), registry.group(none), registry.setup(none)],
      ...[registry.site(none), registry.storageElement(none), registry.client(none)],
    ]).toEqual(Array.from({ length: 6 }, () => undefined));
  });

  it('lists in the order of the registry', () => {
    expect(names(registry.groups())).toEqual(['first', 'second', 'empty']);
    expect(names(registry.setups())).toEqual(['Ops', 'Prod']);
    expect(names(registry.sites())).toEqual(['everything', 'ops', 'ours']);
    expect(names(registry.storageElements())).toEqual(['SE-A', 'SE-B']);
    expect(names(registry.applications())).toEqual(['Demo portal']);
  });

  it('knows who is in which group', () => {
    expect(names(registry.groupsOf('bound'))).toEqual(['first', 'second']);
    expect(names(registry.groupsOf('anywhere'))).toEqual(['second']);
    expect(registry.groupsOf('nobody')).toEqual([]);
    expect(registry.isMember('anywhere', 'second')).toBe(true);
    expect(registry.isMember('anywhere', 'first')).toBe(false);
  });

  it('opens a setup to its groups, or to all', () => {
    const open = (setup: string) =>
      ['first', 'second', 'nothing'].map((name) => registry.mayUseSetup(name, setup));
    expect(open('Ops')).toEqual([true, false, false]);
    expect(open('Prod')).toEqual([true, true, false]);
    expect(open('Nowhere')).toEqual([false, false, false]);
    expect(names(registry.setupsOf('bound'))).toEqual(['Ops', 'Prod']);
    expect(names(registry.setupsOf('anywhere'))).toEqual(['Prod']);
    expect(registry.setupsOf('nobody')).toEqual([]);
  });

  it('knows what groups are due', () => {
    expect(['first', 'second'].map((name) => registry.weightOf(name))).toEqual([1, 3]);
  });

  it('has jobs of a setup and a virtual organisation on their sites', () => {
    const sitesOf = (setup: string, vo?: string) => names(registry.sitesOf({ setup, vo }));
    expect(sitesOf('Ops')).toEqual(['everything', 'ops']);
    expect(sitesOf('Prod')).toEqual(['everything']);
    expect(sitesOf('Prod', '')).toEqual(['everything']);
    expect(sitesOf('Prod', 'c')).toEqual(['everything']);
    expect(sitesOf('Prod', 'b')).toEqual(['everything', 'ours']);
    expect(sitesOf('Ops', 'a')).toEqual(['everything', 'ops', 'ours']);
  });
});

describe('who may have tokens for which groups', () => {
  const snapshotOf = (users: User[], issuerVo?: string): RegistrySnapshot => {
    const ofVo = (name: string, vo: string): Group => ({ ...group(name, names(users)), vo });
    const groups = [ofVo('ours', 'vo'), ofVo('theirs', 'other'), group('open', names(users))];
    const contents = { ...DEMO_REGISTRY, users, groups };
    return new RegistrySnapshot(contents, 1, { ...(issuerVo !== undefined && { issuerVo }) });
  };

  it('is nobody who is disabled', () => {
    const registry = snapshotOf([user('here'), user('gone', { disabled: true }), bound]);
    expect(['here', 'gone', 'bound'].map((name) => registry.groupsOf(name).length)).toEqual([
      ...[3, 0, 3],
    ]);
    expect(registry.isMember('gone', 'ours')).toBe(false);
    expect(registry.userBySub('undefined')).toBeUndefined();
  });

  it('are those of the VO that tokens are for, and those without one', () => {
    expect(names(snapshotOf([user('here')]).groupsOf('here'))).toEqual(['ours', 'theirs', 'open']);
    expect(names(snapshotOf([user('here')], 'vo').groupsOf('here'))).toEqual(['ours', 'open']);
  });

  it('knows when the last membership of a user ended', () => {
    const departures = [
      { user: 'alice', group: 'a', seconds: 20 },
      { user: 'alice', group: 'b', seconds: 10 },
    ];
    const snapshot = new RegistrySnapshot(DEMO_REGISTRY, 1, { departures });
    expect([19, 20].map((then) => snapshot.hasLeftSince('alice', then))).toEqual([true, false]);
    expect(snapshot.hasLeftSince('bob', 0)).toBe(false);
  });
});
