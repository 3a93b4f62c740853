/**
 * A command ended with a message for people and an exit code: 1 failed, 2 bad input or refused, 3 the service or the
 * database is away, 4 not logged in.
 */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
    this.name = 'CommandError';
  }
}
