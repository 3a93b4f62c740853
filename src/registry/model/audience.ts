/** What an audience looks like, in words. */
export const AUDIENCE_FORM = 'must be 1 to 500 printable ASCII characters without blanks';

/** True for what may name a service in the audience of a token: a URI (WLCG profile 1.3, 2.1.1) or another name. */
export function isAudience(text: string): boolean {
  return /^[\x21-\x7e]{1,500}$/.test(text);
}
