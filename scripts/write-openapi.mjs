/** Writes openapi.lock from the document that the build has made. --check only compares. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { interfaceLines } from './openapi-lock.mjs';
import { root } from './run.mjs';

const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'));
const text = `${interfaceLines(document).join('\n')}\n`;
const file = join(root, 'openapi.lock');
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  if (process.argv.includes('--check')) {
    process.stderr.write('openapi.lock is not up to date: the interface has changed\n');
    process.exit(1);
  }
  writeFileSync(file, text);
}
