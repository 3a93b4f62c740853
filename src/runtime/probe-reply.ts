import type { Metrics } from './metrics.js';
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
      const report = await readiness.report();
      const isReady = report.status !== 'not ready';
      return {
        status: isReady ? 200 : 503,
        type: JSON_TYPE,
        text: JSON.stringify(report),
        ...(isReady ? {} : { retryAfter: '2' }),
      };
    }
    default:
      return undefined;
  }
}
