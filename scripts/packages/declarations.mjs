/** Declaration files (.d.ts) of an entry and of all that they name, as a folder that needs nothing beside it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from '../run.mjs';

const SPECIFIER = /(\bfrom\s+|\bimport\s*\(?\s*)(['"])([^'"\n]+)\2/g;
const source = join(root, 'dist/src');

/**
 * Copies the declarations of dist/src/ENTRY.d.ts to a folder. `inside` maps names of packages to declarations that are copied
 * too; other packages stay named. Answers the path of the entry below the folder.
 */
export function copyDeclarations(entry, folder, inside = {}) {
  const places = new Map();
  const placeOf = (file) =>
    file.startsWith(source)
      ? relative(source, file)
      : `inside/${Object.entries(inside).find(([, path]) => join(root, path) === file)[0]}.d.ts`;
  const waiting = [join(source, `${entry}.d.ts`)];
  while (waiting.length > 0) {
    const file = waiting.pop();
    if (places.has(file)) continue;
    const place = placeOf(file);
    places.set(file, place);
    const text = readFileSync(file, 'utf8').replace(SPECIFIER, (whole, before, quote, name) => {
      const target = targetOf(name, file, inside);
      if (target === undefined) return whole;
      waiting.push(target);
      const path = relative(dirname(place), placeOf(target)).replace(/\.d\.ts$/, '.js');
      return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`;
    });
    write(join(folder, place), text.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
  }
  return `${entry}.d.ts`;
}

function targetOf(name, file, inside) {
  if (inside[name] !== undefined) return join(root, inside[name]);
  const path = name.startsWith('#src/')
    ? join(source, name.slice('#src/'.length))
    : name.startsWith('.')
      ? resolve(dirname(file), name)
      : undefined;
  if (path === undefined) return undefined;
  const found = path.replace(/\.js$/, '.d.ts');
  if (!existsSync(found))
    throw new Error(`${relative(root, file)} names ${name}, which is missing`);
  return found;
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/**
 * The entry point for require(): a module that hands on the one ES module, and its declarations as those of CommonJS. So there is one
 * copy of each class in a process, however it is loaded. `target` is the ES module, seen from the folder.
 */
export function writeEntryPoint(folder, name, target) {
  write(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
  write(join(folder, `${name}.js`), `'use strict';\nmodule.exports = require('${target}');\n`);
}
