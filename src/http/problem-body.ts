import { OAuthProblem, type Problem } from '#src/kernel/index.js';

/** Status, headers and JSON body of a problem's answer. */
export interface ProblemAnswer {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** Base of the `type` member: each code has a section in docs/errors.md. */
const TYPE_BASE = 'urn:gridgate:problem:';

/**
 * The answer for a problem (RFC 9457). Under /oauth2 the body also carries `error` and `error_description`
 * (RFC 6749 §5.2) and is application/json.
 */
export function problemAnswer(problem: Problem, requestId: string, oauth: boolean): ProblemAnswer {
  const headers: Record<string, string> = {
    ...problem.headers,
    'Content-Type': oauth ? 'application/json' : 'application/problem+json',
    'Cache-Control': 'no-store',
  };
  if (problem.retryAfterSeconds !== undefined) {
    headers['Retry-After'] = String(problem.retryAfterSeconds);
  }
  const body: Record<string, unknown> = {
    type: `${TYPE_BASE}${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    instance: `urn:gridgate:request:${requestId}`,
    ...problem.members,
  };
  if (problem.violations) body['violations'] = problem.violations;
  if (oauth) {
    const error = problem instanceof OAuthProblem ? problem.error : oauthErrorOf(problem.status);
    return {
      status: problem.status,
      headers,
      body: { error, error_description: problem.detail, ...body },
    };
  }
  return { status: problem.status, headers, body };
}

/** The `error` below /oauth2 of a problem that is not OAuth's own. */
export function oauthErrorOf(status: number): string {
  if (status >= 500) return status === 503 ? 'temporarily_unavailable' : 'server_error';
  if (status === 429) return 'temporarily_unavailable';
  if (status === 401) return 'invalid_client';
  if (status === 403) return 'access_denied';
  return 'invalid_request';
}
