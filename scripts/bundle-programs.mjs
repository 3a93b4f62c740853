/**
 * Puts the server and the command, each with what it uses of its packages, into few files in place of their main.js:
 * finding, reading and linking two thousand modules one by one took half of a start. What main.js was
 * is main-of-modules.js then, for whoever changes single modules.
 */
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { withoutFunctionNames } from './class-names.mjs';
import { root } from './run.mjs';

/** Programs with a bundle each: the command first, as it starts the server from its own file. */
const PROGRAMS = ['dist/src/cli', 'dist/src'];

const mainOf = (folder) => join(root, folder, 'main.js');

/** For packages that are CommonJS and ask for modules of Node. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module';const require = requireOf(import.meta.url);";

/** With a `require` of their own modules would load a second copy of a package that the bundle has. */
const OWN_REQUIRE = /^const require = createRequire\(import\.meta\.url\);$/m;

/** Packages that are not installed, that a site asks for by its settings, or that are looked for as folders. */
const OUTSIDE = [
  '@aws-sdk/*',
  '@fastify/static',
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/websockets/*',
  'class-transformer/storage',
  'swagger-ui-dist',
  'swagger-ui-dist/*',
];

/** Modules find the files beside them where they were, although the bundle lies in another folder. */
const places = (directory) => ({
  name: 'places-of-modules',
  setup({ onLoad }) {
    onLoad({ filter: /\/dist\/src\/.*\.js$/ }, ({ path }) => {
      const place = JSON.stringify(relative(directory, path).replace(/^(?!\.)/, './'));
      const url = `new URL(${place}, import.meta.url).href`;
      return changed(path, (text) => text.replaceAll('import.meta.url', url));
    });
    onLoad({ filter: /\/node_modules\/@nestjs\/.*\.js$/ }, ({ path }) =>
      changed(path, (text) => text.replace(OWN_REQUIRE, '')),
    );
  },
});

function changed(path, change) {
  const before = readFileSync(path, 'utf8');
  const contents = change(before);
  return contents === before ? undefined : { contents, resolveDir: dirname(path) };
}

/** In one byte a character: with a single other one V8 keeps a whole file in two. */
function inAscii(text) {
  return text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The licences of what the bundle has of other packages, as they ask for. */
function licences(inputs) {
  const packages = new Set(
    Object.keys(inputs).flatMap(
      (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [],
    ),
  );
  return [...packages].sort().flatMap((path) => {
    const folder = join(root, path);
    const name = existsSync(folder)
      ? readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each))
      : undefined;
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = name ? readFileSync(join(folder, name), 'utf8').trim() : `Licence: ${license}`;
    return `${path.replace(/^.*node_modules\//, '')} ${version}\n\n${text}\n`;
  });
}

for (const folder of PROGRAMS) {
  const directory = join(root, folder);
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(directory, 'main.js')],
    outdir: directory,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    chunkNames: 'bundle-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    keepNames: true, // of classes alone (class-names.mjs)
    legalComments: 'none',
    minifySyntax: true,
    external: [...OUTSIDE, ...PROGRAMS.filter((each) => each !== folder).map(mainOf)],
    plugins: [places(directory)],
    banner: { js: REQUIRE },
    logLevel: 'error',
  });
  copyFileSync(mainOf(folder), join(directory, 'main-of-modules.js'));
  for (const { path, text } of outputFiles) {
    writeFileSync(path, inAscii(withoutFunctionNames(text)));
  }
  writeFileSync(join(directory, 'bundle-licences.txt'), licences(metafile.inputs).join('\n\n'));
}
