import type { Slices } from '#src/kernel/index.js';

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const LABEL = /^[A-Z0-9 ]+$/;
const MAX_LABEL = 64;
/** A multiple of 4 of characters, decoded at once. */
const DECODE_SLICE = 256 * 1024;

/** One block of a PEM file, decoded. */
export interface PemBlock {
  label: string;
  der: Buffer;
}

/** One block of a PEM text, not yet decoded. */
export interface PemText {
  label: string;
  /** Base 64 with its line breaks. */
  base64: string;
}

/**
 * The blocks of a PEM text (RFC 7468), whatever stands between them, in time linear in its length. A block that
 * another one begins in, or whose end has another label, is left out.
 */
export function* pemTexts(text: string): Generator<PemText> {
  let at = text.indexOf(BEGIN);
  let end = -1;
  while (at >= 0) {
    const from = at + BEGIN.length;
    const next = text.indexOf(BEGIN, from);
    // Looked for once for all blocks before it: else each of many beginnings would search the whole text.
    if (end < from) end = text.indexOf(END, from);
    if (end < 0) return;
    const label = labelAt(text, from);
    const isWhole = (next < 0 || end < next) && label !== undefined;
    if (isWhole && text.startsWith(`${label}${DASHES}`, end + END.length)) {
      yield { label, base64: text.slice(from + label.length + DASHES.length, end) };
    }
    at = next;
  }
}

function labelAt(text: string, from: number): string | undefined {
  const end = text.slice(from, from + MAX_LABEL + DASHES.length).indexOf(DASHES);
  const label = end < 0 ? '' : text.slice(from, from + end);
  return LABEL.test(label) ? label : undefined;
}

/** All blocks of a PEM text, see pemTexts. */
export function decodePem(text: string): PemBlock[] {
  return [...pemTexts(text)].map(({ label, base64 }) => ({
    label,
    der: Buffer.from(base64, 'base64'),
  }));
}

/** Decodes base 64 of any length in slices; line breaks and blanks do not count. */
export async function decodeLong(base64: string, slices: Slices): Promise<Buffer> {
  // In one place from the start: to put 50 MB together at the end would be one long step.
  const decoded = Buffer.allocUnsafeSlow(Math.ceil((base64.length * 3) / 4));
  let length = 0;
  let rest = '';
  for (let at = 0; at < base64.length; at += DECODE_SLICE) {
    const digits = rest + base64.slice(at, at + DECODE_SLICE).replace(/\s+/g, '');
    const whole = digits.length - (digits.length % 4);
    length += decoded.write(digits.slice(0, whole), length, 'base64');
    rest = digits.slice(whole);
    if (slices.isOver) await slices.rest();
  }
  length += decoded.write(rest, length, 'base64');
  return decoded.subarray(0, length);
}

/** A PEM block of DER bytes, lines of 64 characters. */
export function encodePem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
