/** So many times as much is the large work. */
export const TIMES = 64;
/** What grows less is linear: see `growth`. */
export const LINEAR = 8;
const LEAST_ROUNDS = 5;
/** What is not linear after so much work is not. */
const CERTAIN_MS = 150;

/**
 * How many times as long work on one input of 64 times the size takes as work on 64 inputs of the size: 1 when it is linear,
 * 64 when it is quadratic. Processor time counts, and of several rounds the shortest of both: what else the machine does,
 * and what is compiled or collected meanwhile, counts for neither.
 */
export function growth<T>(
  inputOf: (size: number) => T,
  size: number,
  work: (input: T) => unknown,
): number {
  const [small, large] = [inputOf(size), inputOf(TIMES * size)];
  const pieces: number[] = [];
  const wholes: number[] = [];
  const began = processorTime();
  for (;;) {
    const before = processorTime();
    for (let piece = 0; piece < TIMES; piece += 1) work(small);
    const between = processorTime();
    work(large);
    const after = processorTime();
    pieces.push(between - before);
    wholes.push(after - between);
    const ratio = ratioOf(wholes, pieces);
    if (pieces.length < LEAST_ROUNDS) continue;
    if (ratio < LINEAR || after - began > CERTAIN_MS) return ratio;
  }
}

/** Of the shortest; of the sums where the clock is so coarse that it often shows nothing. */
function ratioOf(wholes: number[], pieces: number[]): number {
  const least = Math.min(...pieces);
  return least > 0 ? Math.min(...wholes) / least : sumOf(wholes) / sumOf(pieces);
}

function sumOf(times: number[]): number {
  return times.reduce((sum, time) => sum + time);
}

/** Milliseconds of processor time of this process. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
