/** Characters of a URL. */
const LONGEST_URL = 2_048;

/**
 * The URL of a receiver in the one spelling of the WHATWG (so `https://0x7f.1/` is `https://127.0.0.1/`); undefined unless it is
 * https, without user, fragment, white space and port 0, and has at most 2048 characters.
 */
export function webhookUrl(text: string): string | undefined {
  const isText = text.length <= LONGEST_URL && !/[\s\p{Cc}]/u.test(text);
  const url = isText && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.port === '0') return undefined;
  return url.username === '' && url.password === '' && url.hash === '' ? url.href : undefined;
}

/** Name or address of the receiver, as connections want it: IPv6 without brackets. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
}
