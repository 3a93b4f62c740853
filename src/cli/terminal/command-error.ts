/**
 * A command ended with what is wrong, an exit code (1 failed, 2 bad input or refused, 3 the service or the database is away, 4 not
 * logged in), and what to do about it where the message does not say it itself.
 */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
    readonly hint?: string,
  ) {
    super(message);
    this.name = 'CommandError';
  }
}
