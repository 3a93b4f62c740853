import { split } from 'shlex';

/**
 * The words of `Arguments`: a text is split as a shell splits words (quotes, backslash), without a shell and
 * without expansion; a list is taken as it is. Throws Error for a quote without end.
 */
export function splitArguments(value: string | readonly string[] | undefined): string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? split(value) : [...value];
}
