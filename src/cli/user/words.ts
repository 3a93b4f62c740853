import { CommandError } from '../terminal/command-error.js';

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

/** The id of a job. Throws CommandError. */
export function jidOf(word: string): number {
  if (!/^[1-9]\d{0,15}$/.test(word)) {
    throw new CommandError(`${word} is no job id: a number such as 42 is expected`, 2);
  }
  return Number(word);
}

/** The number of an option, from 1 to 10000. Throws CommandError. */
export function limitOf(word: string): number {
  if (/^[1-9]\d{0,3}$|^10000$/.test(word)) return Number(word);
  throw new CommandError(`--limit ${word} is no number from 1 to 10000`, 2);
}

const UNITS: [text: string, seconds: number][] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

/** Seconds as people say them, in the largest unit that fits: `3h`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [unit, size] = UNITS.find(([, of]) => whole >= of) ?? ['s', 1];
  return `${Math.floor(whole / size)}${unit}`;
}
