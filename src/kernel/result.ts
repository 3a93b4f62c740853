/** A result that carries a value: what an operation marked S_OK in the interface answers. */
export interface SuccessResult<T> {
  OK: true;
  Value: T;
}

/**
 * A result that carries a failure: `Message` for people, `Errno` the error's code when there is one,
 * `cause` the error underneath (never serialised by the service).
 */
export interface ErrorResult {
  OK: false;
  Message: string;
  Errno?: string;
  cause?: unknown;
}

/** What the interface writes as `S_OK(…)/S_ERROR()`. */
export type Result<T> = SuccessResult<T> | ErrorResult;

/** Makes a success result; without an argument its value is undefined. */
export function S_OK(): SuccessResult<undefined>;
export function S_OK<T>(value: T): SuccessResult<T>;
export function S_OK<T>(value?: T): SuccessResult<T | undefined> {
  return { OK: true, Value: value };
}

/** Makes an error result. `Errno` and `cause` are present only when given. */
export function S_ERROR(
  message = '',
  details: { Errno?: string; cause?: unknown } = {},
): ErrorResult {
  const result: ErrorResult = { OK: false, Message: message };
  if (details.Errno !== undefined) result.Errno = details.Errno;
  if (details.cause !== undefined) result.cause = details.cause;
  return result;
}
