import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { netrcPaths } from '../message/environment.js';
import type { AuthTuple } from '../message/types.js';

interface NetrcEntry {
  login: string;
  account: string;
  password: string;
}

interface NetrcFile {
  path: string;
  modified: number;
  machines: Map<string, NetrcEntry>;
}

const DEFAULT_ENTRY = '';
/** Stands for bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd';
let lastRead: NetrcFile | undefined;

/**
 * User name (or, when that is empty, account) and password that .netrc holds for the URL's host, without its port;
 * null when there is no such entry, or one that is no UTF-8, or no file, or a file that cannot be read or parsed.
 */
export function netrcAuth(url: string): AuthTuple | null {
  for (const path of netrcPaths()) {
    const modified = modifiedAt(path);
    if (modified === undefined) continue;
    const entry = lookUp(path, modified, url);
    return entry ? [entry.login || entry.account, entry.password] : null;
  }
  return null;
}

function modifiedAt(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  } catch {
    // it may stand where this user must not look
    return undefined;
  }
}

/** Parses a .netrc file; throws SyntaxError. */
function parseNetrc(text: string): Map<string, NetrcEntry> {
  const machines = new Map<string, NetrcEntry>();
  const tokens = tokenize(text);
  let entry: NetrcEntry | undefined;
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (token === 'machine' || token === 'default') {
      const name = token === 'default' ? DEFAULT_ENTRY : tokens.shift();
      if (name === undefined) throw new SyntaxError('machine without a name');
      entry = { login: '', account: '', password: '' };
      machines.set(name.toLowerCase(), entry);
    } else if (
      token === 'login' ||
      token === 'user' ||
      token === 'account' ||
      token === 'password'
    ) {
      const value = tokens.shift();
      if (!entry || value === undefined) throw new SyntaxError(`${token} out of place`);
      entry[token === 'user' ? 'login' : token] = value;
    } else {
      throw new SyntaxError('unknown word');
    }
  }
  return machines;
}

function lookUp(path: string, modified: number, url: string): NetrcEntry | undefined {
  if (lastRead?.path !== path || lastRead.modified !== modified) {
    lastRead = { path, modified, machines: readMachines(path) };
  }
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
  const entry = lastRead.machines.get(host) ?? lastRead.machines.get(DEFAULT_ENTRY);
  const isEmptyEntry = !entry || (!entry.login && !entry.account && !entry.password);
  return isEmptyEntry ? undefined : entry;
}

function readMachines(path: string): Map<string, NetrcEntry> {
  try {
    const bytes = readFileSync(path);
    const machines = parseNetrc(bytes.toString('utf8'));
    return isUtf8(bytes) ? machines : withoutReplaced(machines);
  } catch {
    return new Map();
  }
}

/** Entries without what would be another user or password than the file has; such an entry is empty. */
function withoutReplaced(machines: Map<string, NetrcEntry>): Map<string, NetrcEntry> {
  const isReplaced = (entry: NetrcEntry): boolean =>
    Object.values(entry).some((word: string) => word.includes(REPLACEMENT));
  const empty: NetrcEntry = { login: '', account: '', password: '' };
  return new Map([...machines].map(([name, one]) => [name, isReplaced(one) ? empty : one]));
}

/** Words, quoted words and no comments; a macro definition lasts until an empty line. */
function tokenize(text: string): string[] {
  const tokens: string[] = [];
  const words = /"((?:[^"\\]|\\.)*)"|(\S+)/y;
  const withoutMacros = text.replace(/(^|\s)macdef[^\n]*\n(?:[^\S\n]*\S[^\n]*(?:\n|$))*/g, '$1');
  for (const line of withoutMacros.split('\n')) {
    words.lastIndex = 0;
    for (let at = blanks(line, 0); at < line.length; at = blanks(line, words.lastIndex)) {
      words.lastIndex = at;
      const match = words.exec(line);
      if (!match) break;
      const plain = match[2];
      if (plain?.startsWith('#') && tokens.at(-1) !== 'password') break;
      tokens.push(plain ?? (match[1] ?? '').replace(/\\(.)/g, '$1'));
    }
  }
  return tokens;
}

function blanks(line: string, from: number): number {
  let at = from;
  while (at < line.length && /\s/.test(line[at] ?? '')) at += 1;
  return at;
}
