import type { QueryValues } from '#src/platform/index.js';
import type { Client } from '#src/registry/index.js';

/** A checked request at /oauth2/auth. */
export interface AuthorizationRequest {
  client: Client;
  /** Where the answer goes. */
  redirectUri: string;
  /** As it was sent; null when it was not, and the registered one is used. */
  sentRedirectUri: string | null;
  state: string | undefined;
  scope: string | undefined;
  codeChallenge: string | undefined;
  /** Group and setup that the application would like; the user decides. */
  group: string | undefined;
  setup: string | undefined;
}

/** A request that may not be answered by a redirect: who asks, or where the answer should go, is not proved. */
export class UnprovedRequestError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnprovedRequestError';
  }
}

/** An error that the application is told by a redirect (RFC 6749 §4.1.2.1). */
export class AuthorizationError extends Error {
  constructor(
    readonly error: string,
    readonly description: string,
  ) {
    super(`${error}: ${description}`);
    this.name = 'AuthorizationError';
  }
}

/** The value of a parameter that stands once and is not empty. */
export function only(query: QueryValues, name: string): string | undefined {
  const values = query.all(name).filter((value) => value !== '');
  return values.length === 1 ? values[0] : undefined;
}
