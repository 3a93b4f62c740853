/** Random choices that a seed repeats (mulberry32). */
export class Dice {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** A number from 0 up to, but without, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** One of the values; undefined only when there is none. */
  pick<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.next() * values.length)];
  }

  /** One of the values, by their weights. */
  weighted<T>(values: readonly (readonly [T, number])[]): T {
    let point = this.next() * values.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of values) {
      point -= weight;
      if (point < 0) return value;
    }
    return (values.at(-1) as readonly [T, number])[0];
  }
}
