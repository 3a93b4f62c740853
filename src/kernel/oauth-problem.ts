import { Problem, type ProblemOptions } from './problem.js';
import { PROBLEM_CODES, type ProblemCode } from './problem-codes.js';

/** Error codes of RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 8628 §3.5, RFC 7009 §2.2.1, RFC 9449 §12.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'unsupported_token_type'
  | 'invalid_scope'
  | 'invalid_token'
  | 'invalid_target'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'insufficient_scope'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'server_error'
  | 'temporarily_unavailable';

const DEFAULT_CODE: Record<number, ProblemCode> = {
  400: 'request.invalid',
  401: 'auth.certificate-required',
  403: 'auth.forbidden',
  429: 'rate.limited',
  503: 'service.unavailable',
};

/**
 * A Problem under `/oauth2`: answered as application/json with `error` and `error_description`
 * (RFC 6749 §5.2) beside the members of the problem.
 */
export class OAuthProblem extends Problem {
  override readonly status: number;

  constructor(
    readonly error: OAuthErrorCode,
    description: string,
    options: ProblemOptions & { status?: number; code?: ProblemCode } = {},
  ) {
    const { code: given } = options;
    const status = options.status ?? (given === undefined ? 400 : PROBLEM_CODES[given].status);
    super(given ?? DEFAULT_CODE[status] ?? 'request.invalid', description, options);
    this.name = 'OAuthProblem';
    this.status = status;
  }
}
