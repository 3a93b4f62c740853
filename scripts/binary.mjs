/**
 * npm run binary [FILE]: the command for users as one file that needs nothing else, not even Node:
 * reports/gridgate-linux-x64. dist/ is built when it is old.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { build } from 'esbuild';
import { inject } from 'postject';
import { buildWhenNeeded, root, run } from './run.mjs';

/** As Node's own documentation has it: the section that `node` looks for when it starts. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const target = resolve(process.argv[2] ?? join(root, 'reports/gridgate-linux-x64'));

/** There is no package.json beside a single file. */
const ownVersion = {
  name: 'own-version',
  setup({ onLoad }) {
    onLoad({ filter: /\/dist\/src\/app\/version\.js$/ }, () => ({
      contents: `export const version = () => ${JSON.stringify(version)};`,
    }));
  },
};

if (process.platform !== 'linux' || process.arch !== 'x64') {
  throw new Error('the single file is made of this Node: make it on Linux x64');
}
await buildWhenNeeded();
const folder = mkdtempSync(join(tmpdir(), 'gridgate-binary-'));
try {
  await build({
    entryPoints: [join(root, 'dist/src/cli/binary.js')],
    outfile: join(folder, 'command.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    keepNames: true,
    minifySyntax: true,
    legalComments: 'inline',
    plugins: [ownVersion],
    logLevel: 'warning',
  });
  const settings = {
    main: join(folder, 'command.cjs'),
    output: join(folder, 'command.blob'),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
  };
  writeFileSync(join(folder, 'sea.json'), JSON.stringify(settings));
  const words = ['--experimental-sea-config', join(folder, 'sea.json')];
  await run(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  mkdirSync(dirname(target), { recursive: true });
  rmSync(target, { force: true });
  copyFileSync(process.execPath, target);
  await inject(target, 'NODE_SEA_BLOB', readFileSync(settings.output), { sentinelFuse: FUSE });
  chmodSync(target, 0o755);
  process.stdout.write(`${target}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
