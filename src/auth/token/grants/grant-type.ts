import type { HttpRequest } from '#src/http/index.js';
import type { IssuedTokens } from './token-issuer.js';
import type { TokenExtras } from './token.response.js';

/** What a grant type gives. */
export interface GrantedTokens {
  minted: IssuedTokens;
  extras?: TokenExtras;
}

/**
 * One way to get an access token (RFC 6749 §4); a new one is one file here, the class of its parameters in grant.request.ts,
 * and one line in the module.
 */
export interface GrantType<Form extends object = object> {
  /** The `grant_type` that asks for it. */
  readonly type: string;

  /** Gives a token or throws OAuthProblem (RFC 6749 §5.2). */
  issue(form: Form, request: HttpRequest): Promise<GrantedTokens>;
}

/** Injection token of the list of grant types. */
export const GRANT_TYPES = Symbol('Grants');
