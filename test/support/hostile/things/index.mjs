/**
 * What hostile programs try, one row each: the suite test/flows/hostile-programs.flow-spec.ts runs every row at every level,
 * and docs/explanation/what-a-job-can-do.md is written from the same rows (npm run generate).
 */
import { FILES } from './files.mjs';
import { KERNEL } from './kernel.mjs';
import { NETWORK } from './network.mjs';
import { OUTPUT } from './output.mjs';
import { PROCESSES } from './processes.mjs';
import { RESOURCES } from './resources.mjs';

/** Ways of isolation, as the columns of the page. */
const WAYS = {
  bubblewrap: '`namespaces`, bubblewrap',
  utilLinux: '`namespaces`, util-linux',
  accounts: '`accounts`',
  none: '`none`',
};

/** Rows by the heading under which the page shows them. */
export const THINGS = {
  Files: FILES,
  Processes: PROCESSES,
  Network: NETWORK,
  'Rights and the kernel': KERNEL,
  Output: OUTPUT,
  Resources: RESOURCES,
};

/** The part of the page that is made of the rows. */
export function thingsTables() {
  const heads = Object.values(WAYS);
  return Object.entries(THINGS).flatMap(([heading, rows]) => [
    `### ${heading}`,
    '',
    `| A program tries to… | ${heads.join(' | ')} | what stops it |`,
    `|---|${heads.map(() => '---|').join('')}---|`,
    ...rows.map((row) => {
      const cells = Object.keys(WAYS).map((way) => cellOf(row, way));
      return `| ${row.thing} | ${cells.join(' | ')} | ${row.sentence} |`;
    }),
    '',
  ]);
}

function cellOf({ leaks = {}, remains = {}, notRun = {}, where, isByFilter }, way) {
  const leak = leaks[way] ?? remains[way] ?? notRun[way];
  if (leak === undefined && isByFilter && way !== 'bubblewrap') return 'no; without perl **yes**';
  if (leak === undefined) return 'no';
  const text = where ? `${leak}, where \`${where.setting}\` is ${where.values.join(' or ')}` : leak;
  return text.startsWith('yes') ? text.replace('yes', '**yes**') : `**yes**: ${text}`;
}
