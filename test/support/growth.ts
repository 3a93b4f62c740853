/** So many times as much is the large work. */
export const TIMES = 16;
/** What grows less is linear: see `growth`. */
export const LINEAR = 4;
const LEAST_ROUNDS = 5;
/** So long a round is waited for in which nothing else has slowed the large work. */
const PATIENCE_MS = 200;

/**
 * How many times as long work on one input of sixteen times the size takes as work on sixteen inputs of the size: 1 when it
 * is linear, 16 when it is quadratic. Of several rounds the shortest of both count, so that what else the machine does
 * counts for neither.
 */
export function growth<T>(
  inputOf: (size: number) => T,
  size: number,
  work: (input: T) => unknown,
): number {
  const [small, large] = [inputOf(size), inputOf(TIMES * size)];
  const end = performance.now() + PATIENCE_MS;
  let [pieces, whole] = [Infinity, Infinity];
  for (let round = 1; ; round += 1) {
    const began = performance.now();
    for (let piece = 0; piece < TIMES; piece += 1) work(small);
    const between = performance.now();
    work(large);
    const done = performance.now();
    pieces = Math.min(pieces, between - began);
    whole = Math.min(whole, done - between);
    if (round >= LEAST_ROUNDS && (whole < LINEAR * pieces || done > end)) return whole / pieces;
  }
}
