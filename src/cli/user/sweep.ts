import { CommandError } from '../terminal/command-error.js';

/** A parameter and the values that it takes, in their order. */
export interface SweptParameter {
  name: string;
  values: (string | number)[];
}

/** More than any service makes of one submit; it bounds what is held here. */
const MOST = 100_000;
const NUMBER = /^-?(\d{1,15})(\.\d{1,15})?$/;

/** `x=1,2,3`, or `y=0:10:2` for 0, 2, … 10 (the step is 1 when it is left out). Throws CommandError. */
export function parameterOf(word: string): SweptParameter {
  const [, name = '', text = ''] = /^([A-Za-z_]\w{0,63})=(.+)$/s.exec(word) ?? [];
  if (name === '') {
    throw new CommandError(`--sweep ${word} has no values`, 2, 'give x=1,2,3 or x=0:10:2');
  }
  const ends = text.split(':');
  const isRange = ends.length > 1 && ends.length < 4 && ends.every((end) => NUMBER.test(end));
  const values = isRange ? rangeOf(word, ends) : text.split(',').map(valueOf);
  if (values.includes('')) throw new CommandError(`--sweep ${word}: a value is empty`, 2);
  return { name, values };
}

/** A number stays one when it is written the same way again; `007` and `1e3` are texts. */
function valueOf(text: string): string | number {
  return NUMBER.test(text) && String(Number(text)) === text ? Number(text) : text;
}

/** Both ends count. The steps are made of whole numbers of the last decimal, so that 0:1:0.1 has no 0.30000000000000004. */
function rangeOf(word: string, ends: string[]): (string | number)[] {
  const decimals = Math.max(...ends.map((end) => (end.split('.')[1] ?? '').length));
  const scale = 10 ** decimals;
  const whole = (end: string): number => Math.round(Number(end) * scale);
  const [first = 0, last = 0, step = scale] = ends.map(whole);
  if (![first, last, step, last + step].every(Number.isSafeInteger)) {
    const text = `--sweep ${word}: it has more digits than a number keeps`;
    throw new CommandError(text, 2, 'write the values out');
  }
  const count = Math.floor((last - first) / step) + 1;
  if (step === 0 || count < 1) throw new CommandError(`--sweep ${word}: it has no value`, 2);
  demandFew(count);
  const width = paddedWidth(word, ends.slice(0, 2));
  if (width > 0) {
    return Array.from({ length: count }, (_, index) =>
      String(first + index * step).padStart(width, '0'),
    );
  }
  const made = (index: number): number => (first + index * step) / scale;
  return Array.from({ length: count }, (_, index) => Number(made(index).toFixed(decimals)));
}

/** Characters of each value when an end is written with zeros before it, as in 001:100; else 0. Throws CommandError. */
function paddedWidth(word: string, ends: string[]): number {
  if (!ends.some((end) => /^-?0\d/.test(end))) return 0;
  if (word.includes('.') || ends.some((end) => end.startsWith('-'))) {
    const text = `--sweep ${word}: zeros before a number are kept in whole numbers from 0 on`;
    throw new CommandError(text, 2, 'write the values out');
  }
  return Math.max(...ends.map((end) => end.length));
}

/** How many jobs the product of the parameters makes. Throws CommandError. */
export function countOf(parameters: SweptParameter[]): number {
  const names = parameters.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new CommandError(`--sweep ${twice} is given twice`, 2);
  const count = parameters.reduce((product, { values }) => product * values.length, 1);
  demandFew(count);
  return count;
}

function demandFew(count: number): void {
  if (count <= MOST) return;
  throw new CommandError(`the sweep makes ${count} jobs, at most ${MOST} go in one submit`, 2);
}

/** `Parameters.<name>` of each parameter, all of one length: every combination once, the last parameter fastest. */
export function productOf(parameters: SweptParameter[]): Record<string, (string | number)[]> {
  const count = countOf(parameters);
  let repeats = count;
  return Object.fromEntries(
    parameters.map(({ name, values }) => {
      repeats /= values.length;
      const every = repeats;
      const at = (index: number): string | number =>
        values[Math.floor(index / every) % values.length] ?? '';
      return [`Parameters.${name}`, Array.from({ length: count }, (_, index) => at(index))];
    }),
  );
}
