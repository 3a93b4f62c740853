import { parseDatabaseUrl } from './database-url.js';

/** One environment variable: how it is called, read, explained and, when it is a secret, hidden. */
export interface Variable<T> {
  name: string;
  kind: string;
  description: string;
  secret: boolean;
  /** The default as it is printed in docs/configuration.md. */
  defaultText: string;
  /** Reads the text of the variable; undefined means not set. Throws Error with the fault. */
  read(text: string | undefined): T;
}

interface Notes {
  description: string;
  secret?: boolean;
}

function variable<T>(
  name: string,
  kind: string,
  notes: Notes & { fallback: T; defaultText?: string },
  parse: (text: string) => T,
): Variable<T> {
  return {
    name,
    kind,
    description: notes.description,
    secret: notes.secret ?? false,
    defaultText: notes.defaultText ?? (notes.fallback === undefined ? '' : String(notes.fallback)),
    read: (text) => (text === undefined || text === '' ? notes.fallback : parse(text)),
  };
}

/** Free text. */
export function text(name: string, fallback: string, description: string): Variable<string> {
  return variable(name, 'text', { fallback, description }, (value) => value);
}

/** Text that may be absent. */
export function optional(
  name: string,
  description: string,
  options: { secret?: boolean; defaultText?: string } = {},
): Variable<string | undefined> {
  return variable<string | undefined>(
    name,
    'text',
    { fallback: undefined, description, ...options },
    (value) => value,
  );
}

/** A PostgreSQL URL, or absent; a secret, for it holds a password. */
export function databaseUrl(
  name: string,
  description: string,
  defaultText: string,
): Variable<string | undefined> {
  const notes = { fallback: undefined, description, secret: true, defaultText };
  return variable<string | undefined>(name, 'URL', notes, (value) => {
    parseDatabaseUrl(value);
    return value;
  });
}

/** A whole number within bounds. */
export function integer(
  name: string,
  fallback: number,
  bounds: { min: number; max?: number; description: string },
): Variable<number> {
  const { min, max = Number.MAX_SAFE_INTEGER, description } = bounds;
  const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
  return variable(name, 'integer', { fallback, description }, (value) => {
    const number = Number(value);
    if (!/^-?\d+$/.test(value.trim()) || number < min || number > max) {
      throw new Error(`is not a whole number ${range}`);
    }
    return number;
  });
}

/** A number within bounds, with a point before its decimals. */
export function decimal(
  name: string,
  fallback: number,
  bounds: { min: number; max: number; description: string },
): Variable<number> {
  const { min, max, description } = bounds;
  return variable(name, 'number', { fallback, description }, (value) => {
    const number = Number(value);
    if (!/^\d+(\.\d+)?$/.test(value.trim()) || number < min || number > max) {
      throw new Error(`is not a number from ${min} to ${max}`);
    }
    return number;
  });
}

/** true/false/1/0/yes/no. */
export function flag(name: string, fallback: boolean, description: string): Variable<boolean> {
  return variable(name, 'boolean', { fallback, description }, parseFlag);
}

/** true/false/1/0/yes/no, or absent: then the service decides. */
export function optionalFlag(
  name: string,
  description: string,
  defaultText: string,
): Variable<boolean | undefined> {
  return variable<boolean | undefined>(
    name,
    'boolean',
    { fallback: undefined, description, defaultText },
    parseFlag,
  );
}

/** One word of a closed list. */
export function oneOf<const T extends string>(
  name: string,
  words: readonly T[],
  fallback: T,
  description: string,
): Variable<T> {
  return variable<T>(name, words.join(' \\| '), { fallback, description }, (value) => {
    if (!(words as readonly string[]).includes(value)) {
      throw new Error(`is not one of ${words.join(', ')}`);
    }
    return value as T;
  });
}

/** Words separated by commas or blanks; empty by default. */
export function list(name: string, description: string): Variable<string[]> {
  return variable<string[]>(name, 'list', { fallback: [], description, defaultText: '' }, (value) =>
    value.split(/[\s,]+/).filter((word) => word !== ''),
  );
}

/** An absolute http or https URL without query, fragment or trailing slash. */
export function url(
  name: string,
  fallback: string,
  description: string,
  defaultText = fallback,
): Variable<string> {
  return variable(name, 'URL', { fallback, description, defaultText }, (value) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new Error('is not an http(s) URL');
    if (parsed.search !== '' || parsed.hash !== '' || parsed.username !== '') {
      throw new Error('must be a base URL without user, query or fragment');
    }
    return value.replace(/(?<!\/)\/+$/, '');
  });
}

function parseFlag(value: string): boolean {
  const word = value.toLowerCase();
  if (['true', '1', 'yes'].includes(word)) return true;
  if (['false', '0', 'no'].includes(word)) return false;
  throw new Error('is not one of true, false, 1, 0, yes, no');
}
