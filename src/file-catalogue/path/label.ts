/**
 * Labels of directories: the ordinals on the way from the root, each written so that no encoding is the beginning
 * of another one and byte order is numeric order. So the subtree of a directory is the one range
 * [label, endOfSubtree(label)), label order is depth-first order, and ranges of neighbouring siblings touch.
 */

const ONE_BYTE = 0xc0;
const TWO_BYTES = 0xf0;
const FOUR_BYTES = 0xff;
const FIRST_OF_TWO = ONE_BYTE;
const FIRST_OF_FOUR = FIRST_OF_TWO + (TWO_BYTES - ONE_BYTE) * 0x100;

/** How many children a directory can be given in its life (about 251 million). */
export const MAX_ORDINAL = FIRST_OF_FOUR + (FOUR_BYTES - TWO_BYTES) * 0x1000000 - 2;

/** The label of the root. */
export const ROOT_LABEL = Buffer.from([0]);

/** One ordinal: 1 byte below 192, 2 bytes below 12 480, else 4; the first byte is never 0xff. */
export function encodeOrdinal(ordinal: number): Buffer {
  if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal > MAX_ORDINAL + 1) {
    throw new RangeError(`ordinal ${ordinal} is out of range`);
  }
  if (ordinal < FIRST_OF_TWO) return Buffer.from([ordinal]);
  if (ordinal < FIRST_OF_FOUR) {
    const rest = ordinal - FIRST_OF_TWO;
    return Buffer.from([ONE_BYTE + (rest >> 8), rest & 0xff]);
  }
  const rest = ordinal - FIRST_OF_FOUR;
  return Buffer.from([
    TWO_BYTES + Math.floor(rest / 0x1000000),
    (rest >> 16) & 0xff,
    (rest >> 8) & 0xff,
    rest & 0xff,
  ]);
}

/** The label of a child. */
export function childLabel(parent: Buffer, ordinal: number): Buffer {
  return Buffer.concat([parent, encodeOrdinal(ordinal)]);
}

/** The first label after the subtree: that of the next sibling, whether it exists or not. */
export function endOfSubtree(label: Buffer): Buffer {
  let last = 0;
  for (let at = 0; at < label.length; at += widthAt(label, at)) last = at;
  return childLabel(label.subarray(0, last), decodeOrdinal(label, last) + 1);
}

/** True when `label` is `ancestor` itself or lies below it. */
export function isInSubtree(label: Buffer, ancestor: Buffer): boolean {
  return label.length >= ancestor.length && label.subarray(0, ancestor.length).equals(ancestor);
}

function widthAt(label: Buffer, at: number): number {
  const first = label[at] ?? 0;
  if (first < ONE_BYTE) return 1;
  return first < TWO_BYTES ? 2 : 4;
}

function decodeOrdinal(label: Buffer, at: number): number {
  const first = label[at] ?? 0;
  if (first < ONE_BYTE) return first;
  if (first < TWO_BYTES) return FIRST_OF_TWO + (first - ONE_BYTE) * 0x100 + (label[at + 1] ?? 0);
  return FIRST_OF_FOUR + (first - TWO_BYTES) * 0x1000000 + label.readUIntBE(at + 1, 3);
}
