/**
 * Jest loads all code anew for each file of tests, which costs more than most specs do. So `npm test` has one suite a module, and
 * one for each eight api suites, written into test/modules; they import the specs. Each spec still runs alone by its path.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../../scripts/run.mjs';

const SUITES = join(root, 'test/modules');
const API = 'test/api';
/** Enough that loading counts little, few enough that two workers end at about the same time. */
const API_SUITES_TOGETHER = 8;
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

/** The api suites that run together, by the names of the first and the last one. */
export function apiSuites() {
  const names = readdirSync(join(root, API)).filter((name) => name.endsWith('.api-spec.ts'));
  const groups = new Map();
  for (let at = 0; at < names.length; at += API_SUITES_TOGETHER) {
    const group = names.sort().slice(at, at + API_SUITES_TOGETHER);
    const [first, last] = [group[0], group.at(-1)].map((name) => name.replace('.api-spec.ts', ''));
    groups.set(
      `${first}-to-${last}`,
      group.map((name) => `${API}/${name}`),
    );
  }
  return groups;
}

/** Writes the suites anew. */
export function writeModuleSuites() {
  rmSync(SUITES, { recursive: true, force: true });
  writeSuites(SUITES, moduleSpecs());
  writeSuites(join(SUITES, 'api'), apiSuites());
}

function writeSuites(folder, groups) {
  mkdirSync(folder, { recursive: true });
  const toRoot = relative(folder, root);
  for (const [name, specs] of groups) {
    const lines = specs.map((path) => {
      const module = `${toRoot}/${path.replace(/\.ts$/, '.js')}`;
      return `await specOf('${path}', () => import('${module}'));`;
    });
    const support = `import { specOf } from '${toRoot}/test/support/module-suite.js';`;
    writeFileSync(join(folder, `${name}.suite.ts`), [support, ...lines, ''].join('\n'));
  }
}
