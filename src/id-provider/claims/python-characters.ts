/** Whether one code point belongs to something. */
export type CharacterTest = (point: number) => boolean;

const WORD = /^[\p{L}\p{N}_]$/u;
const DIGIT = /^\p{Nd}$/u;
const ASCII_WORD = /^\w$/;
const BLANKS = new Set([
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680],
  ...[0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a],
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
]);

/** `\w`: letters, numbers of every kind and the underscore of Unicode, or of ASCII alone. */
export function isWord(point: number, ascii: boolean): boolean {
  return (ascii || point < 0x80 ? ASCII_WORD : WORD).test(String.fromCodePoint(point));
}

const isDigit = (point: number, ascii: boolean): boolean =>
  ascii || point < 0x80 ? point >= 0x30 && point <= 0x39 : DIGIT.test(String.fromCodePoint(point));

const isBlank = (point: number, ascii: boolean): boolean =>
  ascii ? point === 0x20 || (point >= 0x09 && point <= 0x0d) : BLANKS.has(point);

/** The test of a category escape (`\w \W \d \D \s \S`); undefined for another letter. */
export function categoryOf(letter: string, ascii: boolean): CharacterTest | undefined {
  const test = { w: isWord, d: isDigit, s: isBlank }[letter.toLowerCase()];
  if (test === undefined || !/^[wdsWDS]$/.test(letter)) return undefined;
  const isWanted = letter === letter.toLowerCase();
  return (point) => test(point, ascii) === isWanted;
}

/** Case pairs that no mapping of single characters finds: dotted capital I, and ligatures. */
const ODD_FOLDS = new Map([
  [0x130, 0x69],
  [0x1fd3, 0x390],
  [0x1fe3, 0x3b0],
  [0xfb05, 0xfb06],
]);
/** Characters whose fold is another letter's than their own pair: text may hold the plain one. */
const ODD_CASES = [
  ...[0xb5, 0x130, 0x131, 0x17f, 0x345, 0x390, 0x3b0, 0x3c2, 0x3d0, 0x3d1, 0x3d5, 0x3d6, 0x3f0],
  ...[0x3f1, 0x3f4, 0x3f5, 0x1c80, 0x1c81, 0x1c82, 0x1c83, 0x1c84, 0x1c85, 0x1c86, 0x1c87, 0x1c88],
  ...[0x1e9b, 0x1e9e, 0x1fbe, 0x1fd3, 0x1fe3, 0x2126, 0x212a, 0x212b, 0xfb05, 0xfb06],
];

function single(text: string, otherwise: number): number {
  const point = text.codePointAt(0) ?? otherwise;
  return String.fromCodePoint(point) === text ? point : otherwise;
}

const lower = (point: number): number => single(String.fromCodePoint(point).toLowerCase(), point);
const upper = (point: number): number => single(String.fromCodePoint(point).toUpperCase(), point);

/** One character for all that differ in case only; with `ascii` for letters of ASCII alone. */
export function fold(point: number, ascii: boolean): number {
  if (ascii) return point >= 0x41 && point <= 0x5a ? point + 32 : point;
  return ODD_FOLDS.get(point) ?? lower(upper(lower(point)));
}

const ODD_BY_FOLD = new Map<number, number[]>();
for (const point of ODD_CASES) {
  const folded = fold(point, false);
  ODD_BY_FOLD.set(folded, [...(ODD_BY_FOLD.get(folded) ?? []), point]);
}

/** All characters that differ from this one in case only, itself included. */
export function casesOf(point: number, ascii: boolean): number[] {
  const folded = fold(point, ascii);
  if (!ascii) {
    return [point, folded, upper(folded), ...(ODD_BY_FOLD.get(folded) ?? [])];
  }
  const isLetter = folded >= 0x61 && folded <= 0x7a;
  return isLetter ? [folded, folded - 32] : [point];
}
