import { isStrict } from './client-profile.js';
import { isLoopbackHost, type Client } from '#src/registry/index.js';

/**
 * True when the application may be answered at this URI: exact comparison with the registered ones (RFC 9700 §2.1),
 * except that loopback URIs of public applications are compared without the port, which native programs choose when
 * they start (RFC 8252 §7.3), unless their profile wants every character.
 */
export function isRegisteredRedirect(client: Client, uri: string): boolean {
  if (client.redirectUris.includes(uri)) return true;
  if (client.confidential || isStrict(client)) return false;
  const bare = withoutLoopbackPort(uri);
  if (bare === undefined) return false;
  return client.redirectUris.some((known) => withoutLoopbackPort(known) === bare);
}

// The text is compared, not its parsed form, so that no two spellings of an address ever count as one.
const LOOPBACK =
  /^(http:\/\/(127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?][\x21-\x7e]*)?)$/;

function withoutLoopbackPort(uri: string): string | undefined {
  const match = LOOPBACK.exec(uri);
  if (!match || uri.includes('#') || uri.includes('\\')) return undefined;
  if (!URL.canParse(uri) || !isLoopbackHost(new URL(uri).hostname)) return undefined;
  return `${match[1]}${match[4]}`;
}

/** The URI with the parameters added to its query. */
export function withParameters(
  uri: string,
  parameters: Record<string, string | undefined>,
): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given as [string, string][]).toString();
  if (uri.endsWith('?') || uri.endsWith('&')) return uri + query;
  return uri + (uri.includes('?') ? '&' : '?') + query;
}
