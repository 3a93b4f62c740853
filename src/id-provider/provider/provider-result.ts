import { ConnectionError, RequestException, Timeout } from '#src/http-client/index.js';
import { S_ERROR, S_OK, type ErrorResult, type Result } from '#src/kernel/index.js';
import { OAuthError } from '#src/oauth2-client/index.js';

/** `ReadTimeout` → `read_timeout`: faults of the network have codes as well. */
function codeOf(error: RequestException): string {
  return error.name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
}

function isAbort(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError'
  );
}

/** Kind and text of a fault that is no OAuth error of its own. */
function describe(error: unknown): { code: string; text: string } {
  if (error instanceof RequestException) {
    return { code: codeOf(error), text: `${error.name}: ${error.message}` };
  }
  if (isAbort(error)) return { code: 'aborted', text: 'aborted' };
  const kind = error instanceof Error ? error.name : typeof error;
  return { code: 'unexpected', text: `unexpected failure (${kind})` };
}

/** What an operation marked S_OK/S_ERROR answers for a fault; the message never holds a secret. */
function errorResult(error: unknown): ErrorResult {
  if (error instanceof OAuthError) {
    return S_ERROR(error.message, { Errno: error.error, cause: error });
  }
  const { code, text } = describe(error);
  return S_ERROR(text, { Errno: code, cause: error });
}

/**
 * Runs an operation that answers a dictionary; every fault becomes an OAuthError. Those of the network keep their code
 * (`connection_error`), may be tried again, and have the fault itself as `cause`.
 */
export async function orOAuthError<T>(operation: () => Promise<T> | T): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof OAuthError) throw error;
    const { code, text: description } = describe(error);
    const retryable = error instanceof ConnectionError || error instanceof Timeout;
    throw new OAuthError(code, { description, retryable, cause: error });
  }
}

/** Runs an operation and answers its value as S_OK and its fault as S_ERROR. */
export async function asResult<T>(operation: () => Promise<T> | T): Promise<Result<T>> {
  try {
    return S_OK(await operation());
  } catch (error) {
    return errorResult(error);
  }
}
