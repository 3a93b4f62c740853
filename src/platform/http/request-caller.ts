import type { Caller } from '#src/kernel/index.js';
import { clientSignal } from './client-signal.js';
import type { HttpRequest } from './messages.js';

/** The caller of one request, who is known once it is admitted. */
export class RequestCaller implements Caller {
  key: string | undefined;
  permits = 0;
  private clientGone: AbortSignal | undefined;

  constructor(private readonly request: HttpRequest) {}

  get signal(): AbortSignal {
    return (this.clientGone ??= clientSignal(this.request));
  }
}
