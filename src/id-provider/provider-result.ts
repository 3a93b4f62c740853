import { RequestException } from '#src/http-client/index.js';
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

/** What an operation marked S_OK/S_ERROR answers for a fault; the message never holds a secret. */
export function errorResult(error: unknown): ErrorResult {
  if (error instanceof OAuthError) {
    return S_ERROR(error.message, { Errno: error.error, cause: error });
  }
  if (error instanceof RequestException) {
    return S_ERROR(`${error.name}: ${error.message}`, { Errno: codeOf(error), cause: error });
  }
  if (isAbort(error)) return S_ERROR('aborted', { Errno: 'aborted', cause: error });
  const kind = error instanceof Error ? error.name : typeof error;
  return S_ERROR(`unexpected failure (${kind})`, { Errno: 'unexpected', cause: error });
}

/** Runs an operation and answers its value as S_OK and its fault as S_ERROR. */
export async function asResult<T>(operation: () => Promise<T> | T): Promise<Result<T>> {
  try {
    return S_OK(await operation());
  } catch (error) {
    return errorResult(error);
  }
}
