/**
 * Checks what a site deploys, as far as that goes without a container engine:
 *
 *   node deploy/check.mjs            everything
 *   node deploy/check.mjs image      the Dockerfile: its rules, then its steps in a temporary directory, and a start
 *   node deploy/check.mjs files      nginx -t, haproxy -c, kustomize, systemd-analyze where installed; YAML always
 *
 * Ends with 1 when anything is wrong. A program that is not installed is said and left out.
 */
import { checkFiles } from './check/files.mjs';
import { checkImage } from './check/image.mjs';
import { Report } from './check/report.mjs';

const PARTS = { image: checkImage, files: checkFiles };
const wanted = process.argv.slice(2);
const unknown = wanted.find((word) => !(word in PARTS));
if (unknown !== undefined) {
  process.stderr.write(`deploy/check.mjs: unknown part ${unknown}; there are image and files\n`);
  process.exit(2);
}
const report = new Report();
for (const [name, check] of Object.entries(PARTS)) {
  if (wanted.length === 0 || wanted.includes(name)) await check(report);
}
process.exitCode = report.summary();
