import { createServer, type Server } from 'node:http';
import { type Readiness, probeReply, type ProbeReply, type Metrics } from '#src/runtime/index.js';
import { listen } from './listener.js';

const NOT_HERE: ProbeReply = {
  status: 404,
  type: 'application/json; charset=utf-8',
  text: '{"status":"not found"}',
};

/**
 * Metrics and probes on a port of their own (GRID_METRICS_PORT), in plain HTTP, for the inner network: then the main
 * listener has no `/metrics`, whatever stands in front of it, TLS passed through included. Returns what ends it.
 */
export async function serveMetrics(
  at: { host: string; port: number },
  metrics: Metrics,
  readiness: Readiness,
): Promise<() => Promise<void>> {
  const server = createServer(
    { maxHeaderSize: 8 * 1024, headersTimeout: 5_000 },
    (request, response) => {
      const [path = ''] = (request.url ?? '').split('?');
      void probeReply(path, { metrics, readiness }).then((reply = NOT_HERE) => {
        const { status, type, text, retryAfter } = reply;
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        response.writeHead(isRead ? status : 405, {
          'Content-Type': type,
          'Cache-Control': 'no-store',
          'X-Content-Type-Options': 'nosniff',
          ...(isRead ? {} : { Allow: 'GET, HEAD' }),
          ...(isRead && retryAfter !== undefined ? { 'Retry-After': retryAfter } : {}),
        });
        response.end(isRead && request.method === 'GET' ? text : undefined);
      });
    },
  );
  await listen(server, { ...at, variable: 'GRID_METRICS_PORT' });
  return () => closed(server);
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
