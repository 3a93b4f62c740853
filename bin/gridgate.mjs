#!/usr/bin/env node
import { dirname, join } from 'node:path';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const entry = join(root, 'dist/src/cli/main.js');
if (!existsSync(entry)) {
  process.stderr.write('gridgate: dist/ is missing; run `npm run build` first\n');
  process.exit(1);
}
await import(pathToFileURL(entry).href);
