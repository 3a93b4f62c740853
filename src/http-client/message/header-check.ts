import { InvalidHeader } from './errors.js';

/** A word that HTTP allows as a name of a header or of a method (RFC 9110 §5.6.2). */
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Control characters but tab; beyond U+00FF nothing fits into a header byte.
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** Throws InvalidHeader for what could smuggle another header or cannot be sent; values are not repeated. */
export function checkHeader(name: string, value: unknown): void {
  if (!TOKEN.test(name))
    throw new InvalidHeader('a header name holds characters that are not allowed');
  if (typeof value !== 'string')
    throw new InvalidHeader(`the value of header ${name} must be text`);
  if (/^\s/.test(value)) throw new InvalidHeader(`the value of header ${name} starts with a blank`);
  if (UNSENDABLE.test(value)) {
    throw new InvalidHeader(
      `the value of header ${name} holds a line break or another unsendable character`,
    );
  }
}
