import type { User } from '#src/registry/index.js';
import { membershipsOf, pageOf } from './user-list.js';

const user = (name: string, more: Partial<User> = {}): User => ({
  name,
  certificates: [],
  subjects: [],
  ...more,
});
const users = [
  user('zoe', { fullName: 'Zoë Äther' }),
  user('bob', { email: 'Bob@Example.org' }),
  user('Ann', { certificates: [{ subject: '/CN=Ann', issuer: '/CN=Example CA' }] }),
  user('eve', { sub: 'id-7', subjects: [{ issuer: 'https://idp.example', sub: 'e-1' }] }),
];

function page(search: string, limit = 10, after?: string): unknown[] {
  const wish = { search, limit, ...(after !== undefined && { after }) };
  const { users: found, total, last } = pageOf(users, wish);
  return [found.map(({ name }) => name).join(' '), total, last];
}

describe('a page of users', () => {
  it.each<[string, number, string | undefined, unknown[]]>([
    ['', 10, undefined, ['Ann bob eve zoe', 4, undefined]],
    ['', 4, undefined, ['Ann bob eve zoe', 4, undefined]],
    ['', 3, undefined, ['Ann bob eve', 4, 'eve']],
    ['', 3, 'eve', ['zoe', 4, undefined]],
    ['', 2, 'aaa', ['bob eve', 4, 'eve']],
    ['', 2, 'zoe', ['', 4, undefined]],
    ['example', 2, undefined, ['Ann bob', 3, 'bob']],
    ['ÄTHER', 10, undefined, ['zoe', 1, undefined]],
    ['id-7', 10, undefined, ['eve', 1, undefined]],
    ['E-1', 10, undefined, ['eve', 1, undefined]],
    ['/cn=ann', 10, undefined, ['Ann', 1, undefined]],
    ['none', 10, undefined, ['', 0, undefined]],
  ])('of %j, at most %j after %j', (search, limit, after, expected) => {
    expect(page(search, limit, after)).toEqual(expected);
  });

  it('leaves the users as they are', () => {
    expect(users.map(({ name }) => name)).toEqual(['zoe', 'bob', 'Ann', 'eve']);
  });
});

describe('memberships', () => {
  it('are in the order of the groups', () => {
    const group = (name: string, ...members: string[]) => ({
      ...{ name, members, idpScopes: [] },
      properties: new Set(['NormalUser'] as const),
    });
    const found = membershipsOf([group('b', 'eve', 'bob'), group('a', 'eve'), group('c')]);
    expect([...found]).toEqual([
      ['eve', ['b', 'a']],
      ['bob', ['b']],
    ]);
  });
});
