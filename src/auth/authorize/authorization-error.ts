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
