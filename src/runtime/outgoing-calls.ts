import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RunningSpan, SpanRecorder } from './span-recorder.js';

/** A request of undici as its diagnostics channels show it. */
interface OutgoingRequest {
  origin: string | URL;
  method: string;
  path: string;
}

interface Message {
  request: OutgoingRequest;
  response?: { statusCode: number };
  error?: unknown;
}

/**
 * Records the calls that this process makes over undici (identity providers, slurmrestd). Query strings, headers and
 * bodies stay out of the spans: they carry codes and tokens. Calls outside of a request are traces of their own.
 */
export function traceOutgoingCalls(recorder: SpanRecorder): () => void {
  const spans = new WeakMap<OutgoingRequest, RunningSpan>();
  const end = ({ request, error }: Message): void => {
    const span = spans.get(request);
    if (error !== undefined) span?.fail(error);
    span?.end();
    spans.delete(request);
  };
  const listeners: Record<string, (message: Message) => void> = {
    'undici:request:create': ({ request }) => {
      const { hostname, port, protocol } = new URL(request.origin);
      const attributes = {
        'http.request.method': request.method,
        'server.address': hostname,
        'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
        'url.path': request.path.split('?')[0] ?? '',
      };
      const name = `${request.method} ${hostname}`;
      const parent = recorder.current();
      spans.set(request, recorder.begin({ name, kind: 'client', attributes, parent }));
    },
    'undici:request:headers': ({ request, response }) => {
      spans.get(request)?.set({ 'http.response.status_code': response?.statusCode ?? 0 });
    },
    'undici:request:trailers': end,
    'undici:request:error': end,
  };
  const entries = Object.entries(listeners).map(
    ([name, listener]) => [name, (message: unknown) => listener(message as Message)] as const,
  );
  for (const [name, listener] of entries) subscribe(name, listener);
  return () => {
    for (const [name, listener] of entries) unsubscribe(name, listener);
  };
}
