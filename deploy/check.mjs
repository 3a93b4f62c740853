/**
 * Checks what a site deploys, as far as that goes without a container engine:
 *
 *   node deploy/check.mjs            everything
 *   node deploy/check.mjs image      the Dockerfile: its rules, then its steps in a temporary directory, and a start
 *   node deploy/check.mjs files      nginx -t, haproxy -c, systemd-analyze where installed; YAML always
 *   node deploy/check.mjs helm       the chart linted, rendered, judged; with --write its rendered copy is written
 *
 * Ends with 1 when anything is wrong. A program that is not installed is said and left out.
 */
import { checkFiles } from './check/files.mjs';
import { checkHelm } from './check/helm.mjs';
import { checkImage } from './check/image.mjs';
import { Report } from './check/report.mjs';

const PARTS = { image: checkImage, files: checkFiles, helm: checkHelm };
const write = process.argv.includes('--write');
const wanted = process.argv.slice(2).filter((word) => word !== '--write');
const unknown = wanted.find((word) => !(word in PARTS));
if (unknown !== undefined) {
  process.stderr.write(
    `deploy/check.mjs: unknown part ${unknown}; there are image, files and helm\n`,
  );
  process.exit(2);
}
const report = new Report();
for (const [name, check] of Object.entries(PARTS)) {
  if (wanted.length === 0 || wanted.includes(name)) await check(report, { write });
}
process.exitCode = report.summary();
