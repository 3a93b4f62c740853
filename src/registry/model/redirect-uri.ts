const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);
const CONTROL_OR_BLANK = /[\s\p{Cc}]/u;

/** True for a host that names the caller's own machine (RFC 8252 §7.3). */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.has(host);
}

/**
 * What is wrong with a redirect URI of an application, undefined when nothing is. It must be absolute, without
 * fragment (RFC 6749 §3.1.2) or user; https, http (loopback only), or a scheme of the application's own, which
 * holds a dot (RFC 8252 §7.1).
 */
export function redirectUriFault(uri: string): string | undefined {
  if (uri.length > 2000) return 'is longer than 2000 characters';
  if (CONTROL_OR_BLANK.test(uri)) return 'holds a blank or control character';
  if (!URL.canParse(uri)) return 'is not an absolute URI';
  if (uri.includes('#')) return 'has a fragment';
  const { protocol, hostname, username, password } = new URL(uri);
  if (username !== '' || password !== '') return 'holds a user name or password';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') {
    return isLoopbackHost(hostname)
      ? undefined
      : 'is plain http, which is for localhost, 127.0.0.1 and [::1] only';
  }
  return protocol.includes('.')
    ? undefined
    : 'has a scheme that is neither https, nor http, nor one of its own with a dot (org.example.app:)';
}
