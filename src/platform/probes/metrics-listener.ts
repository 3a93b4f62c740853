import { createServer, type Server } from 'node:http';
import type { Readiness } from '../observe/health/readiness.js';
import { listen } from '../http/listener.js';
import type { Metrics } from '../observe/metrics/metrics.js';

/** An answer of the listener. */
interface Reply {
  status: number;
  type: string;
  text: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const NOT_HERE: Reply = { status: 404, type: JSON_TYPE, text: '{"status":"not found"}' };

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
      void replyTo(request.url ?? '', metrics, readiness).then(({ status, type, text }) => {
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        response.writeHead(isRead ? status : 405, {
          'Content-Type': type,
          'Cache-Control': 'no-store',
          'X-Content-Type-Options': 'nosniff',
          ...(isRead ? {} : { Allow: 'GET, HEAD' }),
        });
        response.end(isRead && request.method === 'GET' ? text : undefined);
      });
    },
  );
  await listen(server, { ...at, variable: 'GRID_METRICS_PORT' });
  return () => closed(server);
}

async function replyTo(path: string, metrics: Metrics, readiness: Readiness): Promise<Reply> {
  switch (path.split('?')[0]) {
    case '/metrics': {
      const { text, contentType } = await metrics.render();
      return { status: 200, type: contentType, text };
    }
    case '/health/live':
      return { status: 200, type: JSON_TYPE, text: '{"status":"live"}' };
    case '/health/ready': {
      const { ready, checks } = await readiness.report();
      const text = JSON.stringify({ status: ready ? 'ready' : 'not ready', checks });
      return { status: ready ? 200 : 503, type: JSON_TYPE, text };
    }
    default:
      return NOT_HERE;
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
