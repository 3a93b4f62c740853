/** A challenge as the service at this address sends it: the metadata of the resource stand at its end (RFC 9728 §5.1). */
export function challengeOf({ url }: { url: string }, challenge: string): string {
  return `${challenge}, resource_metadata="${url}/.well-known/oauth-protected-resource"`;
}
