/**
 * How fast this machine's processor is at this moment. On a shared machine the same work takes up to twice the processor
 * time in another minute, so a bound on processor time says something only beside work whose time is known.
 */

/** A processor that is slower still is no excuse: the bound is never more than doubled. */
const MOST_SLOWER = 2;
/** Processor time of WORK_UNITS of `work` on a processor of usual speed (2 cores of a 2024 server), milliseconds. */
const USUAL_MS = 125;
const WORK_UNITS = 200;
const WARM_UNITS = 40;
const TEXT = JSON.stringify(
  Array.from({ length: 1_000 }, (_, id) => ({
    id,
    name: `n${(id * 7_919) % 1_000}`,
    at: id * 1.5,
    tags: ['a', 'b', String(id)],
  })),
);

/** Milliseconds of processor time as they would be on a processor of usual speed; never more than they were, never less than half of it. */
export function atUsualPace(milliseconds) {
  work(WARM_UNITS);
  const before = process.cpuUsage();
  work(WORK_UNITS);
  const { user, system } = process.cpuUsage(before);
  const slower = (user + system) / 1_000 / USUAL_MS;
  return milliseconds / Math.min(Math.max(1, slower), MOST_SLOWER);
}

function work(units) {
  let sum = 0;
  for (let unit = 0; unit < units; unit += 1) {
    for (const { name, at } of JSON.parse(TEXT)) sum += name.length + at;
  }
  return sum;
}
