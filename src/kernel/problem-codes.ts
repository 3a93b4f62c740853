/**
 * The closed list of problem codes: code → HTTP status and title. `docs/errors.md` is made from it and the
 * OpenAPI document reads it. Codes are stable; a new error is one line here.
 */
export const PROBLEM_CODES = {
  'request.invalid': { status: 400, title: 'The request is not valid' },
  'request.unknown-parameter': { status: 400, title: 'Unknown query parameter' },
  'request.malformed-body': { status: 400, title: 'The request body cannot be read' },
  'request.too-large': { status: 413, title: 'The request is too large' },
  'request.unsupported-media-type': { status: 415, title: 'Content type not supported' },
  'request.not-acceptable': { status: 406, title: 'No acceptable representation' },
  'request.timeout': { status: 408, title: 'The request was not sent in time' },
  'route.not-found': { status: 404, title: 'No such resource' },
  'route.method-not-allowed': { status: 405, title: 'Method not allowed' },
  'auth.token-missing': { status: 401, title: 'Authentication required' },
  'auth.token-invalid': { status: 401, title: 'The access token is not valid' },
  'auth.token-ambiguous': { status: 400, title: 'More than one access token was sent' },
  'auth.certificate-required': { status: 401, title: 'A known client certificate is required' },
  'auth.insufficient-scope': { status: 403, title: 'The token lacks a scope' },
  'auth.forbidden': { status: 403, title: 'Not allowed' },
  'rate.limited': { status: 429, title: 'Too many requests' },
  'service.unavailable': { status: 503, title: 'Service temporarily unavailable' },
  'service.overloaded': { status: 503, title: 'Service overloaded' },
  'service.failure': { status: 500, title: 'Internal error' },
} as const satisfies Record<string, { status: number; title: string }>;

/** A code of the closed list. */
export type ProblemCode = keyof typeof PROBLEM_CODES;
