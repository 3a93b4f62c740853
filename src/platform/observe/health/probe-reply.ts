import type { Metrics } from '../metrics/metrics.js';
import type { Readiness } from './readiness.js';

/** What answers a probe. */
export interface ProbeReply {
  status: number;
  type: string;
  text: string;
  retryAfter?: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** The answer to a probe by its path, whatever else of the instance works; undefined for any other path. */
export async function probeReply(
  path: string,
  { metrics, readiness }: { metrics: Metrics; readiness: Readiness },
): Promise<ProbeReply | undefined> {
  switch (path) {
    case '/metrics': {
      const { text, contentType } = await metrics.render();
      return { status: 200, type: contentType, text };
    }
    case '/health/live':
      return { status: 200, type: JSON_TYPE, text: '{"status":"live"}' };
    case '/health/ready': {
      const { ready, checks } = await readiness.report();
      const text = JSON.stringify({ status: ready ? 'ready' : 'not ready', checks });
      return {
        status: ready ? 200 : 503,
        type: JSON_TYPE,
        text,
        ...(ready ? {} : { retryAfter: '2' }),
      };
    }
    default:
      return undefined;
  }
}
