import { content, DerError, expectTag, readElement, TAG, type DerElement } from './der.js';
import type { Slices } from '#src/kernel/index.js';

/** The shortest entry of a revocation list: a serial number of one byte and a UTCTime without seconds. */
const MIN_ENTRY_BYTES = 18;
const ENTRIES_PER_LOOK = 256;

/**
 * The serial numbers of a revocation list: a hash table of places in its DER. A set of strings would take four times the
 * memory, and its growth past a million entries stops the thread for longer than a request may wait.
 */
export class SerialIndex {
  private readonly slots: Uint32Array;
  private readonly bytes: Buffer;

  private constructor(entries: DerElement | undefined) {
    this.bytes = entries?.bytes ?? Buffer.alloc(0);
    const most =
      entries === undefined ? 0 : Math.ceil((entries.end - entries.from) / MIN_ENTRY_BYTES);
    this.slots = new Uint32Array(2 ** Math.ceil(Math.log2(most * 1.5 + 2)));
  }

  /** Reads `revokedCertificates` (RFC 5280 §5.1). Only the first child of each entry is looked at. Throws DerError. */
  static async of(entries: DerElement | undefined, slices: Slices): Promise<SerialIndex> {
    const index = new SerialIndex(entries);
    if (entries === undefined) return index;
    const { bytes } = entries;
    let read = 0;
    for (let offset = entries.from; offset < entries.end;) {
      const entry = readElement(bytes, offset, entries.end);
      if (entry.end - offset < MIN_ENTRY_BYTES) throw new DerError('an entry without a date');
      const serial = expectTag(readElement(bytes, entry.from, entry.end), TAG.integer);
      index.add(serial.start, significant(content(serial)));
      offset = entry.end;
      if (++read % ENTRIES_PER_LOOK === 0 && slices.isOver) await slices.rest();
    }
    return index;
  }

  /** Whether a serial number, as in CertificateFields, is in the list. */
  has(serialNumber: string): boolean {
    const even = serialNumber.padStart(serialNumber.length + (serialNumber.length % 2), '0');
    const serial = significant(Buffer.from(even, 'hex'));
    return this.slots[this.slotOf(serial)] !== 0;
  }

  private add(start: number, serial: Buffer): void {
    this.slots[this.slotOf(serial)] = start;
  }

  /** The slot that holds the serial number, or the free one where it belongs. */
  private slotOf(serial: Buffer): number {
    const mask = this.slots.length - 1;
    for (let slot = hashOf(serial) & mask; ; slot = (slot + 1) & mask) {
      const start = this.slots[slot] ?? 0;
      if (start === 0) return slot;
      if (significant(content(readElement(this.bytes, start))).equals(serial)) return slot;
    }
  }
}

/** Leading zeros are of the encoding, not of the number. */
function significant(bytes: Buffer): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  return bytes.subarray(from);
}

/** FNV-1a. */
function hashOf(bytes: Buffer): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
