import { parse as parseLossless } from 'lossless-json';

/** What JSON text can hold; integers beyond 2^53 are bigint. */
export type JsonValue =
  string | number | bigint | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** An object of JSON values. */
export type JsonObject = { [key: string]: JsonValue };

const BIG_MARK = '\u0001big:';
const BIG_MARK_IN_JSON = /"\\u0001big:(-?\d+)"/g;
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;

/** Writes JSON; bigint becomes a plain number with all its digits (contract 2: 64-bit totals are numbers). */
export function stringifyJson(value: unknown, indent?: number): string {
  let sawBig = false;
  const text = JSON.stringify(
    value,
    (_key, member: unknown) => {
      if (typeof member !== 'bigint') return member;
      if (member >= Number.MIN_SAFE_INTEGER && member <= Number.MAX_SAFE_INTEGER) {
        return Number(member);
      }
      sawBig = true;
      return `${BIG_MARK}${member}`;
    },
    indent,
  );
  return sawBig ? text.replace(BIG_MARK_IN_JSON, '$1') : text;
}

/**
 * Parses JSON without losing digits: an integer beyond 2^53 arrives as bigint, everything else as JSON.parse
 * would give it. Throws SyntaxError with the position.
 */
export function parseJson(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw located(text, error);
  }
  return MANY_DIGITS.test(text) ? parseWithAllDigits(text) : value;
}

function parseWithAllDigits(text: string): JsonValue {
  return parseLossless(text, null, {
    parseNumber: (digits: string) => {
      const number = Number(digits);
      return INTEGER.test(digits) && !Number.isSafeInteger(number) ? BigInt(digits) : number;
    },
    onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
  }) as JsonValue;
}

/** The fault with its position and without the text around it, which the engine quotes and somebody may log. */
function located(text: string, fault: unknown): unknown {
  if (!(fault instanceof SyntaxError)) return fault;
  try {
    parseLossless(text);
  } catch (error) {
    if (error instanceof SyntaxError) return new SyntaxError(error.message.replaceAll('\n', '\\n'));
  }
  return new SyntaxError('The text is not JSON');
}

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
