/**
 * Builds examples/portal into dist/portal: its pages and the client library in one script, so that a browser asks once
 * instead of module by module.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root, run } from './run.mjs';

const source = join(root, 'examples/portal');
const target = join(root, 'dist/portal');

await run('node', ['node_modules/typescript/bin/tsc', '-p', 'examples/portal/tsconfig.json']);
mkdirSync(target, { recursive: true });
for (const name of ['index.html', 'style.css', 'icon.svg']) {
  cpSync(join(source, name), join(target, name));
}
await build({
  absWorkingDir: root,
  entryPoints: [join(source, 'src/main.ts')],
  outfile: join(target, 'portal.js'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  alias: { 'gridgate/client': join(root, 'dist/src/client/index.js') },
  logLevel: 'error',
});
