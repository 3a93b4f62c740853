/** Writes docs/openapi.json and openapi.lock from the built application, which is made but not started. --check only compares. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { interfaceLines } from './openapi-lock.mjs';
import { root } from './run.mjs';

const { describeApi } = await import('#src/app/describe-api.js');
const document = await describeApi();
const files = {
  'docs/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'openapi.lock': `${interfaceLines(document).join('\n')}\n`,
};
for (const [name, text] of Object.entries(files)) {
  const file = join(root, name);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${name} is not up to date\n`);
    process.exit(1);
  }
  writeFileSync(file, text);
}
process.exit(0);
