/** Where a resource without a path says what it is (RFC 9728 §3). */
const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Schemes of challenges that ask for an access token. */
const FOR_TOKENS = /^(Bearer|DPoP) /;

/** The address of the metadata of a resource: the well-known path stands between its host and its path (RFC 9728 §3.1). */
export function resourceMetadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`;
}

/** The challenge with the address of the metadata (RFC 9728 §5.1), where it asks for an access token. */
export function withResourceMetadata(challenge: string, url: string): string {
  return FOR_TOKENS.test(challenge) ? `${challenge}, resource_metadata="${url}"` : challenge;
}
