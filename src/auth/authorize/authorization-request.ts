import type { Violation } from '#src/kernel/index.js';
import type { Client } from '#src/registry/index.js';
import type { SignInDemand } from './sign-in-demand.js';
import { AuthorizationError } from './authorization-error.js';
import { PageError } from '../sign-in/pages/page-error.js';

/** Who asks at /oauth2/auth, and where the answer goes. */
export interface ProvedRequest {
  client: Client;
  /** Where the answer goes. */
  redirectUri: string;
  /** As it was sent; null when it was not, and the registered one is used. */
  sentRedirectUri: string | null;
  state: string | undefined;
  /** Key of the pushed request that this is; undefined for one that came through the browser. */
  pushed?: string | undefined;
}

/** A checked request at /oauth2/auth. */
export interface AuthorizationRequest extends ProvedRequest {
  scope: string | undefined;
  codeChallenge: string | undefined;
  /** Services that tokens are asked for; undefined: those that the application may ask for. */
  audience: string[] | undefined;
  /** Goes into the ID token. */
  nonce: string | undefined;
  demand: SignInDemand;
  /** Thumbprint of the DPoP key to which the code is bound (RFC 9449 §10). */
  dpopKey: string | undefined;
  /** Group and setup that the application would like; the user decides. */
  group: string | undefined;
  setup: string | undefined;
}

/** A request that may not be answered by a redirect: who asks, or where the answer should go, is not proved. */
export class UnprovedRequestError extends PageError {
  constructor(readonly reason: string) {
    const text = `${reason} Nothing was sent to anybody; tell the people who run the application.`;
    super('This request cannot be trusted', text, 400);
  }
}

/** Of parameters for which the application is told that they are not understood (OpenID Connect Core §3.1.2.6). */
export const NOT_SUPPORTED = { message: 'is not supported' };

/** What the application is told of the first violation. */
export function refusedRequest([violation]: Violation[]): AuthorizationError {
  const { field, problem } = violation ?? {};
  if (problem === 'must be code') {
    return new AuthorizationError('unsupported_response_type', `${field} ${problem}`);
  }
  if (problem === NOT_SUPPORTED.message) {
    return new AuthorizationError(`${field}_not_supported`, `${field} ${problem}`);
  }
  const words = problem === 'may be given only once' ? 'is given more than once' : problem;
  return new AuthorizationError('invalid_request', `${field} ${words}`);
}
