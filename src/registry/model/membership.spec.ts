import { DEMO_REGISTRY } from './demo-registry.js';
import { keepAdministrator } from './administrators.js';
import { ChangeFault } from './change-fault.js';
import {
  endedMemberships,
  withMember,
  withoutMember,
  withDisabled,
  withoutUser,
} from './membership.js';
import type { Group, RegistryContents, User } from './registry.types.js';

const demo = DEMO_REGISTRY;

function membersOf({ groups }: { groups: readonly Group[] }): Record<string, readonly string[]> {
  return Object.fromEntries(groups.map(({ name, members }) => [name, members]));
}

function faultOf(work: () => unknown): [string, string] | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof ChangeFault)) throw error;
    return [error.reason, error.message];
  }
}

describe('memberships that end', () => {
  const ended = (change: Partial<RegistryContents>, before = demo): string[] =>
    endedMemberships(before, { ...before, ...change }).map(({ user, group }) => `${user} ${group}`);
  const usersWith = (change: Partial<User>, of = demo): User[] =>
    of.users.map((one) => (one.name === 'alice' ? { ...one, ...change } : one));
  const ofAlice = ['alice grid_user', 'alice grid_share'];

  it('are those of who leaves a group, is removed or disabled', () => {
    expect(ended({})).toEqual([]);
    expect(ended(withoutMember(demo, 'grid_share', 'alice'))).toEqual(['alice grid_share']);
    expect(ended(withoutUser(demo, 'alice'))).toEqual(ofAlice);
    const disabled = withDisabled(demo, 'alice', true);
    expect(ended(disabled)).toEqual(ofAlice);
    expect(ended(withDisabled(demo, 'alice', false), { ...demo, ...disabled })).toEqual([]);
    expect(ended(withMember(demo, 'grid_mon', 'alice'))).toEqual([]);
  });

  it('are those of who loses a certificate or a subject, not of who gains one', () => {
    const subjects = [{ issuer: 'https://idp.example', sub: 'a' }];
    const certificates = [{ subject: '/CN=new' }];
    expect(ended({ users: usersWith({ certificates }) })).toEqual(ofAlice);
    const [alice] = demo.users.filter(({ name }) => name === 'alice');
    const more = [...(alice?.certificates ?? []), ...certificates];
    expect(ended({ users: usersWith({ certificates: more, subjects }) })).toEqual([]);
    const before = { ...demo, users: usersWith({ subjects }) };
    const other = [{ issuer: 'https://idp.example', sub: 'b' }];
    expect(ended({ users: usersWith({ subjects: other }) }, before)).toEqual(ofAlice);
    expect(ended({ users: usersWith({ fullName: 'A.' }) })).toEqual([]);
    const bound = usersWith({ certificates: [{ subject: '/CN=a', issuer: '/CN=CA' }] });
    const open = usersWith({ certificates: [{ subject: '/CN=a' }] });
    expect(ended({ users: open }, { ...demo, users: bound })).toEqual([]);
    expect(ended({ users: bound }, { ...demo, users: open })).toEqual(ofAlice);
  });
});

describe('members of groups', () => {
  const before = membersOf(demo);

  it('that are removed leave all groups, and nothing else changes', () => {
    const after = { ...before, grid_user: ['bob', 'carol'], grid_share: ['bob'] };
    const { users, groups } = withoutUser(demo, 'alice');
    expect(membersOf({ groups })).toEqual(after);
    expect(users).toEqual(demo.users.filter(({ name }) => name !== 'alice'));
    expect(membersOf(demo)).toEqual(before);
  });

  it('that are disabled stay in their groups, and are as they were when they are enabled', () => {
    const { users } = withDisabled(demo, 'alice', true);
    expect(users.filter(({ disabled }) => disabled).map(({ name }) => name)).toEqual(['alice']);
    expect(withDisabled({ ...demo, users }, 'alice', false).users).toEqual(demo.users);
  });

  it('come last, and once', () => {
    const after = { ...before, grid_mon: ['mona', 'carol'] };
    expect(membersOf(withMember(demo, 'grid_mon', 'carol'))).toEqual(after);
    expect(membersOf(withMember(demo, 'grid_mon', 'mona'))).toEqual(before);
  });

  it('leave one group', () => {
    const after = { ...before, grid_user: ['alice', 'carol'] };
    expect(membersOf(withoutMember(demo, 'grid_user', 'bob'))).toEqual(after);
  });

  it.each<[string, () => unknown, [string, string]]>([
    ['remove', () => withoutUser(demo, 'nobody'), ['no-user', 'there is no user nobody']],
    ['disable', () => withDisabled(demo, 'nobody', true), ['no-user', 'there is no user nobody']],
    ['add', () => withMember(demo, 'none', 'bob'), ['no-group', 'there is no group none']],
    ['add', () => withMember(demo, 'grid_mon', 'x'), ['no-user', 'there is no user x']],
    ['remove', () => withoutMember(demo, 'none', 'bob'), ['no-group', 'there is no group none']],
    ['remove', () => withoutMember(demo, 'grid_mon', 'x'), ['no-user', 'there is no user x']],
    [
      'remove',
      () => withoutMember(demo, 'grid_mon', 'bob'),
      ['no-member', 'bob is no member of grid_mon'],
    ],
    [
      'add',
      () => withMember(demo, 'constructor', 'bob'),
      ['no-group', 'there is no group constructor'],
    ],
  ])('cannot %s whom there is not: %#', (_what, work, fault) => {
    expect(faultOf(work)).toEqual(fault);
  });
});

describe('the last administrator', () => {
  const second: User = { name: 'eve', certificates: [], subjects: [] };
  const withSecond = (user: Partial<User>, more: Partial<RegistryContents> = {}) => ({
    ...demo,
    users: [...demo.users, { ...second, ...user }],
    groups: [
      ...demo.groups.filter(({ name }) => name !== 'grid_adm'),
      {
        name: 'root',
        properties: new Set<'ServiceAdministrator'>(['ServiceAdministrator']),
        members: ['eve'],
        idpScopes: [],
      },
    ],
    ...more,
  });
  const certificates = [{ subject: '/CN=eve' }];
  const subjects = [{ issuer: 'https://idp.example', sub: '1' }];

  it.each<[string, RegistryContents, boolean]>([
    ['somebody is left', demo, true],
    ['somebody with a certificate is left', withSecond({ certificates }), true],
    ['somebody with a subject is left', withSecond({ subjects }), true],
    ['who is left cannot sign in', withSecond({}), false],
    ['who is left is disabled', withSecond({ certificates, disabled: true }), false],
    [
      'the group may use no setup',
      withSecond({ certificates }, { setups: [{ name: 'Prod', groups: ['grid_user'] }] }),
      false,
    ],
    [
      'the group may use a setup',
      withSecond({ certificates }, { setups: [{ name: 'Prod', groups: ['root'] }] }),
      true,
    ],
    ['nobody is left', { ...demo, ...withoutUser(demo, 'adam') }, false],
    ['a member is none by JobAdministrator', { ...demo, groups: demo.groups.slice(0, 3) }, false],
  ])('%s', (_what, contents, isGood) => {
    const fault = faultOf(() => keepAdministrator(demo, contents, () => true));
    expect(fault?.[0]).toBe(isGood ? undefined : 'last-administrator');
  });

  it('is one of a group that there may be tokens for', () => {
    const elsewhere = withSecond({ certificates });
    const isOfIssuer = ({ name }: Group): boolean => name === 'grid_adm';
    expect(faultOf(() => keepAdministrator(demo, elsewhere, isOfIssuer))?.[0]).toBe(
      'last-administrator',
    );
    expect(faultOf(() => keepAdministrator(demo, demo, isOfIssuer))).toBeUndefined();
  });

  it('cannot be kept where there was none', () => {
    const none = { ...demo, ...withoutUser(demo, 'adam') };
    expect(faultOf(() => keepAdministrator(none, none, () => true))).toBeUndefined();
  });
});
