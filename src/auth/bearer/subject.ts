import type { User } from '#src/registry/index.js';

/** What tokens call a user (`sub`): opaque and for life. Only a user who is not stored yet has none. */
export function subjectOf({ name, sub }: Pick<User, 'name' | 'sub'>): string {
  if (sub === undefined) throw new Error(`the user ${name} is not stored`);
  return sub;
}
