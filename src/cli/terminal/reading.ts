import { readFile } from 'node:fs/promises';
import { metadataValue, type MetadataValues } from '#src/client/index.js';
import { EncodingError, parseJson, utf8Text } from '#src/kernel/index.js';
import { CommandError } from './command-error.js';

/** The id of a job. Throws CommandError. */
export function jidOf(word: string): number {
  return idOf(word, 'job id');
}

/** A number from 1 on that names something. Throws CommandError. */
export function idOf(word: string, what: string): number {
  if (/^[1-9]\d{0,15}$/.test(word)) return Number(word);
  throw new CommandError(`${word} is no ${what}`, 2, 'give a number such as 42');
}

/** Reads `--limit`, from 1 to the most. Throws CommandError. */
export function limitOf(most: number): (word: string) => number {
  return (word) => {
    if (/^[1-9]\d{0,5}$/.test(word) && Number(word) <= most) return Number(word);
    throw new CommandError(`--limit ${word} is no number from 1 to ${most}`, 2);
  };
}

/** Mode bits. Throws CommandError. */
export function octal(word: string): number {
  if (!/^[0-7]{1,4}$/.test(word)) {
    throw new CommandError(`${word} is no octal mode`, 2, 'give up to four digits, such as 0640');
  }
  return Number.parseInt(word, 8);
}

/** A number of bytes, exact. Throws CommandError. */
export function bytes(word: string): number {
  if (/^(?:0|[1-9]\d{0,18})$/.test(word)) return parseJson(word) as number;
  throw new CommandError(`--size ${word} is no number of bytes`, 2);
}

/** The two sides of `key=value`; `option` is where it was given. Throws CommandError. */
export function pairOf(word: string, option = ''): [key: string, value: string] {
  const at = word.indexOf('=');
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)];
  throw new CommandError(`${option}${word} is not key=value`, 2);
}

/** The values of each key of `key=value` words. Throws CommandError. */
export function valuesByKey(words: readonly string[], option: string): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const word of words) {
    const [key, value] = pairOf(word, option);
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return Object.fromEntries(values);
}

/** A value of metadata as somebody writes it for a command: `key=value`; `null` alone removes the value. Throws CommandError. */
export function metadataOf(word: string): [string, MetadataValues[string]] {
  const [key, text] = pairOf(word);
  return [key, text === 'null' ? null : metadataValue(text)];
}

/** The members that are given. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/**
 * The text of a file, or of standard input for `-`; messages call it by `name`. Throws CommandError (exit code 2) where it
 * cannot be read or is no UTF-8.
 */
export async function readText(file: string, name = sourceName(file)): Promise<string> {
  try {
    return utf8Text(await readFile(file === '-' ? '/dev/stdin' : file));
  } catch (error) {
    if (error instanceof EncodingError) throw new CommandError(`${name}: ${error.message}`, 2);
    throw unreadable(name, error);
  }
}

/** Why a file cannot be read. */
export function unreadable(name: string, error: unknown): CommandError {
  const { code = 'unreadable' } = error as NodeJS.ErrnoException;
  return new CommandError(`${name} cannot be read (${code})`, 2);
}

/** What messages call a file that a command is given. */
export function sourceName(file: string): string {
  return file === '-' ? 'standard input' : file;
}
