import { OAuthProblem, type Violation } from '#src/kernel/index.js';
import type { RequestShape } from '#src/http/index.js';

/**
 * How parameters under /oauth2 are read (RFC 6749 §3.1, §3.2): from the form, the query string or both, each at most once,
 * unknown ones ignored, an empty value counts as absent. Faults are 400 `invalid_request`.
 */
export const OAUTH_FORM: RequestShape = {
  body: 'form',
  isOptional: true,
  withQuery: true,
  ignoresUnknown: true,
  emptyIsAbsent: true,
  once: true,
  repeatable: ['audience', 'resource'],
  // Parameters of OAuth are short; a subject token of an identity provider is the longest.
  limitBytes: 256 * 1024,
  refuse: (violations) => new OAuthProblem('invalid_request', describeFault(violations)),
};

/** The first violation in words for `error_description`. */
export function describeFault([violation]: Violation[]): string {
  const { field = '', problem } = violation ?? {};
  if (problem === 'is missing') return `The parameter ${field} is missing`;
  if (problem === 'may be given only once') return `The parameter ${field} is given more than once`;
  return `${field} ${problem}`;
}
