import { ROOT_CONTEXT, trace, type Context } from '@opentelemetry/api';

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The trace that a `traceparent` header continues (W3C Trace Context §3.2); a new one without a valid header. */
export function remoteContext(header: string | undefined): Context {
  const [, version, traceId = '', spanId = '', flags = '00', rest] =
    TRACEPARENT.exec(header?.trim() ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) {
    return ROOT_CONTEXT;
  }
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
