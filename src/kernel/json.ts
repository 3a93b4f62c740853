import { jsonFault } from './json-fault.js';

/** What JSON text can hold; integers beyond 2^53 are bigint. */
export type JsonValue =
  string | number | bigint | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** An object of JSON values. */
export type JsonObject = Record<string, JsonValue>;

const BACKSLASH = 0x5c;
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;
/** Numbers that may be beyond what a double holds: with two digits in the exponent they have 210 digits and more. */
const MAY_BE_INFINITE = /e\+?\d{3}|(?<!\d)\d{200}/i;
/** A number with many digits in a row before any point. Linear: every character is met once. */
const LONG_NUMBER = /(?<![\d.eE+-])-?\d{16,}[\d.eE+-]*/g;
/** Longest number that is read digit by digit: a bigint of a million digits takes 90 ms. */
const MAX_DIGITS = 1_000;
/** Stands before an integer beyond 2^53 while a text is read or written; no caller can know it. */
const LONG_MARK = `${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`;

/** Writes JSON; bigint becomes a plain number with all its digits: 64-bit totals are numbers. */
export function stringifyJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent); // several times as fast as with a function for each member
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stringifyWithBig(value, indent);
  }
}

function stringifyWithBig(value: unknown, indent?: number): string {
  let sawBig = false;
  const text = JSON.stringify(
    value,
    (_key, member: unknown) => {
      if (typeof member !== 'bigint') return member;
      if (member >= Number.MIN_SAFE_INTEGER && member <= Number.MAX_SAFE_INTEGER) {
        return Number(member);
      }
      sawBig = true;
      return `${LONG_MARK}${member}`;
    },
    indent,
  );
  if (!sawBig) return text;
  const [start = '', ...pieces] = text.split(`"${LONG_MARK}`);
  return start + pieces.map((piece) => piece.replace('"', '')).join('');
}

/**
 * Parses JSON without losing digits: an integer beyond 2^53 arrives as bigint, everything else as JSON.parse
 * would give it. Throws SyntaxError with the position, for an integer of more than 1000 digits, and for a number that would be
 * read as infinite and written as null.
 */
export function parseJson(text: string): JsonValue {
  try {
    const value = MANY_DIGITS.test(text) ? parseLong(text) : (JSON.parse(text) as JsonValue);
    if (MAY_BE_INFINITE.test(text)) refuseInfinite(value);
    return value;
  } catch (error) {
    throw error instanceof NumberFault ? error : located(text, error);
  }
}

/** A number that is JSON, and more than is read. */
class NumberFault extends SyntaxError {}

function parseLong(text: string): JsonValue {
  const marked = withMarks(text);
  const value = JSON.parse(marked) as JsonValue;
  return marked === text ? value : withoutMarks(value);
}

/** Without recursion, since the text may be nested deeply. */
function refuseInfinite(value: JsonValue): void {
  const open: JsonValue[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (one === Infinity || one === -Infinity) throw new NumberFault('A number is beyond 1.8e308');
    if (typeof one === 'object' && one !== null)
      for (const inner of Object.values(one)) open.push(inner);
  }
}

/** The text with every integer beyond 2^53 as a marked string; nothing within strings is touched. */
function withMarks(text: string): string {
  const pieces: string[] = [];
  let kept = 0;
  for (let start = 0; start < text.length;) {
    const quote = text.indexOf('"', start);
    const end = quote < 0 ? text.length : quote;
    if (end - start >= 16) {
      const plain = text.slice(start, end);
      const marked = plain.replace(LONG_NUMBER, markedNumber);
      if (marked !== plain) {
        pieces.push(text.slice(kept, start), marked);
        kept = end;
      }
    }
    start = quote < 0 ? end : endOfString(text, quote);
  }
  return kept === 0 ? text : pieces.join('') + text.slice(kept);
}

function markedNumber(token: string): string {
  if (!INTEGER.test(token) || Number.isSafeInteger(Number(token))) return token;
  if (token.replace('-', '').length > MAX_DIGITS)
    throw new NumberFault('A number has more than 1000 digits');
  return JSON.stringify(LONG_MARK + token);
}

/** The place after the closing quote; the end of the text when there is none, which the parser then refuses. */
export function endOfString(text: string, quote: number): number {
  for (let close = text.indexOf('"', quote + 1); close > 0; close = text.indexOf('"', close + 1)) {
    let before = close - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((close - before) % 2 === 1) return close + 1;
  }
  return text.length;
}

/** Puts bigints in the places of the marked strings; without recursion, since the text may be nested deeply. */
function withoutMarks(value: JsonValue): JsonValue {
  const root = { value };
  const open: object[] = [root];
  for (let holder = open.pop(); holder; holder = open.pop()) {
    const members = holder as Record<string, JsonValue>;
    for (const key of Object.keys(members)) {
      const member = members[key];
      if (typeof member === 'string') {
        if (member.startsWith(LONG_MARK)) members[key] = BigInt(member.slice(LONG_MARK.length));
      } else if (typeof member === 'object' && member !== null) open.push(member);
    }
  }
  return root.value;
}

/** The fault with its position and without the text around it, which the engine quotes and somebody may log. */
function located(text: string, fault: unknown): unknown {
  if (!(fault instanceof SyntaxError)) return fault;
  return new SyntaxError(jsonFault(text) ?? 'The text is not JSON');
}

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
