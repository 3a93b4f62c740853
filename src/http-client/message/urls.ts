import { errorCode, InvalidURL, MissingSchema } from './errors.js';

const AUTHORITY = /^https?:\/\/(?:[^/?#\\]*@)?([^/?#\\]*)/i;
const HTTP = /^https?:/i;
const ESCAPE = /%([0-9A-Fa-f]{2})?/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * The absolute URL of a request: leading blanks go, hosts are lower-cased and IDNA-encoded, illegal characters are
 * escaped, needless escapes undone, the query is appended before the fragment. URLs of other schemes stay as they
 * are. Throws MissingSchema or InvalidURL; messages never repeat the URL, it may hold a password.
 */
export function prepareUrl(url: string | URL, query = ''): string {
  const text = String(url).trimStart();
  if (text.includes(':') && !HTTP.test(text)) return text;
  if (!text.includes(':')) {
    throw new MissingSchema('the URL has no scheme: write http:// or https:// in front');
  }
  return appendQuery(parseHttpUrl(text).href, query);
}

/** Parses a URL that must have a usable host. */
export function parseHttpUrl(text: string, base?: string): URL {
  if (base === undefined) checkAuthority(text);
  let url: URL;
  try {
    url = new URL(text, base);
  } catch (error) {
    throw new InvalidURL('the URL cannot be parsed', { cause: withoutInput(error) });
  }
  if (url.hostname.startsWith('*') || url.hostname.startsWith('.')) {
    throw new InvalidURL('the host of the URL starts with a wildcard or a dot');
  }
  return url;
}

/** Undoes escapes of unreserved characters (RFC 3986 §2.3) and escapes a percent sign that starts no escape. */
export function normalizeEscapes(url: string): string {
  if (!url.includes('%')) return url;
  return url.replace(ESCAPE, (escape, hex: string | undefined) => {
    if (hex === undefined) return '%25';
    const character = String.fromCharCode(parseInt(hex, 16));
    return UNRESERVED.test(character) ? character : escape;
  });
}

/** The URL with its fragment cut off, and the fragment without '#'. */
export function splitFragment(url: string): [bare: string, fragment: string] {
  const at = url.indexOf('#');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

function checkAuthority(text: string): void {
  const host = AUTHORITY.exec(text)?.[1];
  if (host === undefined || host === '' || host.startsWith(':')) {
    throw new InvalidURL('the URL has no host');
  }
  if (host.startsWith('*') || host.startsWith('.')) {
    throw new InvalidURL('the host of the URL starts with a wildcard or a dot');
  }
}

function appendQuery(href: string, query: string): string {
  if (query === '') return normalizeEscapes(href);
  const [bare, fragment] = splitFragment(href);
  const joint = !bare.includes('?') ? '?' : bare.endsWith('?') ? '' : '&';
  const joined = new URL(`${bare}${joint}${query}`).href;
  return normalizeEscapes(fragment === '' ? joined : `${joined}#${fragment}`);
}

/** The parser's error holds the whole input; only its code is kept. */
function withoutInput(error: unknown): unknown {
  return { code: errorCode(error) };
}
