import { Slices } from '#src/kernel/index.js';

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
  private readonly labels: Buffer[] = [];
  private readonly files: number[] = [0];
  private readonly bytes: bigint[] = [0n];

  private constructor() {}

  /** Of changes to add and to subtract, each in the order of labels. Gives others their turn. */
  static async of(
    added: readonly TotalsChange[],
    subtracted: readonly TotalsChange[],
  ): Promise<ExactTotals> {
    const totals = new ExactTotals();
    const slices = new Slices();
    for (let plus = 0, minus = 0; plus < added.length || minus < subtracted.length;) {
      if (slices.isOver) await slices.rest();
      const more = added[plus];
      const less = subtracted[minus];
      if (more && (!less || more.label.compare(less.label) <= 0)) {
        totals.append(more.label, more.files, more.bytes);
        plus += 1;
      } else if (less) {
        totals.append(less.label, -less.files, -less.bytes);
        minus += 1;
      }
    }
    return totals;
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

  private append(label: Buffer, files: number, bytes: bigint): void {
    this.labels.push(label);
    this.files.push((this.files.at(-1) ?? 0) + files);
    this.bytes.push((this.bytes.at(-1) ?? 0n) + bytes);
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
