import { randomInt } from 'node:crypto';

/** True in `npm run test:nightly`: random tests run with their full counts and a fresh seed. */
export const isNightly = process.env['GRID_TEST_NIGHTLY'] === 'true';

/** Seed of random tests: GRID_TEST_SEED when given, fresh at night, otherwise always the same. */
export const seed = Number(process.env['GRID_TEST_SEED'] || (isNightly ? randomInt(2 ** 31) : 1));

/** How often a random test runs: `full` times at night, otherwise a tenth of it. */
export function runs(full: number): number {
  return isNightly ? full : Math.max(1, Math.round(full / 10));
}

/** All rows at night, otherwise every tenth of them. */
export function some<T>(rows: readonly T[]): T[] {
  return rows.filter((_, index) => isNightly || (index + seed) % 10 === 0);
}
