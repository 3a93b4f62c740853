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
  'request.timeout': { status: 408, title: 'The request was not sent in time' },
  'request.headers-too-large': { status: 431, title: 'The header of the request is too large' },
  'route.not-found': { status: 404, title: 'No such resource' },
  'route.method-not-allowed': { status: 405, title: 'Method not allowed' },
  'auth.token-missing': { status: 401, title: 'Authentication required' },
  'auth.token-invalid': { status: 401, title: 'The access token is not valid' },
  'auth.token-malformed': { status: 400, title: 'The Authorization header is not understood' },
  'auth.token-ambiguous': { status: 400, title: 'More than one access token was sent' },
  'auth.certificate-required': { status: 401, title: 'A known client certificate is required' },
  'auth.client-unknown': { status: 401, title: 'Unknown application' },
  'auth.insufficient-scope': { status: 403, title: 'The token lacks a scope' },
  'auth.forbidden': { status: 403, title: 'Not allowed' },
  'client.not-found': { status: 404, title: 'No such application' },
  'client.exists': { status: 409, title: 'The application exists already' },
  'job.not-found': { status: 404, title: 'No such job' },
  'job.forbidden': { status: 403, title: 'Not allowed with this job' },
  'job.state-conflict': { status: 409, title: 'The state of the job does not allow it' },
  'job.no-sandbox': { status: 404, title: 'The job has no such sandbox' },
  'job.no-such-file': { status: 404, title: 'No such file in the sandbox' },
  'request.range-not-satisfiable': { status: 416, title: 'Range not satisfiable' },
  'idempotency.in-flight': { status: 409, title: 'A request with this key is under way' },
  'idempotency.mismatch': { status: 422, title: 'The key was used with another body' },
  'catalogue.directory-not-found': { status: 404, title: 'No such directory' },
  'catalogue.file-not-found': { status: 404, title: 'No such file' },
  'catalogue.field-not-found': { status: 404, title: 'No such metadata field' },
  'catalogue.forbidden': { status: 403, title: 'Not allowed in this directory' },
  'catalogue.exists': { status: 409, title: 'Something else has this path' },
  'catalogue.not-empty': { status: 409, title: 'The directory is not empty' },
  'catalogue.metadata-conflict': { status: 409, title: 'The field is set elsewhere on this path' },
  'catalogue.field-conflict': { status: 409, title: 'The field exists with another type' },
  'rate.limited': { status: 429, title: 'Too many requests' },
  'service.unavailable': { status: 503, title: 'Service temporarily unavailable' },
  'service.overloaded': { status: 503, title: 'Service overloaded' },
  'service.failure': { status: 500, title: 'Internal error' },
} as const satisfies Record<string, { status: number; title: string }>;

/** A code of the closed list. */
export type ProblemCode = keyof typeof PROBLEM_CODES;
