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
  /** Base 64 with its line breaks, a view of the text. */
  base64: Buffer;
}

/**
 * The blocks of a PEM text (RFC 7468), whatever stands between them, in time linear in its length. A block that
 * another one begins in, or whose end has another label, is left out.
 */
export function* pemTexts(text: Buffer): Generator<PemText> {
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
    if (isWhole && startsWith(text, `${label}${DASHES}`, end + END.length)) {
      yield { label, base64: text.subarray(from + label.length + DASHES.length, end) };
    }
    at = next;
  }
}

function labelAt(text: Buffer, from: number): string | undefined {
  const line = text.toString('latin1', from, from + MAX_LABEL + DASHES.length);
  const end = line.indexOf(DASHES);
  const label = end < 0 ? '' : line.slice(0, end);
  return LABEL.test(label) ? label : undefined;
}

function startsWith(text: Buffer, words: string, at: number): boolean {
  return text.toString('latin1', at, at + words.length) === words;
}

/** All blocks of a PEM text, see pemTexts. */
export function decodePem(text: string): PemBlock[] {
  return [...pemTexts(Buffer.from(text))].map(({ label, base64 }) => ({
    label,
    der: Buffer.from(base64.toString('latin1'), 'base64'),
  }));
}

/** Decodes base 64 of any length in slices; line breaks and blanks do not count. */
export async function decodeLong(base64: Buffer, slices: Slices): Promise<Buffer> {
  // In one place from the start: to put 50 MB together at the end would be one long step.
  const decoded = Buffer.allocUnsafeSlow(Math.ceil((base64.length * 3) / 4));
  let length = 0;
  let rest = '';
  for (let at = 0; at < base64.length; at += DECODE_SLICE) {
    const digits = rest + base64.toString('latin1', at, at + DECODE_SLICE).replace(/\s+/g, '');
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
