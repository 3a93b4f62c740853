/**
 * How fast this machine's processor is at this moment. On a shared machine the same work takes up to 3.4 times the
 * processor time in another hour, so a bound on processor time says something only beside work whose time is known.
 */

/** A processor that is slower still is no excuse: the bound is never more than four times the usual one. */
const MOST_SLOWER = 4;
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

/** For so long the pace of the last look is good: a look takes a processor that the tests need. */
const FRESH_MS = 5_000;
let slower = 1;
let askedAt = -Infinity;

/** Milliseconds of processor time as they would be on a processor of usual speed; never more than they were, never less than a quarter of it. */
export function atUsualPace(milliseconds) {
  if (performance.now() - askedAt > FRESH_MS) {
    slower = slowerThanUsual();
    askedAt = performance.now();
  }
  return milliseconds / Math.min(Math.max(1, slower), MOST_SLOWER);
}

function slowerThanUsual() {
  work(WARM_UNITS);
  const before = process.cpuUsage();
  work(WORK_UNITS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / USUAL_MS;
}

function work(units) {
  let sum = 0;
  for (let unit = 0; unit < units; unit += 1) {
    for (const { name, at } of JSON.parse(TEXT)) sum += name.length + at;
  }
  return sum;
}
