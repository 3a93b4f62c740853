import {
  Response,
  type Adapter,
  type AdapterOptions,
  type PreparedRequest,
} from '#src/http-client/index.js';

/** An answer in the making: JSON unless it is text. */
export interface Reply {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A transport that keeps what would go on the wire and answers what it is told, in order; the last answer stays. */
export class CapturingAdapter implements Adapter {
  readonly requests: PreparedRequest[] = [];
  /** Limits and settings of the last request. */
  options: AdapterOptions | undefined;
  #replies: Reply[];

  constructor(...replies: Reply[]) {
    this.#replies = replies;
  }

  reply(...replies: Reply[]): void {
    this.#replies = replies;
  }

  async send(prepared: PreparedRequest, options?: AdapterOptions): Promise<Response> {
    this.requests.push(prepared.copy());
    this.options = options;
    await new Promise((resolve) => setImmediate(resolve));
    const reply = (this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0]) ?? {};
    const { status = 200, body = {}, headers = {} } = reply;
    return new Response({
      status_code: status,
      url: prepared.url,
      headers,
      content: typeof body === 'string' ? body : JSON.stringify(body),
      request: prepared,
    });
  }

  close(): void {
    // nothing is open
  }

  /** The last request. */
  get last(): PreparedRequest {
    return this.requests.at(-1) as PreparedRequest;
  }

  /** The form of the last request. */
  get form(): Record<string, string> {
    return Object.fromEntries(new URLSearchParams(this.last.body as string));
  }
}
