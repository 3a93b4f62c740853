import type { JsonValue } from './json.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/**
 * The name of a member that stands twice in one object of a JSON text, undefined when none does: a parser keeps the last
 * one without a word (RFC 8259 §4). `value` is what the text has been parsed to. Each character is met once, and once more
 * where a member is named.
 */
export function repeatedMember(text: string, value: JsonValue): string | undefined {
  return colonsOf(text) === membersOf(value) ? undefined : nameTwice(text);
}

/** Colons outside strings: one for each member that is written. */
function colonsOf(text: string): number {
  let colons = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) colons += 1;
  }
  return colons;
}

/** Without recursion, since the value may be nested deeply. */
function membersOf(value: JsonValue): number {
  let members = 0;
  const open: JsonValue[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const inner = Object.values(one);
    if (!Array.isArray(one)) members += inner.length;
    for (const each of inner) if (typeof each === 'object') open.push(each);
  }
  return members;
}

function nameTwice(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_LIST) open.push(new Set());
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) open.pop();
    else if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isKey(text, end + 1)) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        const names = open.at(-1);
        if (names?.has(name)) return name;
        names?.add(name);
      }
      at = end;
    }
  }
  return undefined;
}

function isKey(text: string, from: number): boolean {
  let at = from;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charCodeAt(at) === COLON;
}

/** The place of the closing quote. */
function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
