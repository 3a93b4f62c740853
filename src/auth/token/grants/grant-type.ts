import type { HttpRequest } from '#src/platform/index.js';
import type { OAuthParameters } from '../../protocol/oauth-parameters.js';
import type { TokenResponse } from './token.response.js';

/** A request at the token endpoint. */
export interface TokenRequest {
  parameters: OAuthParameters;
  request: HttpRequest;
}

/** One way to get an access token (RFC 6749 §4); a new one is one file here and one line in the module. */
export interface GrantType {
  /** The `grant_type` that asks for it. */
  readonly type: string;

  /** Gives a token or throws OAuthProblem (RFC 6749 §5.2). */
  issue(request: TokenRequest): Promise<TokenResponse>;
}

/** Injection token of the list of grant types. */
export const GRANT_TYPES = Symbol('Grants');
