import { endOfString } from './json.js';

const NUMBER = /-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d+$/;
/** Significant digits with which a program writes a double so that it is read as the same. */
const DOUBLE_DIGITS = 17;
/** So many `toPrecision` writes. */
const MOST_DIGITS = 100;
/** The least double that has all its digits. */
const LEAST_NORMAL = 2 ** -1022;
/** What every number with more digits than a double has, or nearer to 0, has in its text. */
const MAY_BE_INEXACT = /\d[\d.]{17}|e-\d{3}/i;

/** Whether a decimal number, written as in JSON, becomes another one as a double. With at most 17 digits it is the double that is meant. */
export function isInexact(decimal: string): boolean {
  const digits = digitsOf(decimal);
  if (digits === '') return false;
  const number = Number(decimal);
  if (digits.length <= DOUBLE_DIGITS && Math.abs(number) >= LEAST_NORMAL) return false;
  if (digits.length > MOST_DIGITS) return true;
  return digitsOf(number.toPrecision(digits.length)) !== digits; // a double may be written with more digits than it needs
}

/** The place, counted from 0, of the first number of a JSON text that {@link isInexact}; undefined when there is none. */
export function inexactNumberAt(text: string): number | undefined {
  if (!MAY_BE_INEXACT.test(text)) return undefined;
  for (const [at, number] of numbersOf(text)) {
    if (!INTEGER.test(number) && isInexact(number)) return at;
  }
  return undefined;
}

/** The JSON text with those numbers as texts that would be written in another way again: `1.0`, `0.10`, `1e3`. */
export function numbersAsTexts(text: string): string {
  const pieces: string[] = [];
  let kept = 0;
  for (const [at, number] of numbersOf(text)) {
    if (isWrittenAgain(number)) continue;
    pieces.push(text.slice(kept, at), `"${number}"`);
    kept = at + number.length;
  }
  return pieces.join('') + text.slice(kept);
}

function isWrittenAgain(number: string): boolean {
  return INTEGER.test(number) ? number !== '-0' : String(Number(number)) === number;
}

/** The numbers outside strings, each with its place. */
function* numbersOf(text: string): Generator<[number, string]> {
  for (let start = 0; start < text.length;) {
    const quote = text.indexOf('"', start);
    const end = quote < 0 ? text.length : quote;
    if (end - start > 1) {
      for (const { 0: number, index } of text.slice(start, end).matchAll(NUMBER))
        yield [start + index, number];
    }
    start = quote < 0 ? end : endOfString(text, quote);
  }
}

/** Digits of a decimal number without the zeros around them. */
function digitsOf(text: string): string {
  return text
    .replace(/e.*/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|(?<!0)0+$/g, '');
}
