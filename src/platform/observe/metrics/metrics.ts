import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const DURATION_BUCKETS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What a histogram may have beside its name: other buckets, and what is to be done at each scrape. */
export interface HistogramOptions {
  buckets?: number[];
  collect?: () => void;
}

/** The metrics of this instance, in Prometheus' text format at /metrics. Names start with `gridgate_`. */
export class Metrics {
  private readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** A value that only grows. */
  counter<L extends string>(name: string, help: string, labels: L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames: labels, registers: [this.registry] });
  }

  /** A value that goes up and down; `collect` is called at each scrape. */
  gauge<L extends string>(
    name: string,
    help: string,
    labels: L[] = [],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L> {
    const options = { name, help, labelNames: labels, registers: [this.registry] };
    const gauge: Gauge<L> = collect
      ? new Gauge({ ...options, collect: () => collect(gauge) })
      : new Gauge(options);
    return gauge;
  }

  /** A distribution of seconds. */
  histogram<L extends string>(
    name: string,
    help: string,
    labels: L[] = [],
    options: HistogramOptions = {},
  ): Histogram<L> {
    const frame = { name, help, labelNames: labels, registers: [this.registry] };
    return new Histogram({ buckets: DURATION_BUCKETS, ...options, ...frame });
  }

  /** All metrics as text, and its content type. */
  async render(): Promise<{ text: string; contentType: string }> {
    return { text: await this.registry.metrics(), contentType: this.registry.contentType };
  }
}
