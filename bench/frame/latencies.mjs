import { quantile } from './statistics.mjs';

const KEPT = 200_000;

/** Collects times in milliseconds; beyond the kept number every later one replaces an older one in turn. */
export class Latencies {
  times = [];
  count = 0;

  add(milliseconds) {
    if (this.times.length < KEPT) this.times.push(milliseconds);
    else this.times[this.count % KEPT] = milliseconds;
    this.count += 1;
  }

  /** Rate over the seconds, and the two quantiles that the table shows. */
  summary(seconds) {
    return {
      value: this.count / seconds,
      p50: quantile(this.times, 0.5),
      p99: quantile(this.times, 0.99),
    };
  }
}
