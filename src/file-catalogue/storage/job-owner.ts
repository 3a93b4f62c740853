import { applicationPrincipal, principalFrom, type Principal } from '#src/auth/index.js';
import { APPLICATION_PREFIX, STORAGE_CLIENT, type RegistrySnapshot } from '#src/registry/index.js';

/** Whose job it is. */
export interface JobOwner {
  user: string;
  group: string;
}

/** The owner of a job as somebody with these scopes; undefined for one who has no right to anything any more. */
export function principalOf(
  { user, group, setup }: JobOwner & { setup: string },
  registry: RegistrySnapshot,
  scopes: readonly string[],
): Principal | undefined {
  const grantee = { user, group, setup, clientId: STORAGE_CLIENT, scopes };
  if (!user.startsWith(APPLICATION_PREFIX)) return principalFrom(grantee, registry);
  const id = user.slice(APPLICATION_PREFIX.length);
  return applicationPrincipal({ ...grantee, user: id, clientId: id }, registry);
}
