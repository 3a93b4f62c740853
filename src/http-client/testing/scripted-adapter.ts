import { type PreparedRequest, Response, type ResponseInit } from '../message/messages.js';
import type { Adapter, AdapterOptions } from '../message/types.js';

/** What the adapter answers: everything but what follows from the request. */
export type ScriptedAnswer = Partial<Omit<ResponseInit, 'url' | 'request'>>;

/** One call as the adapter saw it. */
export interface SeenCall {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: unknown;
  options: AdapterOptions;
}

/** An adapter that answers from a script by path (`*` for all others) and keeps what it was sent. */
export class ScriptedAdapter implements Adapter {
  readonly seen: SeenCall[] = [];
  closed = 0;

  constructor(readonly script: Record<string, ScriptedAnswer> = {}) {}

  send(prepared: PreparedRequest, options: AdapterOptions): Promise<Response> {
    const { method, url, body } = prepared;
    this.seen.push({ method, url, headers: { ...prepared.headers.toJSON() }, body, options });
    const answer = this.script[new URL(url).pathname] ?? this.script['*'] ?? {};
    return Promise.resolve(new Response({ status_code: 200, ...answer, url, request: prepared }));
  }

  close(): void {
    this.closed += 1;
  }
}
