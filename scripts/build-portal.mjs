/** Builds examples/portal into dist/portal: its pages, and the client library as the browser loads it. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.mjs';

const source = join(root, 'examples/portal');
const target = join(root, 'dist/portal');

await run('node', ['node_modules/typescript/bin/tsc', '-p', 'examples/portal/tsconfig.json']);
mkdirSync(target, { recursive: true });
for (const name of ['index.html', 'style.css', 'icon.svg']) {
  cpSync(join(source, name), join(target, name));
}
cpSync(join(root, 'dist/src/client'), join(target, 'client'), {
  recursive: true,
  filter: (path) => !/\.(d\.ts|map)$/.test(path),
});
