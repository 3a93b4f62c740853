import type { PreparedRequest } from './prepared-request.js';
import type { Response } from './response.js';
import type { Adapter, AdapterOptions } from './types.js';

/** The adapter for http and https. */
export class HttpAdapter implements Adapter {
  send(prepared: PreparedRequest, options: AdapterOptions): Promise<Response> {
    return Promise.reject(new Error(`${prepared.method} ${String(options.stream)}`));
  }

  close(): void {}
}
