/** Writes docs/openapi.json from the built application, which is made but not started. --check only compares. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const { describeApi } = await import('#src/app/describe-api.js');
const text = `${JSON.stringify(await describeApi(), null, 2)}\n`;
const file = join(root, 'docs/openapi.json');
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  if (process.argv.includes('--check')) {
    process.stderr.write('docs/openapi.json is not up to date\n');
    process.exit(1);
  }
  writeFileSync(file, text);
}
process.exit(0);
