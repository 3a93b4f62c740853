/** Builds dist/ (the Swagger plugin of nest-cli.json adds schemas from the sources). */
import { rmSync } from 'node:fs';
import { DECLARATIONS } from './packages/list.mjs';
import { copyDeclarations, writeDoor } from './packages/declarations.mjs';
import { root, run } from './run.mjs';

rmSync(`${root}/dist`, { recursive: true, force: true });
await run('node', ['scripts/compile.mjs']);
await run('node', ['scripts/build-document.mjs']);
await import('./bundle-programs.mjs');
await import('./build-portal.mjs');

const commonjs = `${root}/dist/commonjs`;
for (const [name, entry] of [
  ['grid', 'grid'],
  ['client', 'client/index'],
]) {
  copyDeclarations(entry, `${commonjs}/types`, { jose: DECLARATIONS.jose });
  writeDoor(commonjs, name, `../src/${entry}.js`);
}
