/**
 * node scripts/mutation-compare.mjs <before.json> <now.json>: the mutants that a test noticed in one report of Stryker and that
 * none notices in the other. One is the same where file, mutator, replaced text and replacement are, on whatever line.
 */
import { readFileSync } from 'node:fs';

const UNNOTICED = ['Survived', 'NoCoverage'];
const NOTICED = ['Killed', 'Timeout'];

/** The mutants of a report by what makes them the same. */
function mutantsOf(path) {
  const found = new Map();
  for (const [file, { source, mutants }] of Object.entries(JSON.parse(readFileSync(path)).files)) {
    for (const { mutatorName, replacement, location, status } of mutants) {
      const { start, end } = location;
      const replaced = source.slice(offsetIn(source, start), offsetIn(source, end));
      const name = JSON.stringify([file, mutatorName, replaced, replacement]);
      found.set(name, [...(found.get(name) ?? []), { line: start.line, status }]);
    }
  }
  return found;
}

function offsetIn(source, { line, column }) {
  const before = source.split('\n').slice(0, line - 1);
  return before.reduce((sum, { length }) => sum + length + 1, column - 1);
}

const [before, now] = process.argv.slice(2).map(mutantsOf);
const of = (mutants, statuses) => mutants.filter(({ status }) => statuses.includes(status));
for (const [name, mutants] of now) {
  const known = before.get(name) ?? [];
  const unnoticed = of(mutants, UNNOTICED);
  if (of(known, NOTICED).length === 0 || unnoticed.length <= of(known, UNNOTICED).length) continue;
  process.stdout.write(`line ${unnoticed.map(({ line }) => line).join(' or ')}: ${name}\n`);
  process.exitCode = 1;
}
const gone = [...before.keys()].filter((name) => !now.has(name)).length;
process.stderr.write(`${gone} of ${before.size} are not in the second report\n`);
