/** The reference of the TypeScript packages: what TypeDoc has written (npm run docs:api), made anew when it is old. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newest, root, run } from '../run.mjs';

const WRITTEN = join(root, 'reports/api');
const PLACE = 'docs/reference/typescript';
/** The row of links above each heading repeats what the menu says. */
const ABOVE = /^[\s\S]*?(?=^# )/m;

/** `[source, text]` of each page. */
export async function typescriptPages() {
  const index = join(WRITTEN, 'README.md');
  const isOld = ['src/grid.ts', 'src', 'typedoc.json'].some(
    (path) => newest(join(root, path)) > newest(index),
  );
  if (isOld) await run('node', ['node_modules/typedoc/bin/typedoc']);
  return readdirSync(WRITTEN, { recursive: true })
    .filter((path) => path.endsWith('.md') && statSync(join(WRITTEN, path)).isFile())
    .map((path) => [`${PLACE}/${path}`, pageOf(readFileSync(join(WRITTEN, path), 'utf8'))]);
}

function pageOf(text) {
  return text.replace(ABOVE, '').replace(/^# Gridgate v\S+$/m, '# TypeScript packages: reference');
}
