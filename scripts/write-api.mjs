/**
 * Holds the packages to what they have promised (packages/NAME/api.txt). Without a word it adds what is new, and fails when
 * something has gone or changed that the version does not allow; --check changes nothing, --add never fails.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiOf, compared, mayBreak, readReport, reportOf } from './packages/api-report.mjs';
import { PACKAGES } from './packages/list.mjs';
import { root } from './run.mjs';

const isCheck = process.argv.includes('--check');
const fail = () => (process.exitCode = process.argv.includes('--add') ? 0 : 1);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

for (const { name, entry } of PACKAGES) {
  const present = apiOf(
    join(root, `dist/commonjs/types/${entry}.d.ts`),
    join(root, 'dist/commonjs/types'),
  );
  const path = reportOf(root, name);
  const report = existsSync(path) ? readReport(path) : { version, lines: [] };
  const { gone, added } = compared(report.lines, present);
  const isBroken = gone.length > 0 && !mayBreak(report.version, version);
  if (isBroken) {
    const what = `${name} ${version} breaks what ${report.version} has promised; raise the version, or give back:`;
    process.stderr.write(`${[what, ...gone.map((line) => `  ${line}`)].join('\n')}\n`);
    fail();
  } else if (isCheck && (gone.length > 0 || added.length > 0)) {
    process.stderr.write(`${path} is out of date: run npm run packages:api\n`);
    fail();
  } else if (!isCheck && (gone.length > 0 || added.length > 0 || !existsSync(path))) {
    const promised = gone.length > 0 ? version : report.version;
    writeFileSync(path, `${[`# ${name} ${promised}`, ...present].join('\n')}\n`);
  }
}
