import { OAuthProblem } from '#src/kernel/index.js';
import type { OAuthParameters } from '../../protocol/oauth-parameters.js';

/** `issued_token_type` of what is given (RFC 8693 §3). */
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';

/**
 * Checks that an access token is brought for one of ours, without an actor and for this service (RFC 8693 §2.1). Throws
 * 400 `invalid_request`, or `invalid_target` for another service.
 */
export function checkKinds(parameters: OAuthParameters, publicUrl: string): void {
  const subject = parameters.required('subject_token_type');
  const requested = parameters.optional('requested_token_type') ?? ACCESS_TOKEN;
  const audience = parameters.optional('audience') ?? parameters.optional('resource') ?? publicUrl;
  if (!isAccessToken(subject)) throw invalid('subject_token_type must be an access token');
  if (!isAccessToken(requested)) throw invalid('requested_token_type must be an access token');
  if (parameters.optional('actor_token') !== undefined) {
    throw invalid('actor_token is not supported');
  }
  if (audience !== publicUrl) {
    throw new OAuthProblem('invalid_target', 'Tokens are given for this service only');
  }
}

function isAccessToken(type: string): boolean {
  return type === ACCESS_TOKEN || type === JWT;
}

function invalid(description: string): OAuthProblem {
  return new OAuthProblem('invalid_request', description);
}
