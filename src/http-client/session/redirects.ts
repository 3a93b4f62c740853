import { InvalidURL } from '../message/errors.js';
import type { PreparedRequest, Response } from '../message/messages.js';
import { normalizeEscapes, parseHttpUrl, splitFragment } from '../message/urls.js';

const BODY_HEADERS = ['Content-Length', 'Content-Type', 'Transfer-Encoding'];
const FORM = /^application\/x-www-form-urlencoded\b/i;

/** Headers that belong to the origin they were made for, like Authorization. */
const BOUND_HEADERS = ['Authorization', 'DPoP'];

/** The Location of a redirect as text, or null for any other response and for an empty Location. */
export function redirectTarget(response: Response): string | null {
  if (!response.is_redirect) return null;
  const location = response.headers.get('Location') ?? '';
  // Header bytes arrive as latin1; servers that send more than ASCII mean UTF-8.
  return Buffer.from(location, 'latin1').toString('utf8') || null;
}

/**
 * The absolute URL that a Location means. Without a fragment it inherits `fragment`, the latest one seen. URLs that are
 * not http or https are left as they are: no adapter will take them.
 */
export function resolveLocation(location: string, base: string, fragment: string): string {
  let target: URL;
  try {
    target = new URL(location, base);
  } catch {
    throw new InvalidURL('the redirect leads to a URL that cannot be parsed');
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return target.href;
  const href = normalizeEscapes(parseHttpUrl(target.href).href);
  const [bare, own] = splitFragment(href);
  return own === '' && fragment !== '' ? `${bare}#${fragment}` : href;
}

/**
 * True when credentials must not follow from the old to the new URL: another host, or another scheme or port, except
 * for the step from http to https on their default ports. Unparsable URLs never get credentials.
 */
export function shouldStripAuth(old_url: string, new_url: string): boolean {
  if (!URL.canParse(old_url) || !URL.canParse(new_url)) return true;
  const before = new URL(old_url);
  const after = new URL(new_url);
  if (before.hostname !== after.hostname) return true;
  // The parser has erased default ports: '' is the scheme's own port.
  const isUpgrade = before.protocol === 'http:' && after.protocol === 'https:';
  if (isUpgrade && before.port === '' && after.port === '') return false;
  return before.protocol !== after.protocol || before.port !== after.port;
}

/**
 * Adapts the method of the next request: 303, and 302 for everything, become GET unless it is HEAD; 301 does so for
 * POST only; 307 and 308 keep it.
 */
export function rebuildMethod(prepared: PreparedRequest, response: Response): void {
  const { method } = prepared;
  const status = response.status_code;
  if ((status === 302 || status === 303) && method !== 'HEAD') prepared.method = 'GET';
  else if (status === 301 && method === 'POST') prepared.method = 'GET';
}

/** Removes the body and the headers that describe it, unless 307 or 308 ask to send it again. */
export function dropBody(prepared: PreparedRequest, response: Response): void {
  if (response.status_code === 307 || response.status_code === 308) return;
  prepared.body = null;
  for (const name of BODY_HEADERS) prepared.headers.delete(name);
}

/** Removes everything that would show a credential to another origin, a token in a form body included. */
export function stripCredentials(
  prepared: PreparedRequest,
  secretHeaders: readonly string[],
): void {
  for (const name of [...BOUND_HEADERS, ...secretHeaders]) prepared.headers.delete(name);
  const { body, headers } = prepared;
  if (typeof body !== 'string' || !body.includes('access_token=')) return;
  if (!FORM.test(headers.get('Content-Type') ?? '')) return;
  const kept = body.split('&').filter((field) => !field.startsWith('access_token='));
  prepared.body = kept.join('&');
  prepared.prepare_content_length();
}
