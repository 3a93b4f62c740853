import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  Registry,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';

const DURATION_BUCKETS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** All metrics of a process, as they travel to another one. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

/** What a histogram may have beside its name: other buckets, and what is to be done at each scrape. */
export interface HistogramOptions {
  buckets?: number[];
  collect?: () => void;
}

/** The metrics of this instance, in Prometheus' text format at /metrics. Names start with `gridgate_`. */
export class Metrics {
  private readonly registry = new Registry();
  /** Gives the text of all processes, where several serve one port (GRID_PROCESSES). */
  whole: (() => Promise<string>) | undefined;

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
    const text = (await this.whole?.().catch(() => undefined)) ?? (await this.registry.metrics());
    return { text, contentType: this.registry.contentType };
  }

  /** All metrics of this process. */
  async values(): Promise<MetricValues> {
    return this.registry.getMetricsAsJSON();
  }

  /** The metrics of several processes as text, each value with the number of its process. */
  static async textOf(processes: readonly (readonly [number, MetricValues])[]): Promise<string> {
    const labelled = processes.map(([number, metrics]) =>
      metrics.map((metric) => ({
        ...metric,
        aggregator: 'sum' as const, // no two have the same labels; of some kinds it would give the mean, or leave them out
        values: metric.values.map((value) => ({
          ...value,
          labels: { ...value.labels, process: String(number) },
        })),
      })),
    );
    return AggregatorRegistry.aggregate(labelled).metrics();
  }
}
