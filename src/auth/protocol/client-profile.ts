import type { Client } from '#src/registry/index.js';

/**
 * True for an application that is registered with `oauth2.1` or `fapi2`: PKCE is demanded, redirect URIs are
 * compared to the last character, and neither access tokens nor parameters of the token endpoint come in a query string.
 */
export function isStrict({ profile }: Pick<Client, 'profile'>): boolean {
  return profile === 'oauth2.1' || profile === 'fapi2';
}

/** Whose authorization requests need PKCE beside those whose profile demands it (GRID_REQUIRE_PKCE). */
export type PkceRule = 'off' | 'public' | 'all';

/** Whether an authorization request of this application needs an S256 challenge. */
export function demandsPkce(
  client: Pick<Client, 'profile' | 'confidential'>,
  rule: PkceRule,
): boolean {
  return rule === 'all' || (rule === 'public' && !client.confidential) || isStrict(client);
}
