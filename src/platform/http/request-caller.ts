import type { Caller } from '#src/kernel/index.js';
import { clientSignal } from './client-signal.js';
import type { HttpRequest } from './messages.js';

/** The caller of one request, who is known once it is admitted. */
export class RequestCaller implements Caller {
  key: string | undefined;
  permits = 0;
  private clientGone: AbortSignal | undefined;

  constructor(private request: HttpRequest | undefined) {}

  get signal(): AbortSignal {
    return (this.clientGone ??= this.request ? clientSignal(this.request) : AbortSignal.abort());
  }

  /** The request is over. What still runs for it counts for nobody once it is answered. */
  end(isAnswered: boolean): void {
    if (isAnswered) this.key = undefined;
    this.request = undefined; // else it would live as long as the last promise that was made for it
  }
}
