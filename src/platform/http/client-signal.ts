import { Problem } from '#src/kernel/index.js';
import type { HttpRequest } from './messages.js';

/** Nobody waits for the answer: the client has gone, or was told that it takes too long. Nobody reads this either. */
export class ClientDisconnected extends Problem {
  constructor(cause?: unknown) {
    super('service.overloaded', 'The client is gone', { retryAfterSeconds: 1, cause });
  }
}

const GONE = new ClientDisconnected();

/**
 * Tells long work that nobody waits for it any more: aborted, with ClientDisconnected as reason, when the connection ends
 * or the request has been answered, also by its deadline. Work in steps asks before each of them
 * (`signal.throwIfAborted()`); what is durable by then stays.
 */
export function clientSignal(request: HttpRequest): AbortSignal {
  const { res: response } = request;
  if (!response || response.closed || response.destroyed) {
    return AbortSignal.abort(GONE);
  }
  const controller = new AbortController();
  response.once('close', () => controller.abort(GONE));
  return controller.signal;
}
