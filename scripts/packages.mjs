/** Builds the packages of dist/packages/ and packs each: npm run packages. dist/ must be built. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { DECLARATIONS, PACKAGES } from './packages/list.mjs';
import { copyDeclarations, writeEntryPoint } from './packages/declarations.mjs';
import { buildWhenNeeded, root, run } from './run.mjs';

const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = join(root, 'dist/packages');

await buildWhenNeeded();
rmSync(folder, { recursive: true, force: true });
for (const item of PACKAGES) await assemble(item);
await pack(root);
for (const { name } of PACKAGES) await pack(join(folder, name));
process.stdout.write(`They are in ${relative(process.cwd(), folder)}/\n`);

async function assemble({ name, entry, platform, external, inside, ...words }) {
  const place = join(folder, name);
  await build({
    absWorkingDir: root,
    entryPoints: [join(root, 'dist/src', `${entry}.js`)],
    outfile: join(place, 'esm/index.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform,
    external,
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    legalComments: 'none', // they are in NOTICES.md
    logLevel: 'warning',
  });
  const declared = Object.fromEntries(
    Object.entries(DECLARATIONS).filter(([package_]) => inside.includes(package_)),
  );
  // An ES module may name declarations of CommonJS, not the other way round: one set of them serves both.
  copyDeclarations(entry, join(place, 'cjs/types'), declared);
  writeFileSync(join(place, 'esm/index.d.ts'), `export * from '../cjs/types/${entry}.js';\n`);
  writeEntryPoint(join(place, 'cjs'), 'index', '../esm/index.js');
  writeFileSync(
    join(place, 'package.json'),
    `${JSON.stringify(manifestOf({ name, entry, external, ...words }), null, 2)}\n`,
  );
  cpSync(join(root, 'packages', name, 'README.md'), join(place, 'README.md'));
  for (const file of ['LICENSE', 'CHANGELOG.md']) cpSync(join(root, file), join(place, file));
  if (inside.length > 0) writeFileSync(join(place, 'NOTICES.md'), noticesOf(inside));
}

function manifestOf({ name, description, keywords, entry, external }) {
  return {
    name,
    version: own.version,
    description,
    keywords,
    license: own.license,
    type: 'module',
    sideEffects: false,
    engines: own.engines,
    main: './cjs/index.js',
    module: './esm/index.js',
    types: `./cjs/types/${entry}.d.ts`,
    exports: {
      '.': {
        import: { types: './esm/index.d.ts', default: './esm/index.js' },
        require: { types: `./cjs/types/${entry}.d.ts`, default: './cjs/index.js' },
      },
      './package.json': './package.json',
    },
    files: ['esm', 'cjs', 'CHANGELOG.md', 'NOTICES.md'],
    ...(external.length > 0 && {
      dependencies: Object.fromEntries(external.map((word) => [word, own.dependencies[word]])),
    }),
    publishConfig: own.publishConfig,
  };
}

/** The licences of what is inside a package. */
function noticesOf(inside) {
  const parts = inside.map((word) => {
    const place = join(root, 'node_modules', word);
    const { version, license } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
    const file = word === 'jose' ? 'LICENSE.md' : 'LICENSE';
    return `## ${word} ${version} (${license})\n\n${readFileSync(join(place, file), 'utf8').trim()}\n`;
  });
  return `# Packages inside this one\n\n${parts.join('\n')}`;
}

async function pack(place) {
  mkdirSync(folder, { recursive: true });
  const words = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  await run('npm', words, { cwd: place });
}
