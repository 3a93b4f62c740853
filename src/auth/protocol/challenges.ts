import { OAuthProblem, type ProblemCode } from '#src/kernel/index.js';

/** The realm of every challenge. */
export const REALM = 'gridgate';

/** What is wrong with a token (RFC 6750 §3.1, RFC 9449 §7.1 and §9), and the code of the answer. */
const CODES = {
  invalid_token: 'auth.token-invalid',
  invalid_dpop_proof: 'auth.token-invalid',
  use_dpop_nonce: 'auth.token-invalid',
  insufficient_scope: 'auth.insufficient-scope',
} as const;

/**
 * A 401, or a 403 for `insufficient_scope`, with the challenge of RFC 6750 §3 or RFC 9449 §7.1. The body of an answer below
 * /oauth2 has the same `error` as the challenge. `more` are further parameters of the challenge, by name.
 */
export function challenged(
  scheme: 'Bearer' | 'DPoP',
  error: keyof typeof CODES,
  detail: string,
  more: Readonly<Record<string, string>> = {},
): OAuthProblem {
  const parameters = { error, error_description: detail, ...more };
  return new OAuthProblem(error, detail, {
    code: CODES[error],
    headers: headerOf(scheme, parameters),
  });
}

/** 403 for a token without the scope. */
export function scopeMissing(scope: string): OAuthProblem {
  return challenged('Bearer', 'insufficient_scope', `This needs the scope ${scope}`, { scope });
}

/**
 * 401 for a request without a token that counts. Its challenge names no error (RFC 6750 §3.1); the body below /oauth2, which
 * always has one, says `invalid_request`: what the request needs is missing.
 */
export function tokenMissing(detail: string): OAuthProblem {
  const headers = headerOf('Bearer', {});
  return new OAuthProblem('invalid_request', detail, { code: 'auth.token-missing', headers });
}

/** 400 `invalid_request` for a token that is sent in a wrong way (RFC 6750 §3.1). */
export function invalidRequest(code: ProblemCode, detail: string): OAuthProblem {
  const headers = headerOf('Bearer', { error: 'invalid_request', error_description: detail });
  return new OAuthProblem('invalid_request', detail, { code, headers });
}

function headerOf(scheme: string, more: Readonly<Record<string, string>>): Record<string, string> {
  const parameters = Object.entries({ realm: REALM, ...more });
  const text = parameters.map(([name, value]) => `${name}="${value}"`).join(', ');
  return { 'WWW-Authenticate': `${scheme} ${text}` };
}
