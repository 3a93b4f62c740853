/** So much of a file does Linux read to learn how to start it (BINPRM_BUF_SIZE). */
export const HEAD_BYTES = 256;

const MAX_SHOWN = 120;
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
const UTF8_MARK = '\u{feff}';
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}]/u;
const NAMED: Record<string, string> = { '\r': '\\r', '\t': '\\t', '\n': '\\n' };

/** What Linux starts by itself begins so: a script, or a program. */
const STARTS = ['#!', '\x7fELF'];

/** True for the begin of a file that is made to be executed, whatever mode it had. */
export function isProgram(head: Uint8Array): boolean {
  const begin = Buffer.from(head.subarray(0, 4)).toString('latin1');
  return STARTS.some((start) => begin.startsWith(start));
}

/** What a script is started by. */
export interface ScriptStart {
  /** The first word behind `#!`: a path, relative to the directory of the job when it does not begin with a slash. */
  interpreter: string;
  /** What `env` looks for on the job's PATH; undefined for other interpreters, and where only `env` itself can say. */
  name?: string;
}

/**
 * What Linux starts for a file that begins with those bytes; undefined for a program, and for a file that `/bin/sh` runs since it
 * has no `#!` line that Linux takes. The end of the line and blanks are read as binfmt_script.c does.
 */
export function scriptStart(head: Uint8Array): ScriptStart | undefined {
  const text = UTF8.decode(head.subarray(0, HEAD_BYTES));
  if (!text.startsWith('#!')) return undefined;
  const [line = ''] = text.slice(2).split('\n', 1);
  const isCut = head.length >= HEAD_BYTES && !text.includes('\n');
  const words = line.replace(/^[ \t]+/, '');
  if (isCut && !/[ \t\0]/.test(words)) return undefined;
  const [interpreter = ''] = words.split(/[ \t\0]/, 1);
  // Bytes that are no UTF-8 may name a file that a text cannot name.
  if (interpreter === '' || line.includes('\u{fffd}')) return undefined;
  const rest = words.slice(interpreter.length);
  const argument = rest.startsWith('\0') ? '' : withoutBlanks(rest);
  const isEnv = /^\/(?:usr\/)?bin\/env$/.test(interpreter) && !isCut && !argument.includes('\0');
  const name = isEnv ? nameForEnv(argument) : undefined;
  return { interpreter, ...(name !== undefined && { name }) };
}

/** Not `trim`: to Linux a carriage return is no blank. */
function withoutBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && /[ \t]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).replace(/^[ \t]+/, '');
}

/** Linux gives all that follows as one argument, which `env -S` splits. */
function nameForEnv(argument: string): string | undefined {
  const split = /^-S|^--split-string=/.exec(argument);
  if (!split) return argument === '' || /^-|=/.test(argument) ? undefined : argument;
  const [first = ''] = argument.slice(split[0].length).trim().split(/\s+/, 1);
  return /^[\w./+][\w./+-]*$/.test(first) ? first : undefined;
}

/** The first line of a file in quotation marks: what nobody sees is written as an escape, and a long line is cut. */
export function shownFirstLine(head: Uint8Array): string {
  const text = UTF8.decode(head.subarray(0, HEAD_BYTES), { stream: true });
  UTF8.decode();
  const [line = ''] = text.split('\n', 1);
  const isWhole = line !== text || head.length < HEAD_BYTES;
  let shown = '';
  for (const character of line) {
    if (shown.length >= MAX_SHOWN) return `"${shown}…"`;
    shown += character.replace(UNSEEN, escaped);
  }
  return `"${shown}${isWhole ? '' : '…'}"`;
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return NAMED[character] ?? (code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`);
}

/** Why a text file cannot be started as its author means it; undefined when nothing stands against it. */
export type ScriptFault = 'line-ends' | 'byte-order-mark' | undefined;

/** Looks at the first bytes of a file that is to be a program. A byte order mark is named before the ends of lines. */
export function scriptFault(head: Uint8Array): ScriptFault {
  const [first = 0, second = 0] = head;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return 'byte-order-mark';
  }
  const text = UTF8.decode(head.subarray(0, HEAD_BYTES));
  if (text.startsWith(UTF8_MARK)) return 'byte-order-mark';
  const [line = ''] = text.split('\n', 1);
  return line.includes('\r') && !text.includes('\0') ? 'line-ends' : undefined;
}
