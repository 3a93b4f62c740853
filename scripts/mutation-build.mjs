/** Compiles src/ with its specs into dist/, without checking types: what Stryker has changed (stryker.config.mjs). */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformFile } from '@swc/core';
import jest from '../jest.config.mjs';
import { root } from './run.mjs';

const [, options] = jest.projects[0].transform['^.+\\.ts$'];
const sources = readdirSync(join(root, 'src'), { recursive: true }).map((name) => `src/${name}`);
/** What specs use beside them. */
const SUPPORT = ['certificates', 'counts', 'growth'].map((name) => `test/support/${name}.ts`);
const files = [...sources, ...SUPPORT].filter((name) => /(?<!\.d)\.ts$/.test(name));

await Promise.all(
  files.map(async (name) => {
    const { code } = await transformFile(join(root, name), { ...options, swcrc: false });
    const target = join(root, 'dist', name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }),
);
