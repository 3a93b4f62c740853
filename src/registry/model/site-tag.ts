const SITE_TAG = /^[A-Za-z0-9][\w.:-]{0,63}$/;

/** What is said of a text that is no tag. */
export const SITE_TAG_FORM =
  'is no tag: a letter or digit, then at most 63 letters, digits or one of _ . : -';

/** True for the name of something that a site has and a job may ask for, for example `GPU` or `el9`. */
export function isSiteTag(text: string): boolean {
  return SITE_TAG.test(text);
}
