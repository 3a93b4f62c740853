import { AsyncLocalStorage } from 'node:async_hooks';
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { remoteContext } from './traceparent.js';
import type { SpanAttributes, SpanKind, TracingInput } from './span.js';

const KINDS: Record<SpanKind, OtelKind> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  internal: OtelKind.INTERNAL,
};
/** What a collector that is away may cost at the end of the process. */
const CLOSE_DEADLINE_MS = 2_000;

/** How to begin a span: below `parent`, or continuing the trace of a `traceparent` header, or as a trace of its own. */
export interface SpanInput {
  name: string;
  kind: SpanKind;
  attributes?: SpanAttributes;
  parent?: RunningSpan | undefined;
  traceparent?: string | undefined;
  /** Milliseconds since 1970; now by default. */
  startedAt?: number;
}

/** A span under way. */
export class RunningSpan {
  constructor(
    readonly span: Span,
    private readonly storage: AsyncLocalStorage<RunningSpan>,
  ) {}

  /** For log lines and for headers. */
  get ids(): { traceId: string; spanId: string } {
    const { traceId, spanId } = this.span.spanContext();
    return { traceId, spanId };
  }

  /** Runs the work so that what it does is below this span. */
  run<T>(work: () => T): T {
    return this.storage.run(this, work);
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes(attributes);
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  /** Marks it as failed, by the kind of the error only: its message may hold what is nobody's business. */
  fail(error: unknown): void {
    const name = error instanceof Error ? error.name : typeof error;
    const code = (error as { code?: unknown } | null)?.code;
    this.span.setAttribute('error.type', typeof code === 'string' ? code : name);
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.span.end();
  }
}

/** The OpenTelemetry SDK: spans are collected in a bounded queue and sent in batches. */
export class SpanRecorder {
  private readonly storage = new AsyncLocalStorage<RunningSpan>();
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;

  constructor({ endpoint, serviceVersion, log }: TracingInput) {
    diag.setLogger(
      { error: log, warn: log, info: log, debug: log, verbose: log },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    const own = { 'service.name': 'gridgate', 'service.version': serviceVersion };
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    });
    this.provider = new BasicTracerProvider({
      // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over our own names
      resource: resourceFromAttributes(own).merge(namedResource()),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.tracer = this.provider.getTracer('gridgate', serviceVersion);
  }

  /** The span of the work under way. */
  current(): RunningSpan | undefined {
    return this.storage.getStore();
  }

  begin({ name, kind, attributes, parent, traceparent, startedAt }: SpanInput): RunningSpan {
    const context: Context = parent
      ? trace.setSpan(ROOT_CONTEXT, parent.span)
      : remoteContext(traceparent);
    const span = this.tracer.startSpan(
      name,
      {
        kind: KINDS[kind],
        ...(attributes && { attributes }),
        ...(startedAt !== undefined && { startTime: startedAt }),
      },
      context,
    );
    return new RunningSpan(span, this.storage);
  }

  /** Sends what is left, for a bounded time. */
  async close(): Promise<void> {
    await Promise.race([
      this.provider.shutdown().catch(() => undefined),
      new Promise((resolve) => setTimeout(resolve, CLOSE_DEADLINE_MS).unref()),
    ]);
    diag.disable();
  }
}

/** What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, which the SDK has read. */
function namedResource(): ReturnType<typeof resourceFromAttributes> {
  const { attributes } = defaultResource();
  const isOwnName = String(attributes['service.name'] ?? '').startsWith('unknown_service');
  return resourceFromAttributes(
    Object.fromEntries(
      Object.entries(attributes).filter(([name]) => name !== 'service.name' || !isOwnName),
    ),
  );
}
