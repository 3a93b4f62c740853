import { median, ratioOf } from './statistics.mjs';

const WARM_UP_SECONDS = 1;

/**
 * Measures one figure and its floor: both are warmed up, then measured in turns, and the order is swapped every
 * round, so that whatever else the machine does meets both alike. Answers one row of the table, undefined when what it
 * needs is not on this machine (`prepare` has said so). With others, two of one other checkout, the floor is the figure of the
 * first of them, and the note says how much better the second one is.
 */
export async function measureFigure(definition, bench, others = []) {
  const { seconds } = bench.options;
  const rounds = Math.min(bench.options.rounds, definition.rounds ?? Infinity);
  const prepared = await definition.prepare(bench);
  if (!prepared) return undefined;
  const beside = [];
  for (const other of others) beside.push(await definition.prepare(other));
  const [first, second] = beside;
  const sides = first
    ? { figure: prepared.figure, floor: first.figure, again: second.figure }
    : { figure: prepared.figure, floor: prepared.floor };
  const results = { figure: [], floor: [], again: [] };
  const names = Object.keys(sides).filter((name) => sides[name] !== undefined);
  try {
    if (definition.warmUp !== false) {
      for (const name of names) await sides[name](Math.min(WARM_UP_SECONDS, seconds));
    }
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? names : [...names].reverse();
      for (const name of order) {
        const result = await sides[name](seconds);
        results[name].push(typeof result === 'number' ? { value: result } : result);
      }
    }
  } finally {
    for (const one of [prepared, ...beside]) await one.finish?.();
  }
  return rowOf(definition, results);
}

function rowOf(definition, results) {
  const figure = summary(results.figure);
  const floor = results.floor.length > 0 ? summary(results.floor) : undefined;
  const isBeside = results.again.length > 0;
  if (isBeside) {
    const spread = ratioOf(floor.value, summary(results.again).value, definition.better);
    figure.note = `the other beside itself ${spread.toFixed(2)}`;
  }
  return {
    name: definition.name,
    title: definition.title,
    unit: definition.unit,
    better: definition.better,
    figure,
    ...(floor === undefined
      ? {}
      : {
          floorIs: isBeside ? 'the other checkout' : definition.floor,
          floor,
          ratio: ratioOf(figure.value, floor.value, definition.better),
        }),
  };
}

function summary(rounds) {
  const of = (member) => median(rounds.map((round) => round[member]).filter(Number.isFinite));
  const notes = rounds.map((round) => round.note).filter(Boolean);
  const result = { value: of('value'), rounds: rounds.map((round) => round.value) };
  const p50 = of('p50');
  if (Number.isFinite(p50)) Object.assign(result, { p50, p99: of('p99') });
  if (notes.length > 0) result.note = notes.at(-1);
  return result;
}
