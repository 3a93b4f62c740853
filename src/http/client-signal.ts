import { Problem } from '#src/kernel/index.js';
import type { HttpRequest } from './messages.js';

/** Nobody waits for the answer: the client has gone, or was told that it takes too long. Nobody reads this either. */
export class ClientDisconnected extends Problem {
  constructor(cause?: unknown) {
    super('service.overloaded', 'The client is gone', { retryAfterSeconds: 1, cause });
  }
}

const GONE = new ClientDisconnected();
/** One for each request, however many wait. */
const SIGNALS = new WeakMap<HttpRequest, AbortSignal>();

/** True when nobody waits for the answer any more: the connection has ended or the request has been answered. */
function isGone({ res: response }: HttpRequest): boolean {
  return !response || response.closed || response.destroyed;
}

/** For work in few steps: throws ClientDisconnected when nobody waits for it any more. */
export function requireClient(request: HttpRequest): void {
  if (isGone(request)) throw GONE;
}

/**
 * Tells long work that nobody waits for it any more: aborted, with ClientDisconnected as reason, when the connection ends
 * or the request has been answered, also by its deadline. Work in steps asks before each of them
 * (`signal.throwIfAborted()`); what is durable by then stays.
 */
export function clientSignal(request: HttpRequest): AbortSignal {
  const known = SIGNALS.get(request);
  if (known) return known;
  if (isGone(request)) return AbortSignal.abort(GONE);
  const controller = new AbortController();
  request.res?.once('close', () => controller.abort(GONE));
  SIGNALS.set(request, controller.signal);
  return controller.signal;
}
