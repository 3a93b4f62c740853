import { GridError } from '#src/client/index.js';
import { RequestException, SSLError } from '#src/http-client/index.js';
import { OAuthError } from '#src/oauth2-client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { printable } from '../terminal/output.js';
import { NOT_LOGGED_IN } from './login-file.js';

const FAILED = 1;
const REFUSED = 2;
const AWAY = 3;

/** Runs work; errors of the client libraries become CommandErrors that say what is wrong and what to do. */
export async function guarded<T>(server: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explained(error, server);
  }
}

/** The CommandError of any failure of a call. */
export function explained(error: unknown, server: string): unknown {
  if (error instanceof GridError) {
    return error.status === 0 && error.cause !== undefined
      ? explained(error.cause, server)
      : refusal(error, server);
  }
  if (error instanceof RequestException) return unreachable(error, server);
  if (error instanceof OAuthError) return loginEnded(error, server);
  return error;
}

/** The login cannot be renewed; a service that is in trouble is told apart from one that refuses. */
function loginEnded(error: OAuthError, server: string): CommandError {
  const text = printable(error.description || error.error);
  return error.retryable
    ? new CommandError(`${server} does not renew the login now: ${text}`, AWAY, LATER)
    : new CommandError(`the login has ended (${text})`, NOT_LOGGED_IN, loginAt(server));
}

const LATER = 'try again later';

function loginAt(server: string): string {
  return `run \`gridgate login --server ${server}\``;
}

function unreachable(error: RequestException, server: string): CommandError {
  if (!(error instanceof SSLError)) {
    const hint = 'is the address right, and the service running?';
    return new CommandError(`${server} cannot be reached: ${error.message}`, AWAY, hint);
  }
  if (/cannot be (found|read)/.test(error.message)) return new CommandError(error.message, REFUSED);
  const hint = 'name the CA of the server with `gridgate login --ca FILE`';
  return new CommandError(error.message, AWAY, hint);
}

function refusal(error: GridError, server: string): CommandError {
  const { status, violations, retryAfter } = error;
  const message = printable(error.message);
  if (status === 401) return new CommandError(message, NOT_LOGGED_IN, loginAt(server));
  if (status === 0) return new CommandError(`${server} is no Gridgate: ${message}`, FAILED, OTHER);
  if (status === 429 || status >= 500) {
    const hint = status === 500 ? undefined : LATER;
    const soon = retryAfter === undefined ? hint : `try again in ${retryAfter} s`;
    return new CommandError(message, AWAY, soon);
  }
  if (error.code === 'unknown' && typeof error.problem['error'] !== 'string') {
    return new CommandError(`${server} is no Gridgate: it answered ${status}`, REFUSED, OTHER);
  }
  const faults = violations.map(({ field, problem, instead }) =>
    printable(`${field} ${problem}${instead === undefined ? '' : `; instead: ${instead}`}`),
  );
  return new CommandError(
    faults.length > 1 ? [`${message}:`, ...faults].join('\n  ') : faultOf(error),
    REFUSED,
  );
}

const OTHER = 'is the address of the login right? `gridgate whoami` shows it';

/** One fault: the detail, which names it; errors of OAuth have a description of their own. */
function faultOf({ problem, message }: GridError): string {
  const { error_description: text } = problem as { error_description?: unknown };
  return printable(typeof text === 'string' ? text : message);
}
