import type { Caller } from '#src/kernel/index.js';
import { clientSignal } from './client-signal.js';
import type { HttpRequest } from './messages.js';

/** RFC 9110 §9.2.1. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The caller of one request, who is known once it is admitted. */
export class RequestCaller implements Caller {
  key: string | undefined;
  hasBegun = false;
  uses = 0;
  readonly permits: (() => void)[] = [];
  private client: AbortSignal | undefined;

  readonly mayChange: boolean;

  constructor(private request: HttpRequest | undefined) {
    this.mayChange = request !== undefined && !SAFE_METHODS.has(request.method);
  }

  get signal(): AbortSignal {
    return (this.client ??= this.request
      ? clientSignal(this.request)
      : new AbortController().signal);
  }

  /** The request is over; what still runs for it goes on. */
  end(isAnswered: boolean): void {
    if (!isAnswered) this.client ??= this.request && clientSignal(this.request);
    this.request = undefined; // else it would live as long as the last promise that was made for it
  }
}
