/**
 * Jest loads the code anew for each file of tests, which costs more than most specs do. So `npm test` has one suite a module,
 * written into test/modules, which imports the module's specs. Each spec still runs alone by its path.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/run.mjs';

const SUITES = join(root, 'test/modules');
/** A folder whose subfolders are modules, or that is one itself. */
const PLACES = { src: true, 'test/architecture': false, 'test/client': false };

/** The specs of each module, paths from the project's folder. */
export function moduleSpecs() {
  const modules = new Map();
  for (const [folder, hasModules] of Object.entries(PLACES)) {
    const specs = readdirSync(join(root, folder), { recursive: true }).filter((path) =>
      /\.(client-)?spec\.ts$/.test(path),
    );
    for (const path of specs.sort()) {
      const name = hasModules ? path.split('/')[0] : folder.replace('/', '-');
      modules.set(name, [...(modules.get(name) ?? []), `${folder}/${path}`]);
    }
  }
  return modules;
}

/** Writes the suites anew. */
export function writeModuleSuites() {
  rmSync(SUITES, { recursive: true, force: true });
  mkdirSync(SUITES);
  for (const [name, specs] of moduleSpecs()) {
    const lines = specs.map(
      (path) => `await specOf('${path}', () => import('../../${path.replace(/\.ts$/, '.js')}'));`,
    );
    const text = ["import { specOf } from '../support/module-suite.js';", ...lines, ''].join('\n');
    writeFileSync(join(SUITES, `${name}.suite.ts`), text);
  }
}
