/** A change of totals at one label: pending registrations, or an unreadable subtree that does not count. */
export interface TotalsChange {
  label: Buffer;
  files: number;
  bytes: bigint;
}

/** Files below a directory and their size. */
export interface Totals {
  files: number;
  bytes: bigint;
}

/**
 * Makes stored totals exact: adds the changes inside a directory's range. Changes are sorted by label; each
 * question costs two binary searches, so a search stays cheap while much is pending.
 */
export class ExactTotals {
  private readonly labels: Buffer[];
  private readonly files: number[] = [0];
  private readonly bytes: bigint[] = [0n];

  constructor(changes: readonly TotalsChange[]) {
    const sorted = [...changes].sort((a, b) => a.label.compare(b.label));
    this.labels = sorted.map((change) => change.label);
    for (const [index, change] of sorted.entries()) {
      this.files.push((this.files[index] ?? 0) + change.files);
      this.bytes.push((this.bytes[index] ?? 0n) + change.bytes);
    }
  }

  /** The exact totals of the range [lo, hi) whose stored totals are given. */
  of(lo: Buffer, hi: () => Buffer, stored: Totals): Totals {
    if (this.labels.length === 0) return stored;
    const from = this.firstAtOrAfter(lo);
    const to = this.firstAtOrAfter(hi());
    return {
      files: stored.files + (this.files[to] ?? 0) - (this.files[from] ?? 0),
      bytes: stored.bytes + (this.bytes[to] ?? 0n) - (this.bytes[from] ?? 0n),
    };
  }

  private firstAtOrAfter(label: Buffer): number {
    let low = 0;
    let high = this.labels.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.labels[middle] as Buffer).compare(label) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
