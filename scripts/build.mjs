/** Builds dist/, and what is made of it: the OpenAPI document, the typed client and the reference of the command. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { DECLARATIONS } from './packages/list.mjs';
import { copyDeclarations, writeEntryPoint } from './packages/declarations.mjs';
import { root, run } from './run.mjs';

rmSync(`${root}/dist`, { recursive: true, force: true });
await run('node', ['scripts/compile.mjs']);
await import('./bundle-programs.mjs');
await import('./build-portal.mjs');
if (existsSync(`${root}/docs`)) {
  const { commandPage } = await import('./documentation/command-page.mjs');
  writeFileSync(`${root}/docs/command-reference.md`, await commandPage());
}

const commonjs = `${root}/dist/commonjs`;
for (const [name, entry] of [
  ['grid', 'grid'],
  ['client', 'client/index'],
]) {
  copyDeclarations(entry, `${commonjs}/types`, { jose: DECLARATIONS.jose });
  writeEntryPoint(commonjs, name, `../src/${entry}.js`);
}
