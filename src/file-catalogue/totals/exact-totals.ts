import { endOfSubtree } from '../path/label.js';

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

/** A directory that was found, with its exact recursive totals. */
export interface Match extends Totals {
  path: string;
}

/**
 * Makes stored totals exact: adds the changes inside a directory's range. Changes are sorted by label; each
 * question costs two binary searches, so a search stays cheap while much is pending.
 *
 * There may be hundreds of thousands of changes. Labels are kept as Latin-1 strings, whose order is that of their bytes: a
 * Buffer takes five times as much.
 */
export class ExactTotals {
  private readonly labels: string[] = [];
  private readonly files: number[] = [0];
  private readonly bytes: bigint[] = [0n];

  /** Adds a change; its label is not before that of the one added last. */
  add(label: string, files: number, bytes: bigint): void {
    this.labels.push(label);
    this.files.push((this.files.at(-1) ?? 0) + files);
    this.bytes.push((this.bytes.at(-1) ?? 0n) + bytes);
  }

  /** The exact totals of the directory with this label, whose stored totals are given. */
  of(label: Buffer, stored: Totals): Totals {
    if (this.labels.length === 0) return stored;
    const from = this.firstAtOrAfter(label.toString('latin1'));
    const to = this.firstAtOrAfter(endOfSubtree(label).toString('latin1'));
    return {
      files: stored.files + (this.files[to] ?? 0) - (this.files[from] ?? 0),
      bytes: stored.bytes + (this.bytes[to] ?? 0n) - (this.bytes[from] ?? 0n),
    };
  }

  private firstAtOrAfter(label: string): number {
    let low = 0;
    let high = this.labels.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.labels[middle] as string) < label) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
