import type { PreparedRequest } from './messages.js';
import type { Auth, AuthTuple } from './types.js';

/** The value of an `Authorization` header for HTTP Basic (RFC 7617), user name and password as UTF-8. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

/**
 * Applies authentication to a prepared request: a tuple sets HTTP Basic, a function or the `attach` of an object
 * edits the request or answers another one, whose content then replaces it. Content-Length is set anew.
 */
export async function attachAuth(prepared: PreparedRequest, auth: Auth): Promise<void> {
  if (isAuthTuple(auth)) {
    prepared.headers.set('Authorization', basicAuthorization(auth[0], auth[1]));
    return;
  }
  const answer = await (typeof auth === 'function' ? auth(prepared) : auth.attach(prepared));
  if (answer && answer !== prepared) prepared.assign(answer);
  prepared.prepare_content_length();
}

/** User name and password in the URL, percent-decoded, or null. */
export function authFromUrl(url: URL): AuthTuple | null {
  if (url.username === '' && url.password === '') return null;
  return [decode(url.username), decode(url.password)];
}

function isAuthTuple(auth: Auth): auth is AuthTuple {
  return Array.isArray(auth);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
