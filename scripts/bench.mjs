/** npm run bench: figures beside their floors (bench/README.md). Never part of npm test. */
import { resolve } from 'node:path';
import { Bench } from '../bench/frame/bench.mjs';
import { chooseFigures, figureFiles } from '../bench/frame/figures.mjs';
import { machine } from '../bench/frame/machine.mjs';
import { helpText, readOptions } from '../bench/frame/options.mjs';
import { measureFigure } from '../bench/frame/rounds.mjs';
import { shortNumber, tableOf } from '../bench/frame/table.mjs';
import { buildWhenNeeded } from './run.mjs';

async function main() {
  const files = await figureFiles();
  const { options, words } = readOptions(process.argv.slice(2), files);
  const chosen = chooseFigures(files, words);
  if (options.help) return print(helpText(files));
  if (options.list) return print(listOf(chosen));
  await buildWhenNeeded();
  const bench = new Bench(options);
  const others = options.beside
    ? [1, 2].map(() => new Bench(options, resolve(options.beside)))
    : [];
  const all = [bench, ...others];
  const stop = () => {
    process.exitCode = 130;
    void closeAll(all).then(() => process.exit());
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const description = { ...machine(), generator: options.generator };
  try {
    const { rows, failures } = await measureAll(chosen, bench, others);
    report({ machine: description, rows, failures }, options.json);
    if (failures.length > 0) process.exitCode = 1;
  } finally {
    await closeAll(all);
  }
}

function closeAll(benches) {
  return Promise.all(benches.map((bench) => bench.close()));
}

/** A figure that fails stands in the table with the reason; the others are measured all the same. */
async function measureAll(chosen, bench, others) {
  const rows = [];
  const failures = [];
  for (const figure of chosen) {
    if (bench.cancel.signal.aborted) break;
    bench.log(`${figure.name} …`);
    try {
      const row = await measureFigure(figure, bench, others);
      if (!row) continue;
      bench.log(`${figure.name}: ${shortNumber(row.figure.value)} ${row.unit}`);
      rows.push(row);
    } catch (error) {
      bench.log(`${figure.name} failed: ${error.message}`);
      const { name, title, unit } = figure;
      const reason = error.message.replaceAll(/\s+/g, ' ');
      failures.push({ name, reason });
      rows.push({ name, title, unit, figure: { value: Number.NaN, note: `failed: ${reason}` } });
    }
  }
  return { rows, failures };
}

function report(result, asJson) {
  if (asJson) return print(JSON.stringify(result, null, 2));
  const { date, cpus, cpu, memoryGiB, node, generator, revision } = result.machine;
  const words = [`${cpus} × ${cpu}`, `${memoryGiB} GiB`, `Node ${node}`, `load by ${generator}`];
  print(`\n${date}, ${revision ?? 'installed package'}, ${words.join(', ')}\n`);
  print(tableOf(result.rows));
}

function listOf(figures) {
  const line = ({ name, unit, title, floor }) =>
    `${name.padEnd(26)} ${unit.padEnd(8)} ${title}${floor ? ` — floor: ${floor}` : ''}`;
  return figures.map(line).join('\n');
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

main().catch((error) => {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 1;
});
