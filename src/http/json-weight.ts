/** Deepest nesting of JSON that is read. */
export const MAX_DEPTH = 64;
/**
 * Most values (members and elements) of one JSON text that is read. What a text costs goes by its values, not by its
 * bytes: a MiB has up to 500,000 of them, and the parser and what looks at them afterwards took 220 ms of processor
 * time for one of members with different names. So many take 30 ms, and a manifest of 64 KiB has hardly more.
 */
export const MAX_VALUES = 20_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

/**
 * What makes the text too dear to be parsed: nested deeper than MAX_DEPTH, or more than MAX_VALUES values; undefined for
 * every other text, JSON or not. Each character is met at most once (a MiB: 3 ms).
 */
export function tooHeavy(text: string): 'depth' | 'values' | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values += 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > MAX_DEPTH) return 'depth';
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    if (values > MAX_VALUES) return 'values';
  }
  return undefined;
}

/** The place of the closing quote; the end of the text when there is none. */
function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
