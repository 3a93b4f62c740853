/** Scopes of OpenID Connect (Core §5.4, §11): they open nothing here but what is said of the user. */
export const IDENTITY_SCOPES = ['openid', 'profile', 'email', 'offline_access'] as const;

/** One of the scopes of OpenID Connect. */
export type IdentityScope = (typeof IDENTITY_SCOPES)[number];

/** Those of the words (separated by blanks) that mean something: without `openid`, `offline_access` alone. */
export function identityScopes(asked: string | undefined): IdentityScope[] {
  const words = (asked ?? '').split(' ');
  const isOpenid = words.includes('openid');
  return IDENTITY_SCOPES.filter(
    (scope) => words.includes(scope) && (isOpenid || scope === 'offline_access'),
  );
}

/**
 * Whether what was allowed includes a refresh token: OpenID Connect has a word for it, which the user is asked about
 * (Core §11); an application that does not ask who somebody is needs none, as ever.
 */
export function mayRefresh(scope: string): boolean {
  const words = scope.split(' ');
  return !words.includes('openid') || words.includes('offline_access');
}
