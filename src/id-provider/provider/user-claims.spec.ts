import { growth, LINEAR } from '../../../test/support/growth.js';
import { isFrom, parseEntitlement, type Entitlement } from './entitlement.js';
import { GroupScopes, scopesOfGroup } from './group-scopes.js';
import { profileOf } from './user-claims.js';

describe('parseEntitlement', () => {
  it.each<[string, string, string | undefined, string, string[], string | undefined]>([
    ...(
      [
        [
          'urn:mace:egi.eu:group:biomed:role=member#aai.egi.eu',
          'aai.egi.eu',
          'biomed',
          [],
          'member',
        ],
        ['urn:mace:egi.eu:group:registry:biomed:role=member#a#b', 'a#b', 'biomed', [], 'member'],
        ['urn:mace:egi.eu:group:biomed2:role=vo-admin', undefined, 'biomed2', [], 'vo-admin'],
        ['urn:mace:egi.eu:group:registry:role=m#', '', 'registry', [], 'm'],
        ['urn:mace:egi.eu:group:vo:role=', undefined, 'vo', [], undefined],
        ['urn:mace:egi.eu:group:vo:sub', undefined, 'vo', ['sub'], undefined],
      ] as const
    ).map(
      ([value, authority, vo, subgroups, role]) =>
        [value, 'urn:mace:egi.eu', authority, vo, [...subgroups], role] as never,
    ),
    [
      ...['urn:geant:x-1:sub:group:vo:admins:deep:role=owner:ext', 'urn:geant:x-1:sub'],
      ...[undefined, 'vo', ['admins', 'deep'], 'owner'],
    ] as never,
    ['URN:X:y:group:vo', 'URN:X:y', undefined, 'vo', [], undefined],
    ['urn:x:group:vo:group:role=m', 'urn:x', undefined, 'vo', ['group'], 'm'],
  ])('%s', (value, namespace, authority, vo, subgroups, role) => {
    expect(parseEntitlement(value)).toEqual({ namespace, authority, vo, subgroups, role });
  });

  it.each([
    '',
    'vo',
    'url:x:y:group:vo',
    'urn:x:y:res:vo',
    'urn:x:y:group:',
    'urn:x:y:group:role=m',
    'urn:x:y:group',
  ])('%j is none', (value) => {
    expect(parseEntitlement(value)).toBeUndefined();
  });

  it('takes linear time', () => {
    const valueOf = (size: number): string => `urn:x:y:group:${'a:'.repeat(size)}`;
    expect(growth(valueOf, 100, parseEntitlement)).toBeLessThan(LINEAR);
  });
});

describe('the source of an entitlement', () => {
  const read = (value: string) => parseEntitlement(value) as Entitlement;
  const egi = read('urn:mace:egi.eu:group:vo:role=m#aai.egi.eu');

  it.each<[string, string[] | undefined, boolean]>([
    ['no sources are named', undefined, true],
    ['there are none', [], false],
    ['its namespace is', ['urn:x', 'urn:mace:egi.eu'], true],
    ['its namespace is, in another case', ['URN:Mace:egi.eu'], true],
    ['its namespace is, of another case behind', ['urn:mace:EGI.eu'], false],
    ['a longer one is', ['urn:mace:egi.eu:x'], false],
    ['a shorter one is', ['urn:mace'], false],
    ['its authority is too', ['urn:mace:egi.eu#aai.egi.eu'], true],
    ['another authority is', ['urn:mace:egi.eu#aai.evil.eu'], false],
    ['its authority is, of another namespace', ['urn:x:y#aai.egi.eu'], false],
  ])('%s', (_what, sources, expected) => {
    expect(isFrom(egi, sources)).toBe(expected);
  });

  it('without authority is of its namespace, and of no authority', () => {
    const bare = read('urn:mace:egi.eu:group:vo:role=m');
    expect(isFrom(bare, ['urn:mace:egi.eu'])).toBe(true);
    expect(isFrom(bare, ['urn:mace:egi.eu#aai.egi.eu'])).toBe(false);
  });
});

describe('getGroupScopes', () => {
  it.each([
    ['OAuth2', 'vo_user', { IdPRole: ' a  b ' }, ['a', 'b']],
    ['OAuth2', 'vo_user', { VO: 'vo' }, []],
    ['IAM', 'vo_user', { IdPRole: 'a' }, ['a']],
    ['IAM', 'vo_a_b', { VO: 'vo' }, ['wlcg.groups:/vo/a']],
    ['IAM', 'plain', { VO: 'vo' }, []],
    ['IAM', 'vo_user', {}, []],
    [
      'CheckIn',
      'vo_user',
      { VO: 'vo' },
      ['eduperson_entitlement?value=urn:mace:egi.eu:group:vo:role=user#aai.egi.eu'],
    ],
  ] as const)('%s %s %j', (type, group, options, expected) => {
    expect(scopesOfGroup(type, group, options)).toEqual(expected);
  });

  it('an unknown group has none, also one named like a member of objects', () => {
    const scopes = new GroupScopes('OAuth2', { g: { IdPRole: 'a' } }, {});
    expect([scopes.getGroupScopes('x'), scopes.getGroupScopes('toString')]).toEqual([[], []]);
  });
});

describe('getScopeGroups', () => {
  const table = {
    both: { IdPRole: 'a b' },
    none: {},
    one: { IdPRole: 'a' },
    other: { IdPRole: 'c' },
  };

  it.each([
    ['a b', ['both', 'one']],
    ['b  a', ['both', 'one']],
    ['a', ['one']],
    ['c a', ['one', 'other']],
    ['', []],
    ['d', []],
  ])('%j', (scope, expected) => {
    expect(new GroupScopes('OAuth2', table, {}).getScopeGroups(scope)).toEqual(expected);
  });

  it('reads a function each time', () => {
    let groups: Record<string, { IdPRole: string }> = { one: { IdPRole: 'a' } };
    const scopes = new GroupScopes(
      'OAuth2',
      (group) => (group === undefined ? groups : groups[group]),
      {},
    );
    expect([scopes.getScopeGroups('a'), scopes.getGroupScopes('one')]).toEqual([['one'], ['a']]);
    groups = { two: { IdPRole: 'a' } };
    expect([scopes.getScopeGroups('a'), scopes.getGroupScopes('one')]).toEqual([['two'], []]);
  });
});

describe('profileOf', () => {
  const vos = { vo: { member: ['vo_user'], admin: 'vo_admin', '/vo/sub/member': ['vo_sub'] } };
  const groups = { vo_admin: { VO: 'vo' }, vo_sub: {}, vo_user: { VO: 'vo' } };
  const rules = {
    dnPrefix: '/O=GRID/CN=',
    scopes: new GroupScopes('IAM', groups, vos),
    attributes: undefined,
  };
  const entitlement = (path: string) => `urn:mace:egi.eu:group:${path}#aai.egi.eu`;

  it.each([
    ['nothing about groups', {}, { ID: 'j', DN: '/O=GRID/CN=j' }],
    ['a scope that means no group', { scope: 'x' }, { ID: 'j', DN: '/O=GRID/CN=j', groups: [] }],
    [
      'a scope',
      { scope: 'openid wlcg.groups:/vo/user' },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_user'], group: 'vo_user' },
    ],
    [
      'entitlements, in the order of the configuration',
      {
        eduperson_entitlement: [
          entitlement('vo:role=member'),
          entitlement('elsewhere:role=admin'),
          entitlement('vo'),
          'nonsense',
          42,
          entitlement('vo:role=admin'),
        ],
        eduperson_unique_id: 'unique',
      },
      { ID: 'unique', DN: '/O=GRID/CN=unique', groups: ['vo_admin', 'vo_user'], group: 'vo_admin' },
    ],
    [
      'one entitlement as text, in a sub-group',
      { eduperson_entitlement: entitlement('vo:sub:role=member') },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_sub'], group: 'vo_sub' },
    ],
    [
      'entitlements in the claim of AARC-G069',
      { entitlements: [entitlement('vo:role=member'), entitlement('vo:role=admin')] },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_admin', 'vo_user'], group: 'vo_admin' },
    ],
    [
      'one of them as text',
      { entitlements: entitlement('vo:role=admin') },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_admin'], group: 'vo_admin' },
    ],
    [
      'entitlements in both claims',
      {
        entitlements: entitlement('vo:role=member'),
        eduperson_entitlement: [entitlement('vo:role=admin'), entitlement('vo:role=member')],
      },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_admin', 'vo_user'], group: 'vo_admin' },
    ],
    [
      'an entitlement without a role, which is that of a member',
      { entitlements: entitlement('vo') },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_user'], group: 'vo_user' },
    ],
    [
      'an entitlement without a role or authority',
      { eduperson_entitlement: ['urn:geant:x:group:vo'] },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_user'], group: 'vo_user' },
    ],
    [
      'an entitlement without a role in a sub-group, which is none in the VO',
      { entitlements: [entitlement('vo:sub')] },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_sub'], group: 'vo_sub' },
    ],
    [
      'no other role of a member',
      { entitlements: [entitlement('vo:x'), entitlement('elsewhere'), entitlement('')] },
      { ID: 'j', DN: '/O=GRID/CN=j' },
    ],
    [
      'entitlements among entries that are none',
      {
        entitlements: [null, 7, {}, ['urn:x:y:group:vo'], 'urn:', entitlement('vo:role=admin')],
        eduperson_entitlement: { urn: entitlement('vo:role=member') },
      },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_admin'], group: 'vo_admin' },
    ],
    [
      'a role in a sub-group, which is none in the VO',
      {
        eduperson_entitlement: [entitlement('vo:sub:role=admin'), entitlement('vo:x:role=member')],
      },
      { ID: 'j', DN: '/O=GRID/CN=j' },
    ],
    [
      'an empty unique id, which is none',
      { eduperson_unique_id: '', eduperson_entitlement: entitlement('vo:role=member') },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_user'], group: 'vo_user' },
    ],
    [
      'paths that only the table of the VO knows, in either claim',
      { 'wlcg.groups': ['/vo/sub/member', '/elsewhere/admin'], groups: 'vo/member' },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_sub', 'vo_user'], group: 'vo_sub' },
    ],
    [
      'paths in wlcg.groups that only the groups know',
      { 'wlcg.groups': '/vo/user' },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_user'], group: 'vo_user' },
    ],
    [
      'wlcg.groups',
      { 'wlcg.groups': ['/vo', '/vo/admin', '/vo/x/admin'] },
      { ID: 'j', DN: '/O=GRID/CN=j', groups: ['vo_admin'], group: 'vo_admin' },
    ],
  ])('%s', (_name, claims, expected) => {
    expect(profileOf({ sub: 'j', ...claims }, rules)).toStrictEqual(expected);
  });

  it('counts entitlements of the named sources only', () => {
    const claims = {
      sub: 'j',
      eduperson_entitlement: [
        'urn:mace:home.example:group:vo:role=admin#idp.home.example',
        'urn:mace:egi.eu:group:vo:role=admin#idp.home.example',
        entitlement('vo:role=member'),
      ],
    };
    const groupsOf = (entitlements?: string[]) =>
      profileOf(claims, { ...rules, entitlements }).groups;
    expect(groupsOf(['urn:mace:egi.eu#aai.egi.eu'])).toEqual(['vo_user']);
    expect(groupsOf(['urn:mace:egi.eu'])).toEqual(['vo_admin', 'vo_user']);
    expect(groupsOf()).toEqual(['vo_admin', 'vo_user']);
    const members = { sub: 'j', entitlements: ['urn:mace:home.example:group:vo'] };
    const named = { ...rules, entitlements: ['urn:mace:egi.eu'] };
    expect(profileOf(members, named).groups).toBeUndefined();
  });

  it('follows configured patterns', () => {
    const attributes = {
      person: '(?P<ID>\\w+)@',
      memberOf: '(?P<VO>\\w+)/(?P<VORole>\\w+)$',
    };
    expect(
      profileOf(
        { sub: 'j', person: 'jd@x', memberOf: ['vo/member', '?'] },
        { ...rules, attributes },
      ),
    ).toEqual({ ID: 'jd', DN: '/O=GRID/CN=jd', groups: ['vo_user'], group: 'vo_user' });
  });

  it('takes a role that did not match for none, whatever the table calls its roles', () => {
    const attributes = { memberOf: '(?:(?P<VO>\\w+):)?(?:(?P<VORole>\\w+))?$' };
    const table = { vo: { null: 'vo_admin' }, null: { member: 'vo_admin' } };
    const scopes = new GroupScopes('IAM', groups, table);
    const claims = { sub: 'j', memberOf: ['vo:', 'member'] };
    expect(profileOf(claims, { ...rules, scopes, attributes }).groups).toBeUndefined();
  });

  it('looks at the first thousand entitlements', () => {
    const many = (before: number) => ({
      sub: 'j',
      eduperson_entitlement: [
        ...Array.from({ length: before }, () => entitlement('x:role=y')),
        entitlement('vo:role=admin'),
      ],
    });
    expect(profileOf(many(999), rules).groups).toEqual(['vo_admin']);
    expect(profileOf(many(1000), rules).groups).toBeUndefined();
  });

  it.each([{}, { sub: '' }, { sub: 7 as never }])(
    'refuses %j, which names no subject',
    (claims) => {
      expect(() => profileOf(claims, rules)).toThrow(
        'missing_sub: the claims name no subject (sub)',
      );
    },
  );
});
