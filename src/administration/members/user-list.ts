import type { Group, User } from '#src/registry/index.js';

/** What is wanted of all users. */
export interface UserWish {
  /** A text in any case; everybody when it is empty. */
  search: string;
  limit: number;
  after?: string;
}

/** One page of users by name, how many there are on all pages, and the name after which the next one begins. */
export function pageOf(
  users: readonly User[],
  { search, limit, after }: UserWish,
): { users: User[]; total: number; last?: string } {
  const wanted = search.toLowerCase();
  const found = users.filter((user) => has(user, wanted)).sort(byName);
  const rest = after === undefined ? found : found.filter(({ name }) => name > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1)?.name;
  const hasMore = rest.length > limit && last !== undefined;
  return { users: page, total: found.length, ...(hasMore && { last }) };
}

/** User → names of groups, in the order of the registry. */
export function membershipsOf(groups: readonly Group[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, members } of groups) {
    for (const member of members) {
      const known = found.get(member);
      if (known) known.push(name);
      else found.set(member, [name]);
    }
  }
  return found;
}

function has({ name, sub, fullName, email, certificates, subjects }: User, text: string): boolean {
  const ofCertificates = certificates.flatMap(({ subject, issuer }) => [subject, issuer]);
  const ofSubjects = subjects.flatMap((subject) => [subject.issuer, subject.sub]);
  return [name, sub, fullName, email, ...ofCertificates, ...ofSubjects].some(
    (one) => one?.toLowerCase().includes(text) ?? false,
  );
}

function byName(one: User, other: User): number {
  return one.name < other.name ? -1 : 1;
}
