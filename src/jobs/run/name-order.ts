import type { Slices } from '#src/kernel/index.js';

/** Names sorted before the event loop has its turn. */
const NAMES_AT_ONCE = 512;

/** The names in their order, so that the same output is the same archive; a hundred thousand are not sorted in one turn. */
export async function sortedInTurns(names: readonly string[], slices: Slices): Promise<string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    runs.push(names.slice(at, at + NAMES_AT_ONCE).sort());
    if (slices.isOver) await slices.rest();
  }
  while (runs.length > 1) {
    const longer: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(await merged(runs[at] ?? [], runs[at + 1] ?? [], slices));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

/** One sorted list of two. */
async function merged(
  left: readonly string[],
  right: readonly string[],
  slices: Slices,
): Promise<string[]> {
  const all: string[] = [];
  let at = 0;
  for (const [index, name] of left.entries()) {
    for (let other = right[at]; other !== undefined && other < name; other = right[at]) {
      all.push(other);
      at += 1;
    }
    all.push(name);
    if (index % NAMES_AT_ONCE === 0) if (slices.isOver) await slices.rest();
  }
  return all.concat(right.slice(at));
}
