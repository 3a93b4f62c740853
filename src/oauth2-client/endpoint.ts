import { isIP } from 'node:net';
import { ConfigurationError, InsecureTransportError } from './oauth-error.js';

/** Whether a parsed host is this machine: localhost, 127.0.0.0/8 or ::1. */
function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (isIP(bare) === 4) return bare.startsWith('127.');
  return bare === 'localhost' || bare === '::1';
}

/**
 * Refuses an OAuth endpoint that is not https. With `allowInsecureLoopback` plain http is admitted for this
 * machine alone, decided on the parsed host: `http://localhost:80@evil.test` is not loopback.
 */
export function requireSecureUrl(url: string, allowInsecureLoopback: boolean): URL {
  if (!URL.canParse(url))
    throw new InsecureTransportError('an OAuth endpoint is no absolute https URL');
  const parsed = new URL(url);
  if (parsed.protocol === 'https:') return parsed;
  if (parsed.protocol === 'http:' && allowInsecureLoopback && isLoopback(parsed.hostname)) {
    return parsed;
  }
  throw new InsecureTransportError(
    `OAuth endpoints must use https, this one is ${parsed.protocol}`,
  );
}

/** The same for the authorization endpoint, which in addition must have no fragment (RFC 6749 §3.1). */
export function requireAuthorizationUrl(url: string, allowInsecureLoopback: boolean): URL {
  const parsed = requireSecureUrl(url, allowInsecureLoopback);
  if (url.includes('#')) {
    throw new ConfigurationError('the authorization endpoint must not have a fragment');
  }
  return parsed;
}
