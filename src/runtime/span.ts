/** What may stand in a span: names and numbers, never tokens, secrets, bodies or values of statements. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** Of a request that we answer, a call that we make, or work of our own. */
export type SpanKind = 'server' | 'client' | 'internal';

/** Where spans go and who sends them. */
export interface TracingInput {
  /** Base URL of a collector that speaks OTLP over HTTP; `/v1/traces` is added. */
  endpoint: string;
  serviceVersion: string;
  /** For what goes wrong with the sending; at most debug messages. */
  log: (message: string) => void;
}
