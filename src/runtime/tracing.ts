import type { SpanAttributes, TracingInput } from './span.js';
import type { SpanRecorder, RunningSpan } from './span-recorder.js';

/**
 * Traces of OpenTelemetry (W3C trace context). Off until `start`: then the SDK is loaded, which nobody else pays for.
 * While it is off every operation here is a look at one field.
 */
export class Tracing {
  private recorder: SpanRecorder | undefined;
  private stopOutgoing: (() => void) | undefined;

  /** Loads the SDK and begins to record. */
  async start(input: TracingInput): Promise<void> {
    const [{ SpanRecorder }, { traceOutgoingCalls }] = await Promise.all([
      import('./span-recorder.js'),
      import('./outgoing-calls.js'),
    ]);
    this.recorder = new SpanRecorder(input);
    this.stopOutgoing = traceOutgoingCalls(this.recorder);
  }

  /** Sends what has been recorded and ends. */
  async stop(): Promise<void> {
    const { recorder } = this;
    this.recorder = undefined;
    this.stopOutgoing?.();
    await recorder?.close();
  }

  /** True while spans are recorded. */
  get isOn(): boolean {
    return this.recorder !== undefined;
  }

  /** Ids of the span under way, for log lines. */
  ids(): { traceId: string; spanId: string } | undefined {
    return this.recorder?.current()?.ids;
  }

  /** Begins the span of a request that carries this `traceparent`; undefined while tracing is off. */
  request(name: string, traceparent: string | undefined): RunningSpan | undefined {
    return this.recorder?.begin({ name, kind: 'server', traceparent });
  }

  /** Runs the work in a span of its own below the one under way; outside of any it just runs. */
  async within<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
    const parent = this.recorder?.current();
    if (!parent || !this.recorder) return work();
    const span = this.recorder.begin({ name, kind: 'client', attributes, parent });
    try {
      return await span.run(work);
    } catch (error) {
      span.fail(error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** Records work that has been done since `startedAt` (ms since 1970), as a trace of its own. */
  record(name: string, startedAt: number, attributes: SpanAttributes): void {
    this.recorder?.begin({ name, kind: 'internal', attributes, startedAt }).end();
  }
}
